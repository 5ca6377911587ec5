/* Rows as they are planned and judged, and the thresholds that are printed. */
#include "bench/bench_rows.h"

#include "bench/regimes.h"
#include "seg/slot.h"

#include <criterion/criterion.h>
#include <stdlib.h>

static struct emu_mesh mesh;
static struct emu_roster roster;

static void set_up(void)
{
    cr_assert_eq(emu_mesh_parse("dp=2,tp=2", &mesh, NULL), EMU_OK);
    emu_roster_init(&roster, &mesh);
}

static void tear_down(void)
{
    emu_roster_finish(&roster);
    emu_mesh_finish(&mesh);
}

static struct emu_bench bench_of(struct emu_byte_range range)
{
    struct emu_bench_request request = {.roster = &roster,
                                        .ops = {EMU_BARRIER, EMU_ALL_REDUCE, EMU_ALL_GATHER},
                                        .op_count = 3,
                                        .range = range,
                                        .dtype = EMU_F64};
    struct emu_bench bench;
    struct emu_reason reason;
    cr_assert_eq(emu_bench_create(&request, &bench, &reason), EMU_OK);
    return bench;
}

Test(bench_rows, sizes_double_and_equal_shapes_make_one_row, .init = set_up, .fini = tear_down)
{
    /* all_gather of 4 ranks cannot be smaller than 32 bytes */
    static const uint64_t sizes[] = {0, 8, 16, 32, 64, 32, 64};
    struct emu_bench bench = bench_of((struct emu_byte_range){8, 100});
    cr_assert_eq(bench.row_count, 7);
    for (unsigned i = 0; i < 7; i++)
        cr_assert_eq(bench.rows[i].shape.bytes, sizes[i], "row %u", i);
    cr_assert_eq(bench.buffer_bytes, 64);
    emu_bench_finish(&bench);
}

static void measure(struct emu_bench_row *row)
{
    row->iterations = 10;
    row->median_ns = 2000;
    row->p99_ns = 3000;
    atomic_store_explicit(&row->slowest_ns, 40000, memory_order_relaxed);
    atomic_store_explicit(&row->checked, 8, memory_order_relaxed);
    atomic_store_explicit(&row->measured, 1, memory_order_release);
}

Test(bench_rows, a_row_is_correct_when_all_ranks_have_verified_it_twice, .init = set_up,
     .fini = tear_down)
{
    struct emu_bench bench = bench_of((struct emu_byte_range){64, 64});
    struct emu_bench_row *row = &bench.rows[1];
    cr_assert_not(emu_bench_passed(&bench), "nothing was measured");
    for (uint64_t i = 0; i < bench.row_count; i++)
        measure(&bench.rows[i]);
    cr_assert(emu_bench_passed(&bench));
    atomic_store_explicit(&row->checked, 7, memory_order_relaxed);
    cr_assert_not(emu_bench_row_correct(&bench, row), "a rank did not look");
    atomic_store_explicit(&row->checked, 8, memory_order_relaxed);
    atomic_store_explicit(&row->wrong, 1, memory_order_relaxed);
    cr_assert_not(emu_bench_row_correct(&bench, row), "an element is wrong");
    cr_assert_not(emu_bench_passed(&bench));
    emu_bench_finish(&bench);
}

Test(bench_rows, figures_follow_from_what_was_measured, .init = set_up, .fini = tear_down)
{
    struct emu_bench bench = bench_of((struct emu_byte_range){8192, 8192});
    struct emu_bench_row *row = &bench.rows[1];
    measure(row);
    struct emu_bench_figures figures = emu_bench_row_figures(&bench, row);
    cr_assert_eq(figures.median_us, 2);
    cr_assert_eq(figures.p99_us, 3);
    cr_assert_eq(figures.mean_us, 4);
    cr_assert_eq(figures.algbw, 2.048);
    cr_assert_eq(figures.busbw, 2.048 * 1.5);
    emu_bench_finish(&bench);
}

Test(regimes, thresholds_are_those_of_the_segment, .init = set_up, .fini = tear_down)
{
    struct emu_regimes regimes;
    struct emu_reason reason;
    struct emu_segment segment;
    struct emu_segment_params params = {.roster = &roster};
    cr_assert_eq(emu_regimes_of(&roster, &regimes, &reason), EMU_OK);
    cr_assert_eq(emu_segment_plan(&params, &segment), EMU_OK);
    segment.base = calloc(1, segment.bytes); /* touched by nobody */
    cr_assert_not_null(segment.base);
    struct emu_ring ring = emu_ring_of(&segment, 0);
    cr_assert_eq(regimes.chunk_bytes, ring.chunk_bytes);
    unsigned char *entry = emu_ring_entry(&ring, 0, 1)->inline_bytes;
    cr_assert_eq(emu_ring_deposit(&ring, 0, 1, 0, regimes.inline_bytes), entry);
    cr_assert_neq(emu_ring_deposit(&ring, 0, 1, 0, regimes.inline_bytes + 1), entry);
    free(segment.base);
}
