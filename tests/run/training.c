/* Whole runs: real processes on a mesh, all checks, and what must be equal between meshes. */
#include "run/training.h"

#include "../plan/plan_fixture.h"

#include <math.h>
#include <stdio.h>

#define CONFIG                                                                                     \
    "model: {kind: mlp_lm, context: 4, embed: 6, hidden: 10, layers: 2}\n"                         \
    "data: {text: t.txt, sequence: 12, batch: 7, microbatches: 2}\n"                               \
    "optimizer: {kind: adamw, lr: 1e-2}\n"                                                         \
    "train: {steps: 4, seed: 3}\n"

static const char text[] = "Ranks that hold one shard see the same examples.\n"
                           "\n"
                           "A mean of means is no mean.\n"
                           "Two\n"
                           "The sum goes over the axes on which the gradient is partial.\n";

struct finished {
    struct plan_fixture plan;
    struct emu_training_result result;
};

static void train_on(struct finished *f, const char *mesh, const char *more)
{
    char config[1024];
    snprintf(config, sizeof config, "mesh: %s\n" CONFIG "%s", mesh, more);
    cr_assert_eq(plan_open(&f->plan, config), EMU_OK, "%s", emu_text_get(&f->plan.diagnostics));
    struct emu_training_options options = {
        .text = text, .text_size = sizeof text - 1, .only_output = -1, .output_fd = 1};
    cr_assert_eq(emu_training_run(f->plan.plan, &options, &f->result), EMU_OK);
}

static void close_run(struct finished *f)
{
    emu_training_result_finish(&f->result);
    plan_close(&f->plan);
}

static void assert_clean(const struct finished *f, const char *mesh)
{
    const struct emu_training_result *result = &f->result;
    for (size_t i = 0; i < result->findings.count; i++)
        cr_log_error("%s: %s", mesh, result->findings.items[i].message);
    cr_assert_eq(result->findings.count, 0);
    cr_assert_eq(result->step_count, f->plan.config->train.steps);
    static const enum emu_check ran[] = {EMU_CHECK_INIT, EMU_CHECK_DATA, EMU_CHECK_REPLICAS,
                                         EMU_CHECK_TILING, EMU_CHECK_ORACLE};
    for (size_t i = 0; i < sizeof ran / sizeof ran[0]; i++) {
        cr_assert_eq(result->audit.figures[ran[i]].status, EMU_CHECK_PASS, "%s: %s", mesh,
                     emu_check_name(ran[i]));
        bool alone = ran[i] == EMU_CHECK_REPLICAS && f->plan.plan->roster.mesh->world == 1;
        cr_assert(alone || result->audit.figures[ran[i]].compared > 0, "%s: %s", mesh,
                  emu_check_name(ran[i]));
    }
}

static const char *const meshes[] = {
    "dp=1",      "dp=2", "tp=2", "dp=2,tp=2", "tp=3,dp=2", "copy=2,dp=1,tp=2",
    "dp=4,tp=1", "dp=9", "pp=2", "cp=3",      "cp=5,tp=2", "pp=2,dp=2,cp=2"};

Test(training_run, passes_every_check_on_every_mesh, .timeout = 300)
{
    for (size_t i = 0; i < sizeof meshes / sizeof meshes[0]; i++) {
        struct finished f;
        train_on(&f, meshes[i], "");
        assert_clean(&f, meshes[i]);
        close_run(&f);
    }
}

Test(training_run, the_first_step_of_every_mesh_lies_within_the_bound_of_the_oracle, .timeout = 300)
{
    double loss[sizeof meshes / sizeof meshes[0]];
    double bound = 0;
    for (size_t i = 0; i < sizeof meshes / sizeof meshes[0]; i++) {
        struct finished f;
        train_on(&f, meshes[i], "");
        const struct emu_training_step *first = &f.result.steps[0];
        loss[i] = first->loss;
        bound = first->loss_bound;
        cr_assert(first->has_oracle);
        cr_assert_leq(fabs(first->loss - first->oracle_loss), first->loss_bound);
        cr_assert(bound > 0 && bound < 1e-9);
        close_run(&f);
    }
    for (size_t i = 1; i < sizeof meshes / sizeof meshes[0]; i++)
        cr_assert_leq(fabs(loss[i] - loss[0]), bound, "%s", meshes[i]);
}

Test(training_run, the_same_mesh_gives_the_same_bits, .timeout = 300)
{
    struct finished a;
    struct finished b;
    train_on(&a, "dp=2,tp=2", "");
    train_on(&b, "dp=2,tp=2", "");
    for (uint64_t i = 0; i < 4; i++) {
        cr_assert_eq(a.result.steps[i].loss, b.result.steps[i].loss);
        cr_assert_eq(a.result.steps[i].grad_norm, b.result.steps[i].grad_norm);
    }
    close_run(&a);
    close_run(&b);
}

Test(training_run, the_loss_falls, .timeout = 300)
{
    struct finished f;
    train_on(&f, "dp=2,tp=2", "");
    cr_assert_lt(f.result.steps[3].loss, f.result.steps[0].loss - 0.05);
    close_run(&f);
}

Test(training_run, f32_squared_loss_and_every_optimizer_pass, .timeout = 300)
{
    static const char *const more[] = {
        "arithmetic: f32\n",
        "checks: {every: 2, oracle_every: 3}\n",
    };
    for (size_t i = 0; i < sizeof more / sizeof more[0]; i++) {
        struct finished f;
        train_on(&f, "dp=2,tp=2", more[i]);
        assert_clean(&f, more[i]);
        close_run(&f);
    }
}

Test(training_run, tokens_are_counted_over_the_whole_mesh, .timeout = 300)
{
    struct finished f;
    train_on(&f, "dp=3", "checks: {oracle: false}\n");
    uint64_t first = f.result.steps[0].tokens;
    close_run(&f);
    train_on(&f, "dp=1", "checks: {oracle: false}\n");
    cr_assert_eq(f.result.steps[0].tokens, first);
    cr_assert_eq(f.result.audit.figures[EMU_CHECK_ORACLE].status, EMU_CHECK_SKIPPED);
    close_run(&f);
}
