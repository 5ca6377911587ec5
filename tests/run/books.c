/* Predicted = measured: bytes held and bytes moved, on many meshes and placements. */
#include "../plan/plan_fixture.h"
#include "run/training.h"

#include <stdio.h>

static const char text[] = "Books are kept by category.\nA byte is a byte.\n\nNobody divides.\n";

static const char *const meshes[] = {"dp=1",      "dp=3",      "tp=2",           "tp=3,dp=2",
                                     "cp=3",      "cp=2,tp=2", "pp=2",           "pp=3,dp=2",
                                     "pp=2,cp=2", "dp=2,cp=2", "pp=2,tp=2,dp=2", "extra=2,tp=2"};
static const char *const placements[] = {
    "optimizer: {kind: adamw}\n", "optimizer: {kind: adamw, shard: zero1}\n",
    "optimizer: {kind: momentum, shard: zero2, over: [dp]}\n",
    "optimizer: {kind: adamw, shard: zero3}\nchecks: {ledger: false}\n",
    "optimizer: {kind: sgd}\nrecipe: {scale_grad: 1/tokens, clip: {max_norm: 1}}\n"};

static void assert_books(const char *mesh, const char *placement, bool slices)
{
    char config[1024];
    struct plan_fixture f;
    snprintf(config, sizeof config,
             "mesh: %s\nmodel: {kind: mlp_lm, context: 3, embed: 5, hidden: 7, layers: 3%s}\n"
             "data: {text: t.txt, sequence: 9, batch: 5, microbatches: 2}\n%strain: {steps: 1}\n",
             mesh, slices ? ", sequence_parallel: true, cp_split: balanced, norm: none" : "",
             placement);
    cr_assert_eq(plan_open(&f, config), EMU_OK, "%s", emu_text_get(&f.diagnostics));
    struct emu_training_options options = {
        .text = text, .text_size = sizeof text - 1, .only_output = -1, .output_fd = 1};
    struct emu_training_result result;
    cr_assert_eq(emu_training_run(f.plan, &options, &result), EMU_OK);
    cr_assert_eq(result.findings.count, 0, "%s %s: %s", mesh, placement,
                 result.findings.count ? result.findings.items[0].message : "");
    cr_assert_eq(result.audit.figures[EMU_CHECK_MEMORY].status, EMU_CHECK_PASS);
    cr_assert_eq(result.audit.figures[EMU_CHECK_TRAFFIC].status, EMU_CHECK_PASS);
    emu_training_result_finish(&result);
    plan_close(&f);
}

Test(training_books, every_rank_holds_and_sends_what_the_plan_predicts, .timeout = 300)
{
    for (size_t m = 0; m < sizeof meshes / sizeof meshes[0]; m++)
        for (size_t p = 0; p < sizeof placements / sizeof placements[0]; p++)
            for (int slices = 0; slices < 2; slices++)
                assert_books(meshes[m], placements[p], slices);
}
