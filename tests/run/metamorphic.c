/* What must not change a training step, and changes nothing: cuts, orders, placements, repetition.
 *
 * The model, its parameters and the batch are one and the same in all runs of a test; how they are
 * cut and in which order they are worked through is drawn. axes.c goes through the axes one by one.
 */
#include "../plan/plan_fixture.h"
#include "run/training.h"

#include <float.h>
#include <math.h>
#include <stdio.h>

enum { VARIANTS = 40, MOST_RANKS = 12, STEPS = 3 };

static const char text[] = "No order is holy.\n"
                           "Cut it here, cut it there:\n"
                           "\n"
                           "ash.\n"
                           "The sum of all the slices is the whole that they were cut from.\n";

/* How one logical step is carried out. Names end up in a config as they stand. */
struct variant {
    char mesh[64];
    uint32_t microbatches;
    const char *split, *shard, *schedule, *stages;
    bool sequence_parallel;
};

static const struct variant plain = {.mesh = "dp=1",
                                     .microbatches = 1,
                                     .split = "contiguous",
                                     .shard = "none",
                                     .schedule = "1f1b",
                                     .stages = "[]"};

struct figures {
    double loss[STEPS], norm[STEPS], bound[STEPS];
    size_t elements;
    double *gradient; /* all parameters of the last step, one after the other; owned */
};

static void take_gradient(const struct emu_plan *plan, const struct emu_training_result *result,
                          struct figures *out)
{
    for (uint32_t i = 0; i < plan->tensor_count; i++) {
        size_t n = plan->tensors[i].rows * plan->tensors[i].columns;
        cr_assert_eq(result->gradients[i].copy_count, 1);
        out->gradient = realloc(out->gradient, (out->elements + n) * sizeof *out->gradient);
        memcpy(out->gradient + out->elements, result->gradients[i].copies[0].value,
               n * sizeof *out->gradient);
        out->elements += n;
    }
}

/* Run a config that must pass; what depends on the arithmetic is looked at by `look`. */
static void run(const char *config, void (*look)(const struct emu_training_result *, const char *),
                struct figures *out)
{
    struct plan_fixture f;
    cr_assert_eq(plan_open(&f, config), EMU_OK, "%s%s", config, emu_text_get(&f.diagnostics));
    struct emu_training_options options = {.text = text,
                                           .text_size = sizeof text - 1,
                                           .only_output = -1,
                                           .output_fd = 1,
                                           .gradients = true};
    struct emu_training_result result;
    cr_assert_eq(emu_training_run(f.plan, &options, &result), EMU_OK);
    cr_assert_eq(result.findings.count, 0, "%s%s", config,
                 result.findings.count ? result.findings.items[0].message : "");
    look(&result, config);
    *out = (struct figures){0};
    for (uint64_t s = 0; s < result.step_count; s++) {
        out->loss[s] = result.steps[s].loss;
        out->norm[s] = result.steps[s].grad_norm;
        out->bound[s] = result.steps[s].loss_bound;
    }
    take_gradient(f.plan, &result, out);
    emu_training_result_finish(&result);
    plan_close(&f);
}

static void assert_same_bits(const struct figures *a, const struct figures *b, const char *config)
{
    cr_assert_arr_eq(a->loss, b->loss, sizeof a->loss, "loss:\n%s", config);
    cr_assert_eq(a->elements, b->elements);
    for (size_t e = 0; e < a->elements; e++)
        cr_assert_eq(a->gradient[e], b->gradient[e], "element %zu: %a, not %a:\n%s", e,
                     b->gradient[e], a->gradient[e], config);
}

