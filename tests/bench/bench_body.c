/* One rank measures and verifies, over calls that are right and over one that lies. */
#include "bench/bench_body.h"

#include "comm/handle.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

/* A filter that changes one byte of what the nth collective gave. */
struct liar {
    struct emu_layer layer;
    uint64_t calls, nth;
    void *output;
};

static enum emu_status lie_start(struct emu_layer *layer, const struct emu_call *call,
                                 struct emu_request **request)
{
    ((struct liar *)layer)->output = call->kind == EMU_BARRIER ? NULL : call->output;
    return layer->below->ops.start(layer->below, call, request);
}

static enum emu_status lie_wait(struct emu_layer *layer, struct emu_request *request)
{
    struct liar *liar = (struct liar *)layer;
    enum emu_status status = layer->below->ops.wait(layer->below, request);
    if (liar->output && ++liar->calls == liar->nth)
        ((unsigned char *)liar->output)[9] ^= 1;
    return status;
}

static void lie_destroy(struct emu_layer *layer)
{
    free(layer);
}

static const struct emu_layer_ops lie_ops = {"liar", lie_start, lie_wait, lie_destroy};

/* A row of one rank: all_reduce of 32 bytes with 3 warm-up and 5 timed calls. With the call that
 * finds the pace that makes 11, of which the first and the last are verified. */
static struct emu_bench run(uint64_t nth, struct emu_roster *roster)
{
    struct emu_bench_request request = {.roster = roster,
                                        .ops = {EMU_ALL_REDUCE},
                                        .op_count = 1,
                                        .range = {32, 32},
                                        .dtype = EMU_F64,
                                        .root = EMU_BENCH_ROOT_MOVES,
                                        .iterations = 5,
                                        .warmup = 3};
    struct emu_bench bench;
    struct emu_reason reason;
    struct emu_rank *rank;
    cr_assert_eq(emu_bench_create(&request, &bench, &reason), EMU_OK);
    uint64_t bytes = emu_bench_arena_bytes(&bench);
    void *arena = calloc(1, bytes);
    struct liar *liar = calloc(1, sizeof *liar);
    cr_assert(arena && liar);
    cr_assert_eq(emu_rank_create_self(roster, arena, bytes, &rank), EMU_OK);
    *liar = (struct liar){.layer = {.ops = lie_ops, .rank = rank}, .nth = nth};
    emu_rank_push(rank, &liar->layer);
    cr_assert_eq(emu_bench_body(rank, &bench), 0);
    cr_assert_eq(liar->calls, 11);
    emu_rank_destroy(rank);
    free(arena);
    return bench;
}

static struct emu_mesh mesh;
static struct emu_roster roster;

static void set_up(void)
{
    cr_assert_eq(emu_mesh_parse("dp=1", &mesh, NULL), EMU_OK);
    emu_roster_init(&roster, &mesh);
}

static void tear_down(void)
{
    emu_roster_finish(&roster);
    emu_mesh_finish(&mesh);
}

Test(bench_body, measures_a_row_and_finds_it_right, .init = set_up, .fini = tear_down,
     .timeout = 60)
{
    struct emu_bench bench = run(0, &roster);
    cr_assert(emu_bench_passed(&bench));
    cr_assert_eq(bench.rows[0].iterations, 5);
    cr_assert_eq(bench.rows[0].warmup, 3);
    cr_assert_leq(bench.rows[0].median_ns, bench.rows[0].p99_ns);
    emu_bench_finish(&bench);
}

Test(bench_body, tells_the_wrong_element_of_the_first_and_of_the_last_call, .init = set_up,
     .fini = tear_down, .timeout = 60)
{
    for (uint64_t nth = 1; nth <= 11; nth += 10) {
        struct emu_bench bench = run(nth, &roster);
        struct emu_bench_row *row = &bench.rows[0];
        cr_assert(emu_bench_row_measured(row));
        cr_assert_not(emu_bench_row_correct(&bench, row));
        cr_assert_not(emu_bench_passed(&bench));
        cr_assert_eq(atomic_load_explicit(&row->wrong, memory_order_relaxed), 1);
        cr_assert_eq(row->complaint.position, 1);
        cr_assert_neq(row->complaint.expected, row->complaint.got);
        emu_bench_finish(&bench);
    }
}
