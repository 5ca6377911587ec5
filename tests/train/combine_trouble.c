/* What a recipe cannot do: a factor without a value, a reduction over unrelated elements. */
#include "crew.h"
#include "train/combine.h"

#include <criterion/parameterized.h>
#include <math.h>

/* A factor without a value: where it stands, everything becomes NaN, and the rank says why. */
struct trouble_rule {
    const char *says, *tokens, *recipe;
    enum emu_trouble_kind kind[2]; /* by dp coordinate */
    enum emu_trouble_place place;
    uint32_t source;
    bool nan[2];
};
static const struct trouble_rule troubles[] = {
    {"0/0 stays on its rank without a reduction",
     "[[[1], []], [[2], [3]]]",
     "loss: mean, reduce: []",
     {EMU_TROUBLE_NO_TOKENS, EMU_TROUBLE_NONE},
     EMU_PLACE_LOSS,
     1,
     {true, false}},
    {"0/0 spreads with the sum",
     "[[[1], [null]], [[2], [3]]]",
     "loss: mean, reduce: [{over: [dp]}]",
     {EMU_TROUBLE_NO_TOKENS, EMU_TROUBLE_NONE},
     EMU_PLACE_LOSS,
     1,
     {true, true}},
    {"a forgotten microbatch takes its NaN along",
     "[[[], [1]], [[2], [3]]]",
     "loss: mean, accumulate: last, reduce: [{over: [dp]}]",
     {EMU_TROUBLE_NO_TOKENS, EMU_TROUBLE_NONE},
     EMU_PLACE_LOSS,
     0,
     {false, false}},
    {"scale_loss divides by no token",
     "[[[1], [2]], [[3], []]]",
     "scale_loss: 1/micro_tokens, reduce: []",
     {EMU_TROUBLE_NONE, EMU_TROUBLE_DIVISION},
     EMU_PLACE_LOSS,
     3,
     {false, true}},
    {"the scale of a reduction divides by zero",
     "[[[1], [2]], [[3], [4]]]",
     "reduce: [{over: [dp], when: last, scale: 1/(dp - 2)}]",
     {EMU_TROUBLE_DIVISION, EMU_TROUBLE_DIVISION},
     EMU_PLACE_REDUCTION,
     1,
     {true, true}},
    {"scale_grad divides by the tokens of a rank that has none",
     "[[[], [null]], [[3], [4]]]",
     "reduce: [{over: [dp]}], scale_grad: 1/local_tokens",
     {EMU_TROUBLE_DIVISION, EMU_TROUBLE_NONE},
     EMU_PLACE_GRAD,
     0,
     {true, false}},
    {"a factor that fits in no 64 bits",
     "[[[1], [2]], [[3], [4]]]",
     "reduce: [{over: [dp]}], scale_grad: 4611686018427387904*2",
     {EMU_TROUBLE_RANGE, EMU_TROUBLE_RANGE},
     EMU_PLACE_GRAD,
     0,
     {true, true}},
};
#define TROUBLES (sizeof troubles / sizeof troubles[0])

static int check_trouble(struct emu_rank *rank, struct emu_trainer *trainer, const void *user)
{
    const struct trouble_rule *rule = user;
    uint32_t dp = trainer->dp_index;
    RANKS_EXPECT(emu_trainer_step(trainer) == EMU_OK);
    RANKS_EXPECT(trainer->trouble.kind == rule->kind[dp]);
    if (rule->kind[dp] != EMU_TROUBLE_NONE) {
        RANKS_EXPECT(trainer->trouble.place == rule->place);
        bool own = rule->kind[0] == EMU_TROUBLE_NONE || rule->kind[1] == EMU_TROUBLE_NONE;
        RANKS_EXPECT(!own || trainer->trouble.source == rule->source);
    }
    double got = trainer->nn.kernels->get(trainer->parameters[0].gradient, 0);
    RANKS_EXPECT(isnan(got) == rule->nan[dp]);
    return 0;
}

ParameterizedTestParameters(combine, makes_nan_where_a_factor_has_no_value)
{
    static unsigned numbers[TROUBLES];
    for (unsigned i = 0; i < TROUBLES; i++)
        numbers[i] = i;
    return cr_make_param_array(unsigned, numbers, TROUBLES);
}

ParameterizedTest(unsigned *number, combine, makes_nan_where_a_factor_has_no_value, .timeout = 60)
{
    const struct trouble_rule *rule = &troubles[*number];
    struct crew crew = {.look = check_trouble, .user = rule};
    char config[1024];
    snprintf(config, sizeof config,
             "mesh: dp=2\nmodel: {kind: linear, features: 1}\ndata: {tokens: %s}\n"
             "optimizer: {kind: sgd, lr: 1}\ntrain: {steps: 1}\nrecipe: {%s}\n",
             rule->tokens, rule->recipe);
    cr_expect_eq(run_crew(&crew, config, ""), 0, "%s", rule->says);
}

/* All that a step may change in one parameter, as hashes. */
struct trace {
    struct emu_hash weight, gradient, ledger;
};

static struct trace trace_of(const struct emu_trainer *trainer, uint32_t tensor)
{
    const struct emu_parameter *p = &trainer->parameters[tensor];
    uint64_t bytes = p->room * trainer->nn.kernels->bytes;
    return (struct trace){
        emu_hash_of(p->weight, bytes), emu_hash_of(p->gradient, bytes),
        emu_hash_of(p->value.coefficients, p->value.sources * sizeof *p->value.coefficients)};
}

static bool same_trace(const struct trace *a, const struct trace *b)
{
    return emu_hash_equal(a->weight, b->weight) && emu_hash_equal(a->gradient, b->gradient) &&
           emu_hash_equal(a->ledger, b->ledger);
}

