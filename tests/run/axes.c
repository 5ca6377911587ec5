/* One logical model on many meshes in exact arithmetic: equal bits, whatever the axes. */
#include "../plan/plan_fixture.h"
#include "run/training.h"

#include <stdio.h>

static const char text[] = "Axes multiply ranks.\n"
                           "They make no tensor obey.\n"
                           "\n"
                           "A slice.\n"
                           "Every window crosses a border somewhere, and the halo carries it.\n";

struct outcome {
    double loss;
    size_t elements;
    double *gradient; /* all parameters, one after the other */
};

/* A run of `text` without a finding. */
static void train(struct plan_fixture *f, const char *config, struct emu_training_result *result)
{
    struct emu_training_options options = {.text = text,
                                           .text_size = sizeof text - 1,
                                           .only_output = -1,
                                           .output_fd = 1,
                                           .gradients = true};
    cr_assert_eq(plan_open(f, config), EMU_OK, "%s", emu_text_get(&f->diagnostics));
    cr_assert_eq(emu_training_run(f->plan, &options, result), EMU_OK);
    cr_assert_eq(result->findings.count, 0, "%s: %s", config,
                 result->findings.count ? result->findings.items[0].message : "");
}

static void run_exact(struct outcome *out, const char *mesh, const char *more)
{
    char config[1024];
    struct plan_fixture f;
    struct emu_training_result result;
    snprintf(config, sizeof config,
             "mesh: %s\n"
             "model: {kind: mlp_lm, context: 3, embed: 4, hidden: 7, layers: 3, activation: relu,"
             " norm: none, loss: squared%s%s}\n"
             "data: {text: t.txt, sequence: 10, batch: 6, microbatches: 3}\n"
             "optimizer: {kind: sgd, lr: 0.0009765625, shard: %s}\n"
             "train: {steps: 1, seed: 5%s}\narithmetic: exact\n",
             mesh, strstr(more, "balanced") ? ", cp_split: balanced" : "",
             strstr(more, "sequence") ? ", sequence_parallel: true" : "",
             strstr(more, "zero") ? strstr(more, "zero") : "none",
             strstr(more, "gpipe") ? ", schedule: gpipe" : "");
    train(&f, config, &result);
    cr_assert_eq(result.exact_steps, 1, "%s: rounded in %s (%s)", mesh, result.rounding.kernel,
                 result.rounding.where);
    *out = (struct outcome){.loss = result.steps[0].loss};
    for (uint32_t i = 0; i < f.plan->tensor_count; i++) {
        size_t n = f.plan->tensors[i].rows * f.plan->tensors[i].columns;
        cr_assert_eq(result.gradients[i].copy_count, 1);
        out->gradient = realloc(out->gradient, (out->elements + n) * sizeof *out->gradient);
        memcpy(out->gradient + out->elements, result.gradients[i].copies[0].value,
               n * sizeof *out->gradient);
        out->elements += n;
    }
    emu_training_result_finish(&result);
    plan_close(&f);
}

static void assert_equal_bits(const char *const *meshes, size_t count, const char *more)
{
    struct outcome one;
    run_exact(&one, "dp=1", "");
    for (size_t i = 0; i < count; i++) {
        struct outcome other;
        run_exact(&other, meshes[i], more);
        cr_assert_eq(other.loss, one.loss, "%s %s", meshes[i], more);
        cr_assert_eq(other.elements, one.elements);
        for (size_t e = 0; e < one.elements; e++)
            cr_assert_eq(other.gradient[e], one.gradient[e], "%s %s: element %zu", meshes[i], more,
                         e);
        free(other.gradient);
    }
    free(one.gradient);
}

static const char *const twelve[] = {
    "dp=2",      "tp=2",      "cp=2",      "pp=3",           "dp=3,tp=2",      "tp=3,dp=2",
    "cp=3,tp=2", "pp=2,tp=2", "dp=2,cp=2", "pp=2,dp=2,cp=2", "dp=2,pp=2,tp=2", "extra=2,cp=2,dp=2"};

Test(training_axes, twelve_meshes_give_equal_bits, .timeout = 300)
{
    assert_equal_bits(twelve, sizeof twelve / sizeof twelve[0], "");
}

