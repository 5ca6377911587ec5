/* Each rule by which fresh gradients become the gradient of a step, on real ranks, against
 * coefficients worked out by hand. */
#include "crew.h"

#include <criterion/parameterized.h>
#include <math.h>

/* dp 0: 3 (two tokens) and 4 (one); dp 1: 8 (one) and 112 (three). Seven tokens. */
#define DATA                                                                                       \
    "model: {kind: linear, features: 1}\n"                                                         \
    "data: {tokens: [[[1, 2], [4]], [[8], [16, 32, 64]]]}\n"                                       \
    "optimizer: {kind: sgd, lr: 1}\n"                                                              \
    "train: {steps: 1}\n"
enum { SOURCES = 4 };
static const double sums[SOURCES] = {3, 4, 8, 112};

/* clang-format off */
#define ALL(t, b) {{t, b}, {t, b}, {t, b}, {t, b}}
struct rule {
    const char *says, *mesh, *recipe;
    struct part want[2][SOURCES]; /* by dp coordinate and source */
    int events;                   /* EMU_VALUE_AGAIN, EMU_VALUE_REPLICATED, or 0 */
};
static const struct rule rules[] = {
    {"nothing is reduced", "dp=2", "reduce: []", {{{1, 1}, {1, 1}}, {{0, 1}, {0, 1}, {1, 1}, {1, 1}}}, 0},
    {"what is left out sums", "dp=2", "loss: sum", {ALL(1, 1), ALL(1, 1)}, 0},
    {"sum", "dp=2", "reduce: [{over: [dp]}]", {ALL(1, 1), ALL(1, 1)}, 0},
    {"avg divides by the members", "dp=2", "reduce: [{over: [dp], op: avg}]", {ALL(1, 2), ALL(1, 2)}, 0},
    {"every microbatch", "dp=2", "reduce: [{over: [dp], when: microbatch}]", {ALL(1, 1), ALL(1, 1)}, 0},
    {"the first microbatch alone", "dp=2", "reduce: [{over: [dp], when: first}]",
     {{{1, 1}, {1, 1}, {1, 1}, {0, 1}}, {{1, 1}, {0, 1}, {1, 1}, {1, 1}}}, 0},
    {"the last microbatch alone", "dp=2", "reduce: [{over: [dp], when: last}]",
     {{{1, 1}, {1, 1}, {0, 1}, {1, 1}}, {{0, 1}, {1, 1}, {1, 1}, {1, 1}}}, 0},
    {"the last one again with the step", "dp=2", "reduce: [{over: [dp], when: last}, {over: [dp]}]",
     {{{1, 1}, {2, 1}, {1, 1}, {2, 1}}, {{1, 1}, {2, 1}, {1, 1}, {2, 1}}}, EMU_VALUE_AGAIN},
    {"a list says step before microbatch, time does not", "dp=2",
     "reduce: [{over: [dp]}, {over: [dp], op: avg, when: microbatch, scale: 3}]", {ALL(3, 1), ALL(3, 1)},
     EMU_VALUE_AGAIN},
    {"accumulate mean divides once", "dp=2", "accumulate: mean, reduce: [{over: [dp]}]", {ALL(1, 2), ALL(1, 2)}, 0},
    {"accumulate last forgets", "dp=2", "accumulate: last, reduce: [{over: [dp]}]",
     {{{0, 1}, {1, 1}, {0, 1}, {1, 1}}, {{0, 1}, {1, 1}, {0, 1}, {1, 1}}}, 0},
    {"accumulate last forgets what was summed", "dp=2",
     "accumulate: last, reduce: [{over: [dp], when: first}, {over: [dp]}]",
     {{{0, 1}, {1, 1}, {0, 1}, {1, 1}}, {{0, 1}, {1, 1}, {0, 1}, {1, 1}}}, 0},
    {"a mean divides by the tokens of the microbatch", "dp=2", "loss: mean, reduce: [{over: [dp]}]",
     {{{1, 2}, {1, 1}, {1, 1}, {1, 3}}, {{1, 2}, {1, 1}, {1, 1}, {1, 3}}}, 0},
    {"scale_loss", "dp=2", "loss: mean, scale_loss: micro_tokens/tokens, reduce: [{over: [dp]}]",
     {ALL(1, 7), ALL(1, 7)}, 0},
    {"scale multiplies the result of its reduction", "dp=2", "reduce: [{over: [dp], scale: 1/tokens}]",
     {ALL(1, 7), ALL(1, 7)}, 0},
    {"scale in a microbatch knows its tokens", "dp=2",
     "reduce: [{over: [dp], when: microbatch, scale: micro_tokens}]",
     {{{2, 1}, {1, 1}, {2, 1}, {1, 1}}, {{1, 1}, {3, 1}, {1, 1}, {3, 1}}}, 0},
    {"scale_grad comes last, on each rank its own", "dp=2", "reduce: [{over: [dp]}], scale_grad: 1/local_tokens",
     {ALL(1, 3), ALL(1, 4)}, 0},
    {"a negative factor", "dp=2", "reduce: [{over: [dp]}], scale_grad: -2/tokens", {ALL(-2, 7), ALL(-2, 7)}, 0},
    {"a factor of 0", "dp=2", "reduce: [{over: [dp], scale: dp - 2}]", {ALL(0, 1), ALL(0, 1)}, 0},
    {"summed again", "dp=2", "reduce: [{over: [dp]}, {over: [dp]}]", {ALL(2, 1), ALL(2, 1)}, EMU_VALUE_AGAIN},
    {"averaged after the sum", "dp=2", "reduce: [{over: [dp]}, {over: [dp], op: avg}]", {ALL(1, 1), ALL(1, 1)},
     EMU_VALUE_AGAIN},
    {"a glob that names it", "dp=2", "reduce: [{over: [dp], params: \"?\"}]", {ALL(1, 1), ALL(1, 1)}, 0},
    {"an axis that the mesh has not", "dp=2", "reduce: [{over: [dp, cp, tp]}]", {ALL(1, 1), ALL(1, 1)}, 0},
    {"copies summed", "dp=2,copy=2", "reduce: [{over: [dp, copy]}]", {ALL(2, 1), ALL(2, 1)}, EMU_VALUE_REPLICATED},
    {"copies averaged", "tp=3,dp=2", "reduce: [{over: [tp], op: avg}, {over: [dp]}]", {ALL(1, 1), ALL(1, 1)},
     EMU_VALUE_REPLICATED},
    {"the world", "dp=2,copy=3", "reduce: [{over: world, op: avg}]", {ALL(1, 2), ALL(1, 2)}, EMU_VALUE_REPLICATED},
};
/* clang-format on */
#define RULES (sizeof rules / sizeof rules[0])