static void write_exact(char config[1024], const struct variant *v)
{
    snprintf(config, 1024,
             "mesh: \"%s\"\n"
             "model: {kind: mlp_lm, context: 3, embed: 4, hidden: 7, layers: 4, activation: relu,"
             " norm: none, loss: squared, cp_split: %s, stages: %s, sequence_parallel: %s}\n"
             "data: {text: t.txt, sequence: 10, batch: 6, microbatches: %u}\n"
             "optimizer: {kind: sgd, lr: 0.0009765625, shard: %s}\n"
             "train: {steps: 1, seed: 5, schedule: %s}\narithmetic: exact\n",
             v->mesh, v->split, v->stages, v->sequence_parallel ? "true" : "false",
             (unsigned)v->microbatches, v->shard, v->schedule);
}

static void look_exact(const struct emu_training_result *result, const char *config)
{
    cr_assert_eq(result->exact_steps, 1, "rounded in %s (%s):\n%s", result->rounding.kernel,
                 result->rounding.where, config);
}

static void run_exact(const struct variant *v, char config[1024], struct figures *out)
{
    write_exact(config, v);
    run(config, look_exact, out);
}

static void assert_equal_to_plain(const struct variant *variants, size_t count)
{
    char config[1024];
    struct figures one, other;
    run_exact(&plain, config, &one);
    for (size_t i = 0; i < count; i++) {
        run_exact(&variants[i], config, &other);
        assert_same_bits(&one, &other, config);
        free(other.gradient);
    }
    free(one.gradient);
}

Test(training_metamorphic, the_number_of_microbatches_changes_no_bit, .timeout = 300)
{
    static const char *const meshes[] = {"dp=1", "dp=2,tp=2", "cp=3", "pp=2,dp=2"};
    static const uint32_t microbatches[] = {1, 2, 3, 6};
    struct variant variants[16];
    for (size_t i = 0; i < 16; i++) {
        variants[i] = plain;
        strcpy(variants[i].mesh, meshes[i / 4]);
        variants[i].microbatches = microbatches[i % 4];
    }
    assert_equal_to_plain(variants, 16);
}

Test(training_metamorphic, stages_given_by_hand_change_no_bit, .timeout = 300)
{
    static const char *const stages[] = {"[1, 3]", "[3, 1]", "[2, 2]"};
    struct variant variants[6];
    for (size_t i = 0; i < 6; i++) {
        variants[i] = plain;
        strcpy(variants[i].mesh, i < 3 ? "pp=2" : "tp=2,pp=2");
        variants[i].stages = stages[i % 3];
        variants[i].microbatches = 3;
    }
    assert_equal_to_plain(variants, 6);
}

static uint32_t draw(uint64_t *state, uint32_t below)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u; /* Knuth's MMIX */
    return (uint32_t)(*state >> 33) % below;
}

/* Four axes in any order, sizes 1 to 3, at most MOST_RANKS ranks. */
static void draw_mesh(uint64_t *state, char mesh[64])
{
    const char *axes[] = {"dp", "cp", "pp", "tp"};
    uint32_t world = 1;
    mesh[0] = '\0';
    for (uint32_t left = 4; left > 0; left--) {
        uint32_t at = draw(state, left);
        uint32_t size = 1 + draw(state, 3);
        size = world * size > MOST_RANKS ? 1 : size;
        world *= size;
        size_t end = strlen(mesh);
        snprintf(mesh + end, 64 - end, "%s%s=%u", end ? "," : "", axes[at], (unsigned)size);
        axes[at] = axes[left - 1];
    }
}

static struct variant draw_variant(uint64_t *state)
{
    static const char *const shards[] = {"none",
                                         "zero1",
                                         "zero2",
                                         "zero3",
                                         "zero1, over: [dp]",
                                         "zero2, over: [dp]",
                                         "zero3, over: [cp]"};
    static const uint32_t microbatches[] = {1, 2, 3};
    struct variant v = plain;
    draw_mesh(state, v.mesh);
    v.microbatches = microbatches[draw(state, 3)];
    v.split = draw(state, 2) ? "balanced" : "contiguous";
    v.shard = shards[draw(state, 7)];
    v.schedule = draw(state, 2) ? "gpipe" : "1f1b";
    v.sequence_parallel = draw(state, 2);
    return v;
}