Test(training_axes, neither_schedule_nor_split_changes_a_bit, .timeout = 300)
{
    static const char *const meshes[] = {"pp=2,cp=2", "pp=3,dp=2", "cp=4"};
    assert_equal_bits(meshes, 3, "gpipe balanced");
    assert_equal_bits(meshes, 3, "balanced");
}

/* Every mesh of sizes 1 and 2 over four axes, every placement of the optimizer, both schedules: 128
 * runs against the mesh of one. The oracle holds the updated parameters against its own, bit for
 * bit. */
Test(training_axes, all_axes_placements_and_schedules_give_equal_bits, .timeout = 600)
{
    static const char *const shards[] = {"", "zero1", "zero2", "zero3"};
    char names[16][48];
    const char *meshes[16];
    for (unsigned i = 0; i < 16; i++) {
        snprintf(names[i], sizeof names[i], "pp=%u,dp=%u,cp=%u,tp=%u", 1 + (i >> 3 & 1),
                 1 + (i >> 2 & 1), 1 + (i >> 1 & 1), 1 + (i & 1));
        meshes[i] = names[i];
    }
    for (size_t s = 0; s < 4; s++) {
        char gpipe[32];
        snprintf(gpipe, sizeof gpipe, "gpipe %s", shards[s]);
        assert_equal_bits(meshes, 16, shards[s]);
        assert_equal_bits(meshes, 16, gpipe);
    }
}

Test(training_axes, sequence_parallelism_changes_no_bit, .timeout = 300)
{
    static const char *const meshes[] = {"tp=2", "tp=3,dp=2", "tp=2,cp=2", "pp=2,tp=2,cp=2"};
    assert_equal_bits(meshes, 4, "sequence");
    assert_equal_bits(meshes, 4, "sequence balanced gpipe");
}

/* Three steps of AdamW with clipping, in f64: the last loss, norm and gradient. */
static void run_sharded(struct outcome *out, const char *mesh, const char *shard, double *norm)
{
    char config[1024];
    struct plan_fixture f;
    struct emu_training_result result;
    snprintf(config, sizeof config,
             "mesh: %s\n"
             "model: {kind: mlp_lm, context: 3, embed: 4, hidden: 7, layers: 3}\n"
             "data: {text: t.txt, sequence: 10, batch: 7, microbatches: 2}\n"
             "recipe: {scale_grad: 1/tokens, clip: {max_norm: 0.1}}\n"
             "optimizer: {kind: adamw, lr: 0.01, %s}\ntrain: {steps: 3, seed: 5}\n",
             mesh, shard);
    train(&f, config, &result);
    *out = (struct outcome){.loss = result.steps[2].loss};
    *norm = result.steps[2].grad_norm;
    out->elements = f.plan->tensors[0].rows * f.plan->tensors[0].columns;
    out->gradient = malloc(out->elements * sizeof *out->gradient);
    memcpy(out->gradient, result.gradients[0].copies[0].value,
           out->elements * sizeof *out->gradient);
    emu_training_result_finish(&result);
    plan_close(&f);
}

Test(training_axes, sharding_the_optimizer_changes_no_bit, .timeout = 300)
{
    static const char *const meshes[] = {"dp=2", "dp=3,tp=2", "dp=2,cp=2", "pp=2,dp=2,cp=2"};
    static const char *const shards[] = {"shard: zero1", "shard: zero2", "shard: zero3",
                                         "shard: zero3, over: [cp]", "shard: zero2, over: [dp]"};
    for (size_t m = 0; m < 4; m++)
        for (size_t s = 0; s < 5; s++) {
            struct outcome whole;
            struct outcome divided;
            double norms[2];
            char none[64];
            const char *over = strstr(shards[s], ", over");
            snprintf(none, sizeof none, "shard: none%s", over ? over : "");
            run_sharded(&whole, meshes[m], none, &norms[0]);
            run_sharded(&divided, meshes[m], shards[s], &norms[1]);
            cr_assert_eq(whole.loss, divided.loss, "%s %s", meshes[m], shards[s]);
            cr_assert_eq(norms[0], norms[1], "%s %s", meshes[m], shards[s]);
            cr_assert_arr_eq(whole.gradient, divided.gradient,
                             whole.elements * sizeof *whole.gradient);
            free(whole.gradient);
            free(divided.gradient);
        }
}