/* Every event is of the kind; 0: there is none. */
static bool events_are(const struct emu_trainer *trainer, int kind)
{
    for (uint32_t i = 0; i < trainer->event_count; i++)
        if (trainer->events[i].kind != kind)
            return false;
    return (trainer->event_count > 0) == (kind != 0);
}

static int check_rule(struct emu_rank *rank, struct emu_trainer *trainer, const void *user)
{
    const struct rule *rule = user;
    const struct part *want = rule->want[trainer->dp_index];
    double value = 0, mass = 0;
    RANKS_EXPECT(emu_trainer_step(trainer) == EMU_OK);
    RANKS_EXPECT(trainer->trouble.kind == EMU_TROUBLE_NONE);
    RANKS_EXPECT(trainer->step_tokens == 7 && trainer->tokens == 3 + trainer->dp_index);
    for (uint32_t s = 0; s < SOURCES; s++) {
        struct part part = want[s].bottom ? want[s] : (struct part){0, 1};
        value += sums[s] * part.top / part.bottom;
        mass += sums[s] * abs(part.top) / part.bottom;
        RANKS_EXPECT(stands_for(trainer->parameters[0].value.coefficients[s], part));
    }
    double got = trainer->nn.kernels->get(trainer->parameters[0].gradient, 0);
    RANKS_EXPECT(fabs(got - value) <= 1e-14 * mass);
    RANKS_EXPECT(events_are(trainer, rule->events));
    return 0;
}

/* By number: what a test is given lies in another process. */
ParameterizedTestParameters(combine, does_what_the_recipe_says)
{
    static unsigned numbers[RULES];
    for (unsigned i = 0; i < RULES; i++)
        numbers[i] = i;
    return cr_make_param_array(unsigned, numbers, RULES);
}

ParameterizedTest(unsigned *number, combine, does_what_the_recipe_says, .timeout = 60)
{
    const struct rule *rule = &rules[*number];
    struct crew crew = {.look = check_rule, .user = rule};
    char config[1024];
    snprintf(config, sizeof config, "mesh: \"%s\"\n" DATA "recipe: {%s}\n", rule->mesh,
             rule->recipe);
    cr_expect_eq(run_crew(&crew, config, ""), 0, "%s", rule->says);
}