Test(training_metamorphic, no_drawn_combination_changes_a_bit, .timeout = 600)
{
    uint64_t state = 20;
    struct variant variants[VARIANTS];
    for (size_t i = 0; i < VARIANTS; i++)
        variants[i] = draw_variant(&state);
    assert_equal_to_plain(variants, VARIANTS);
}

static void look_rounded(const struct emu_training_result *result, const char *config)
{
    const struct emu_check_figures *oracle = &result->audit.figures[EMU_CHECK_ORACLE];
    cr_assert_eq(result->step_count, STEPS);
    cr_assert(oracle->status == EMU_CHECK_PASS && oracle->steps == STEPS, "%s", config);
    cr_assert(oracle->worst <= 1.0 && oracle->largest_bound > 0.0, "%s", config);
    for (uint64_t s = 0; s < STEPS; s++) {
        const struct emu_training_step *step = &result->steps[s];
        cr_assert(step->has_oracle && step->loss_bound < 1e-10 * step->loss, "bound %g",
                  step->loss_bound);
        cr_assert(fabs(step->loss - step->oracle_loss) <= step->loss_bound, "%s", config);
    }
}

/* Three steps of clipped AdamW in f64. */
static void run_rounded(const char *mesh, const char *optimizer, struct figures *out)
{
    char config[1024];
    snprintf(config, sizeof config,
             "mesh: %s\n"
             "model: {kind: mlp_lm, context: 3, embed: 4, hidden: 7, layers: 4%s}\n"
             "data: {text: t.txt, sequence: 10, batch: 7, microbatches: 2}\n"
             "recipe: {scale_grad: 1/tokens, clip: {max_norm: 0.1}}\n"
             "optimizer: {kind: adamw, lr: 0.01, %s}\ntrain: {steps: 3, seed: 5%s}\n",
             mesh, strstr(mesh, "tp=") ? ", sequence_parallel: true" : "", optimizer,
             strstr(mesh, "pp=3") ? ", schedule: gpipe" : "");
    run(config, look_rounded, out);
}

static const struct {
    const char *mesh, *optimizer;
} rounded[] = {
    {"dp=3", "shard: zero1"},
    {"cp=3", "shard: zero2"},
    {"pp=3,dp=2", "shard: zero2"},
    {"pp=2,cp=2", "shard: none"},
    {"dp=2,cp=2,tp=2", "shard: zero3, over: [dp]"},
    {"pp=2,dp=2,cp=2,tp=2", "shard: zero1"},
};

Test(training_metamorphic, three_rounded_steps_repeat_bit_for_bit_within_the_bound, .timeout = 300)
{
    for (size_t i = 0; i < sizeof rounded / sizeof rounded[0]; i++) {
        struct figures first, second;
        run_rounded(rounded[i].mesh, rounded[i].optimizer, &first);
        run_rounded(rounded[i].mesh, rounded[i].optimizer, &second);
        assert_same_bits(&first, &second, rounded[i].mesh);
        cr_assert_arr_eq(first.norm, second.norm, sizeof first.norm, "%s", rounded[i].mesh);
        free(first.gradient);
        free(second.gradient);
    }
}

/* The bound of each step starts from the mesh's own state, so only first losses are held against
 * each other; later ones against the oracle, above. */
Test(training_metamorphic, first_rounded_losses_differ_by_less_than_both_bounds, .timeout = 300)
{
    struct figures one, other;
    run_rounded("dp=1", "shard: none", &one);
    for (size_t i = 0; i < sizeof rounded / sizeof rounded[0]; i++) {
        run_rounded(rounded[i].mesh, rounded[i].optimizer, &other);
        cr_assert(fabs(one.loss[0] - other.loss[0]) <= one.bound[0] + other.bound[0], "%s",
                  rounded[i].mesh);
        free(other.gradient);
    }
    free(one.gradient);
}
