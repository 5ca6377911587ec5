/* Recipes whose fault is not in the coefficients: norms, shards, divisions. Whole runs. */
#include "../plan/plan_fixture.h"
#include "run/training.h"

#include <math.h>
#include <stdio.h>

static const char text[] = "One line.\nAnother, somewhat longer line of text.\nA third one.\n";

struct finished {
    struct plan_fixture plan;
    struct emu_training_result result;
};

static void run_recipe(struct finished *f, const char *mesh, const char *recipe)
{
    char config[1024];
    snprintf(config, sizeof config,
             "mesh: %s\n"
             "model: {kind: mlp_lm, context: 3, embed: 4, hidden: 6, layers: 2, activation: relu}\n"
             "data: {text: t.txt, sequence: 8, batch: 4, microbatches: 2}\n"
             "optimizer: {kind: sgd, lr: 0.5}\ntrain: {steps: 2}\nrecipe: %s\n",
             mesh, recipe);
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

static const struct emu_finding *only_fault(const struct finished *f, enum emu_class class_id)
{
    const struct emu_findings *findings = &f->result.findings;
    cr_assert_eq(emu_findings_faults(findings), 1, "%zu faults, first: %s",
                 emu_findings_faults(findings),
                 findings->count ? findings->items[0].message : "none");
    cr_assert_eq(findings->items[0].class_id, class_id, "%s",
                 emu_class_name(findings->items[0].class_id));
    return &findings->items[0];
}

Test(training_recipe, clipping_by_the_unique_norm_passes_on_every_mesh, .timeout = 300)
{
    static const char *const meshes[] = {"dp=1", "dp=2,tp=2", "tp=3", "pp=2,tp=2"};
    double norm = 0;
    for (size_t i = 0; i < 4; i++) {
        struct finished f;
        run_recipe(&f, meshes[i], "{loss: sum, scale_grad: 1/tokens, clip: {max_norm: 0.01}}");
        cr_assert_eq(f.result.findings.count, 0, "%s: %s", meshes[i],
                     f.result.findings.count ? f.result.findings.items[0].message : "");
        if (i == 0)
            norm = f.result.steps[0].grad_norm;
        cr_assert(fabs(f.result.steps[0].grad_norm - norm) < 1e-12 * norm);
        close_run(&f);
    }
}

Test(training_recipe, counting_replicas_in_the_norm_is_a_wrong_norm, .timeout = 300)
{
    static const char *const counts[] = {"replicas", "local"};
    for (size_t i = 0; i < 2; i++) {
        struct finished f;
        char recipe[128];
        snprintf(recipe, sizeof recipe,
                 "{loss: sum, scale_grad: 1/tokens, clip: {max_norm: 0.01}, norm: %s}", counts[i]);
        run_recipe(&f, "dp=2,tp=2", recipe);
        only_fault(&f, EMU_CLASS_WRONG_NORM);
        close_run(&f);
    }
}

Test(training_recipe, what_a_mesh_does_not_copy_cannot_be_counted_twice, .timeout = 300)
{
    struct finished f;
    run_recipe(&f, "dp=1,tp=1", "{loss: sum, scale_grad: 1/tokens, norm: replicas}");
    cr_assert_eq(f.result.findings.count, 0);
    close_run(&f);
}

Test(training_recipe, a_sum_over_a_shard_axis_is_refused_before_a_byte_moves, .timeout = 300)
{
    struct finished f;
    run_recipe(&f, "dp=2,tp=2", "{reduce: [{over: [dp]}, {over: [tp], params: '*.up.weight'}]}");
    const struct emu_finding *finding = only_fault(&f, EMU_CLASS_SHARD_TILING);
    cr_assert_str_eq(finding->parameter, "layers.0.up.weight");
    cr_assert_str_eq(finding->axes[0], "tp");
    cr_assert_not_null(strstr(finding->explanation, "leave tp out of `over`"));
    cr_assert_eq(f.result.step_count, 1);
    close_run(&f);
}

Test(training_recipe, a_division_by_zero_is_named_at_its_rank, .timeout = 300)
{
    struct finished f;
    run_recipe(&f, "dp=8", "{loss: sum, scale_loss: 1/local_tokens}");
    const struct emu_finding *finding = only_fault(&f, EMU_CLASS_NONFINITE);
    cr_assert_eq(finding->culprit_count, 4); /* four sequences: dp 4 to 7 read nothing */
    cr_assert_eq(finding->culprits[0], 4);
    cr_assert_str_eq(finding->message,
                     "scale_loss divides by zero in microbatch 0 of dp=4, 5, 6 and 7");
    close_run(&f);
}

Test(training_recipe, a_mean_of_nothing_blames_every_rank_of_its_coordinate, .timeout = 300)
{
    struct finished f;
    run_recipe(&f, "dp=3,tp=2", "{loss: mean, accumulate: mean, reduce: [{over: [dp], op: avg}]}");
    const struct emu_finding *finding = only_fault(&f, EMU_CLASS_NONFINITE);
    cr_assert_eq(finding->culprit_count, 2); /* two sequences each for dp 0 and 1, none for dp 2 */
    cr_assert_eq(finding->culprits[0], 4);
    cr_assert_eq(finding->culprits[1], 5);
    cr_assert_eq(finding->parameter_count, f.plan.plan->tensor_count);
    cr_assert_not_null(strstr(finding->explanation, "use loss: sum with scale_grad: 1/tokens"));
    close_run(&f);
}

Test(training_recipe, a_norm_of_copies_names_the_axis_under_the_root, .timeout = 300)
{
    struct finished f;
    run_recipe(&f, "dp=3",
               "{loss: sum, scale_grad: 1/tokens, clip: {max_norm: 0.01}, norm: replicas}");
    const struct emu_finding *finding = only_fault(&f, EMU_CLASS_WRONG_NORM);
    cr_assert_not_null(strstr(finding->explanation, "ratio 1.732 = sqrt(dp)"), "%s",
                       finding->explanation);
    close_run(&f);
}

Test(training_recipe, a_sum_that_changes_nothing_is_a_note_that_names_its_parameter, .timeout = 300)
{
    struct finished f;
    run_recipe(&f, "dp=2",
               "{loss: sum, reduce: [{over: [dp]}, {over: [dp], op: avg}], scale_grad: 1/tokens}");
    cr_assert_eq(emu_findings_faults(&f.result.findings), 0);
    cr_assert_eq(f.result.findings.count, 1);
    cr_assert_not_null(strstr(f.result.findings.items[0].message,
                              "an average over dp met embed.weight, whole over dp already"));
    close_run(&f);
}
