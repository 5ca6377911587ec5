/* Predicted = measured: bytes held and bytes moved, on many meshes and placements. */
#include "../plan/plan_fixture.h"
#include "mesh/beside.h"
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

/* Bytes of messages by receiver are those by axis; the kernel's opinion is there and above what
 * the rank itself has written. */
static void assert_rows(const struct emu_training_result *result)
{
    const struct emu_mesh *mesh = result->plan->roster.mesh;
    for (uint32_t rank = 0; rank < mesh->world; rank++) {
        const struct emu_rank_books *books = &result->books[rank];
        uint64_t to_ranks = 0;
        uint64_t along_axes = 0;
        for (uint32_t place = 0; place < emu_beside_room(mesh); place++) {
            to_ranks += books->sent_to[place];
            cr_assert(books->sent_to[place] == 0 || emu_beside_rank(mesh, rank, place) != rank);
        }
        for (uint32_t i = 0; i < mesh->axis_count; i++)
            along_axes += books->message_bytes[i];
        cr_assert_eq(to_ranks, along_axes, "rank %u: %lu, %lu", rank, (unsigned long)to_ranks,
                     (unsigned long)along_axes);
        cr_assert_neq(books->pss, UINT64_MAX);
        cr_assert(books->pss > 0 && books->pss % 1024 == 0);
    }
}

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
    assert_rows(&result);
    emu_training_result_finish(&result);
    plan_close(&f);
}

/* Two steps, so that the second must not count the first again. */
Test(training_books, stages_send_their_streams_to_their_neighbours_alone, .timeout = 60)
{
    struct plan_fixture f;
    cr_assert_eq(plan_open(&f,
                           "mesh: pp=3\nmodel: {kind: mlp_lm, context: 3, embed: 5, layers: 3}\n"
                           "data: {text: t.txt, sequence: 9, batch: 4}\ntrain: {steps: 2}\n"),
                 EMU_OK, "%s", emu_text_get(&f.diagnostics));
    struct emu_training_options options = {
        .text = text, .text_size = sizeof text - 1, .only_output = -1, .output_fd = 1};
    struct emu_training_result result;
    cr_assert_eq(emu_training_run(f.plan, &options, &result), EMU_OK);
    const uint64_t stream = 4 * 9 * 5 * 8; /* sequences, positions, width, f64 */
    for (uint32_t from = 0; from < 3; from++)
        for (uint32_t to = 0; to < 3; to++) {
            bool neighbours = from + 1 == to || to + 1 == from;
            cr_expect_eq(result.books[from].sent_to[to], neighbours ? stream : 0, "%u to %u: %lu",
                         from, to, (unsigned long)result.books[from].sent_to[to]);
        }
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
