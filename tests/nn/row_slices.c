/* Do slices and the whole stream meet between rows, with zeros behind the last token? */
#include "nn/row_slices.h"

#include "tp_ranks.h"

#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <stdlib.h>

enum { WIDTH = 3, ELEMENTS_MAX = WIDTH * (ROWS_MAX + TP_MAX) };

struct stream_case {
    uint32_t tp;
    uint64_t rows;
};

/* What each rank saw, in shared memory. */
struct stream_seen {
    uint64_t rows;
    double gathered[TP_MAX][ELEMENTS_MAX];
    double scattered[TP_MAX][ELEMENTS_MAX];
};

static struct emu_nn nn_at(const struct tp_place *at)
{
    return (struct emu_nn){.kernels = emu_kernels_of(EMU_F64),
                           .rank = at->rank,
                           .tp_group = at->group,
                           .sequence_parallel = true,
                           .tp_size = at->size,
                           .tp_index = at->index};
}

static double value_at(uint64_t row, uint64_t column)
{
    return (double)(1 + 10 * row + column);
}

static void soil(double *x)
{
    for (int i = 0; i < ELEMENTS_MAX; i++)
        x[i] = -7.0;
}

static int meet(const struct tp_place *at, void *context)
{
    struct stream_seen *seen = context;
    const struct emu_nn nn = nn_at(at);
    const struct emu_slice held = emu_rows_slice(&nn, seen->rows);
    double *gathered = seen->gathered[at->index], *scattered = seen->scattered[at->index];
    soil(gathered);
    soil(scattered);
    for (uint64_t i = 0; i < held.count * WIDTH; i++)
        gathered[i] = value_at(held.start + i / WIDTH, i % WIDTH);
    if (emu_rows_gather(&nn, gathered, seen->rows, WIDTH, "gather") != EMU_OK)
        return 4;
    for (uint64_t i = 0; i < seen->rows * WIDTH; i++) /* rank r has r + 1 times the value */
        scattered[i] = value_at(i / WIDTH, i % WIDTH) * (at->index + 1);
    return emu_rows_scatter(&nn, scattered, seen->rows, WIDTH, "scatter") == EMU_OK ? 0 : 5;
}

static void expect_rank(const struct stream_seen *seen, const struct stream_case *c, uint32_t r)
{
    const struct tp_place at = {.index = r, .size = c->tp};
    const struct emu_nn nn = nn_at(&at);
    const struct emu_slice held = emu_rows_slice(&nn, c->rows);
    const uint64_t whole = emu_rows_whole(&nn, c->rows), most = emu_rows_most(&nn, c->rows);
    for (uint64_t i = 0; i < ELEMENTS_MAX; i++) {
        const double want = i < c->rows * WIDTH ? value_at(i / WIDTH, i % WIDTH)
                            : i < whole * WIDTH ? 0.0
                                                : -7.0;
        cr_assert(seen->gathered[r][i] == want, "rank %u gathered %lu: %g", r, i,
                  seen->gathered[r][i]);
    }
    for (uint64_t i = 0; i < most * WIDTH; i++) {
        const double sum = (double)(c->tp * (c->tp + 1) / 2);
        const double want =
            i < held.count * WIDTH ? sum * value_at(held.start + i / WIDTH, i % WIDTH) : 0.0;
        cr_assert(seen->scattered[r][i] == want, "rank %u scattered %lu: %g", r, i,
                  seen->scattered[r][i]);
    }
    for (uint64_t i = whole * WIDTH; i < ELEMENTS_MAX; i++)
        cr_assert(seen->scattered[r][i] == -7.0);
}

ParameterizedTestParameters(row_slices, collectives_split_between_rows)
{
    static struct stream_case cases[64];
    static const uint32_t sizes[] = {1, 2, 3, 5, 9};
    static const uint64_t rows[] = {0, 1, 2, 3, 4, 7, 9, 10, 32};
    size_t count = 0;
    for (int s = 0; s < 5; s++)
        for (int r = 0; r < 9; r++)
            cases[count++] = (struct stream_case){sizes[s], rows[r]};
    return cr_make_param_array(struct stream_case, cases, count);
}

ParameterizedTest(struct stream_case *c, row_slices, collectives_split_between_rows, .timeout = 60)
{
    struct stream_seen *seen = tp_memory_create(sizeof(*seen));
    seen->rows = c->rows;
    tp_ranks_run(c->tp, meet, seen);
    for (uint32_t r = 0; r < c->tp; r++)
        expect_rank(seen, c, r);
    tp_memory_destroy(seen, sizeof(*seen));
}

Test(row_slices, room_for_a_slice_is_enough_for_every_shorter_microbatch)
{
    for (uint32_t size = 1; size <= TP_MAX; size++)
        for (uint64_t most = 0; most <= ROWS_MAX; most++)
            for (uint64_t rows = 0; rows <= most; rows++) {
                uint64_t held = 0;
                for (uint32_t index = 0; index < size; index++) {
                    const struct emu_nn nn = nn_at(&(struct tp_place){NULL, 0, index, size});
                    const struct emu_slice slice = emu_rows_slice(&nn, rows);
                    cr_assert(slice.count == 0 || slice.start == held);
                    cr_assert(slice.count <= emu_rows_most(&nn, most));
                    cr_assert(emu_rows_whole(&nn, rows) <= emu_rows_whole(&nn, most));
                    cr_assert(emu_rows_whole(&nn, rows) % size == 0);
                    held += slice.count;
                }
                cr_assert(held == rows);
            }
}

Test(row_slices, without_slices_are_all_rows)
{
    const struct emu_nn nn = {0};
    cr_assert(emu_rows_slice(&nn, 7).start == 0 && emu_rows_slice(&nn, 7).count == 7);
    cr_assert(emu_rows_most(&nn, 7) == 7 && emu_rows_whole(&nn, 7) == 7);
    cr_assert(emu_rows_room(&nn, 7, 3) == 0);
}

Test(row_slices, sizes_that_do_not_fit_have_no_room)
{
    const struct emu_nn nn = nn_at(&(struct tp_place){.size = 2});
    cr_assert(emu_rows_room(&nn, UINT64_C(1) << 40, UINT64_C(1) << 40) == UINT64_MAX);
    cr_assert(emu_rows_elements(UINT64_MAX, 1, 1) == UINT64_MAX);
    cr_assert(emu_rows_elements(6, 7, 8) == 50);
}