/* Known numbers in every gradient and ledger. */
static void fill_gradients(struct emu_trainer *trainer)
{
    for (uint32_t i = 0; i < trainer->plan->tensor_count; i++) {
        struct emu_parameter *p = &trainer->parameters[i];
        for (uint64_t e = 0; e < p->room; e++)
            trainer->nn.kernels->set(p->gradient, e, (double)(i * 1000 + e) + trainer->tp_index);
        for (uint32_t s = 0; s < p->value.sources; s++)
            p->value.coefficients[s] = i + s + 1;
    }
}

/* The reduction is refused on every rank: no call is made, no number changes. */
static int check_refusal(struct emu_rank *rank, struct emu_trainer *trainer, const void *user)
{
    (void)user;
    struct trace before[16];
    uint32_t count = trainer->plan->tensor_count;
    RANKS_EXPECT(count <= 16);
    emu_combine_begin(trainer);
    fill_gradients(trainer);
    for (uint32_t i = 0; i < count; i++)
        before[i] = trace_of(trainer, i);
    uint64_t calls = emu_rank_asked(rank)->calls[EMU_ALL_REDUCE];
    RANKS_EXPECT(emu_combine_reduce(trainer) == EMU_OK);
    RANKS_EXPECT(!emu_combine_goes_on(trainer));
    RANKS_EXPECT(trainer->trouble.kind == EMU_TROUBLE_SHARD);
    RANKS_EXPECT(trainer->trouble.place == EMU_PLACE_REDUCTION && trainer->trouble.reduction == 0);
    RANKS_EXPECT(!strcmp(trainer->plan->roster.mesh->axes[trainer->trouble.axis].name, "tp"));
    RANKS_EXPECT(!strcmp(trainer->plan->tensors[trainer->trouble.tensor].name, "embed.weight"));
    RANKS_EXPECT(emu_rank_asked(rank)->calls[EMU_ALL_REDUCE] == calls);
    for (uint32_t i = 0; i < count; i++) {
        struct trace after = trace_of(trainer, i);
        RANKS_EXPECT(same_trace(&before[i], &after));
    }
    return 0;
}

/* In a whole step too: the weights stay, the trouble is told, and the ranks agree to stop. */
static int check_refused_step(struct emu_rank *rank, struct emu_trainer *trainer, const void *user)
{
    (void)user;
    struct trace before[16];
    uint32_t count = trainer->plan->tensor_count;
    for (uint32_t i = 0; i < count; i++)
        before[i] = trace_of(trainer, i);
    RANKS_EXPECT(emu_trainer_step(trainer) == EMU_OK);
    RANKS_EXPECT(trainer->step == 1 && trainer->trouble.kind == EMU_TROUBLE_SHARD);
    for (uint32_t i = 0; i < count; i++) {
        struct trace after = trace_of(trainer, i);
        RANKS_EXPECT(emu_hash_equal(before[i].weight, after.weight));
    }
    RANKS_EXPECT(emu_barrier(rank, 0) == EMU_OK);
    return 0;
}

#define LANGUAGE                                                                                   \
    "mesh: dp=2,tp=2\n"                                                                            \
    "model: {kind: mlp_lm, context: 2, embed: 3, hidden: 4, layers: 1}\n"                          \
    "data: {text: t.txt, sequence: 4, batch: 2, microbatches: 2}\n"                                \
    "train: {steps: 1}\n"

Test(combine, a_reduction_over_a_shard_axis_leaves_every_value_untouched, .timeout = 60)
{
    struct crew crew = {.look = check_refusal};
    cr_assert_eq(run_crew(&crew,
                          LANGUAGE "recipe: {reduce: ["
                                   "{over: [dp, tp]}, {over: [dp]}]}\n",
                          "abcd\nefg\n"),
                 0);
}

ParameterizedTestParameters(combine, a_step_with_a_refused_reduction_changes_no_weight)
{
    static unsigned whens[] = {0, 1, 2, 3};
    return cr_make_param_array(unsigned, whens, 4);
}

ParameterizedTest(unsigned *when, combine, a_step_with_a_refused_reduction_changes_no_weight,
                  .timeout = 60)
{
    static const char *const words[] = {"step", "microbatch", "first", "last"};
    struct crew crew = {.look = check_refused_step};
    char config[1024];
    snprintf(config, sizeof config,
             LANGUAGE "recipe: {reduce: [{over: [dp]}, {over: [tp], when: %s}]}\n", words[*when]);
    cr_assert_eq(run_crew(&crew, config, "abcd\nefg\n"), 0, "%s", words[*when]);
}

/* What tp does not split may be averaged over it: copies stay what they are. */
static int check_copies(struct emu_rank *rank, struct emu_trainer *trainer, const void *user)
{
    (void)user;
    RANKS_EXPECT(emu_trainer_step(trainer) == EMU_OK);
    RANKS_EXPECT(trainer->trouble.kind == EMU_TROUBLE_NONE);
    for (uint32_t i = 0; i < trainer->plan->tensor_count; i++) {
        const struct emu_value *value = &trainer->parameters[i].value;
        bool norm = strstr(trainer->plan->tensors[i].name, "norm") != NULL;
        for (uint32_t s = 0; s < value->sources; s++)
            RANKS_EXPECT(stands_for(value->coefficients[s], (struct part){norm ? 6 : 3, 1}));
    }
    return 0;
}

Test(combine, a_glob_picks_the_parameters_of_a_reduction, .timeout = 60)
{
    struct crew crew = {.look = check_copies};
    cr_assert_eq(run_crew(&crew,
                          LANGUAGE "recipe: {scale_grad: 3, reduce: [{over: [dp]}, "
                                   "{over: [tp], params: \"*.norm.weight\"}]}\n",
                          "abcd\nefg\n"),
                 0);
}
