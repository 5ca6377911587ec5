/* Does a sum whose terms arrive by calls of their own pay for every order of them? */
#include "comm/rank.h"
#include "nn/layer.h"
#include "nn_random.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

enum { TERMS = 40, SOURCES = 101 };
static const double unit = 0x1p-53;

Test(term_bounds, of_exact_terms_are_gamma_times_their_magnitudes)
{
    const struct emu_kernels *k = emu_kernels_of(EMU_BOUND64);
    struct emu_bounded total = {0.0, 0.0};
    uint64_t random = 3;
    double size = 0.0;
    for (int i = 0; i < TERMS; i++) {
        const struct emu_bounded term = {draw_real(&random), 0.0};
        k->add_term(&total, &term, 1, TERMS);
        size += fabs(term.value);
    }
    cr_assert(total.bound <= 1.0001 * (TERMS - 1) * unit * size);
    cr_assert(total.bound >= 0.9999 * (TERMS - 1) * unit * size);
}

Test(term_bounds, keep_the_bounds_of_the_terms)
{
    const struct emu_kernels *k = emu_kernels_of(EMU_BOUND64);
    struct emu_bounded total = {0.0, 0.0};
    const struct emu_bounded term = {1.0, 0.25};
    k->add_term(&total, &term, 1, 2);
    k->add_term(&total, &term, 1, 2);
    cr_assert(total.value == 2.0 && total.bound >= 0.5 && total.bound < 0.5001);
}

Test(term_bounds, of_a_single_term_are_its_own)
{
    const struct emu_kernels *k = emu_kernels_of(EMU_BOUND64);
    struct emu_bounded total = {0.0, 0.0};
    const struct emu_bounded term = {0.1, 0.0};
    k->add_term(&total, &term, 1, 1);
    cr_assert(total.value == 0.1 && total.bound == 0.0);
}

Test(term_bounds, cover_a_small_term_between_large_ones_that_cancel)
{
    const struct emu_kernels *bounded = emu_kernels_of(EMU_BOUND64);
    const struct emu_kernels *plain = emu_kernels_of(EMU_F64);
    const double terms[] = {1e16, -1e16, 1.0}, other[] = {1e16, 1.0, -1e16};
    struct emu_bounded total = {0.0, 0.0};
    double swallowed = 0.0;
    for (int i = 0; i < 3; i++) {
        const struct emu_bounded term = {terms[i], 0.0};
        bounded->add_term(&total, &term, 1, 3);
        plain->add_term(&swallowed, &other[i], 1, 3);
    }
    cr_assert(total.value == 1.0 && swallowed == 0.0);
    cr_assert(total.bound >= 1.0 && total.bound < 10.0);
}

/* In the order given no sum leaves the range; with the two positive terms first, one does. */
Test(term_bounds, are_infinite_where_a_partial_sum_of_another_order_overflows)
{
    const double sizes[2][2] = {{0x1.8p1023, 0x1.8p1013}, {0x1.8p127, 0x1.8p117}};
    for (int n = 0; n < 4; n++) {
        const struct emu_kernels *k = emu_kernels_of(n / 2 ? EMU_BOUND32 : EMU_BOUND64);
        const double size = sizes[n / 2][n % 2];
        const struct emu_bounded there = {size, 0.0}, back = {-size, 0.0};
        struct emu_bounded total = {0.0, 0.0};
        k->add_term(&total, &there, 1, 3);
        k->add_term(&total, &back, 1, 3);
        k->add_term(&total, &there, 1, 3);
        cr_assert(total.value == size && isinf(total.bound) == (n % 2 == 0));
    }
}

/* A block of one unit whose gradients of norm and bias are those of a sum: every weight is 1. */
struct block {
    struct emu_bounded x[2], dy[2], dx[2], dnorm, dbias;
    struct emu_bounded normed[2], inverse[2], before[2], after[2], scratch[8], whole[2];
    struct emu_bounded one, zero, unused[3];
};

static void run_source(struct block *b, struct emu_rank *rank, uint64_t slice_terms)
{
    const struct emu_nn nn = {.kernels = emu_kernels_of(EMU_BOUND64),
                              .rank = rank,
                              .tp_group = EMU_GROUP_SELF,
                              .activation = EMU_RELU,
                              .norm = EMU_NORM_RMS,
                              .sequence_parallel = true,
                              .tp_size = 1,
                              .slice_terms = slice_terms,
                              .whole = b->whole};
    const struct emu_mlp layer = {.width = 1,
                                  .hidden = 1,
                                  .out = 1,
                                  .norm = &b->one,
                                  .up = &b->one,
                                  .up_bias = &b->zero,
                                  .down = &b->one,
                                  .down_bias = &b->zero,
                                  .dnorm = &b->dnorm,
                                  .dup = &b->unused[0],
                                  .dup_bias = &b->unused[1],
                                  .ddown = &b->unused[2],
                                  .ddown_bias = &b->dbias};
    struct emu_mlp_saved saved = {b->normed, b->inverse, b->before, b->after};
    struct emu_bounded y[2];
    cr_assert(emu_mlp_scratch(&nn, &layer, 2) <= 8);
    cr_assert(emu_mlp_forward(&nn, &layer, &saved, b->x, 2, y) == EMU_OK);
    cr_assert(emu_mlp_backward(&nn, &layer, &saved, b->x, b->dy, 2, b->dx, b->scratch) == EMU_OK);
}

/* Row 0 lies on one rank, row 1 on another. The first source has 1e16 and -1e16, which cancel on a
 * mesh of one; the 100 others have 1 and 0, and the rank of row 0 loses all of them. */
static void sum_sources(struct emu_bounded totals[2], struct emu_rank *rank, uint64_t slice_terms)
{
    const struct emu_kernels *k = emu_kernels_of(EMU_BOUND64);
    for (int s = 0; s < SOURCES; s++) {
        struct block b = {.x = {{1.0, 0.0}, {1.0, 0.0}}, .one = {1.0, 0.0}};
        b.dy[0].value = s == 0 ? 1e16 : 1.0;
        b.dy[1].value = s == 0 ? -1e16 : 0.0;
        run_source(&b, rank, slice_terms);
        k->add_term(&totals[0], &b.dbias, 1, SOURCES);
        k->add_term(&totals[1], &b.dnorm, 1, SOURCES);
    }
}

Test(term_bounds, of_slices_cover_sums_of_all_sources_before_tp)
{
    struct emu_bounded totals[2] = {{0.0, 0.0}, {0.0, 0.0}};
    struct emu_mesh mesh = {0};
    struct emu_roster *roster = calloc(1, sizeof(*roster));
    struct emu_rank *rank = NULL;
    const double factor[2] = {1.0, 1.0 / sqrt(1.0 + 1e-5)};
    cr_assert(roster && emu_mesh_parse("tp=1", &mesh, NULL) == EMU_OK);
    emu_roster_init(roster, &mesh);
    cr_assert(emu_rank_create_self(roster, NULL, 0, &rank) == EMU_OK);
    sum_sources(totals, rank, SOURCES + 2);
    for (int i = 0; i < 2; i++) {
        double row0 = 1e16 * factor[i];
        for (int s = 1; s < SOURCES; s++)
            row0 += factor[i];
        const double others = row0 - 1e16 * factor[i], exact = (SOURCES - 1) * factor[i];
        cr_assert(fabs(totals[i].value - exact) <= totals[i].bound);
        cr_assert(others == 0.0 && exact <= totals[i].bound, "bound %g", totals[i].bound);
        cr_assert(totals[i].bound < 100.0 * exact, "bound %g", totals[i].bound);
    }
    emu_rank_destroy(rank);
    emu_roster_finish(roster);
    emu_mesh_finish(&mesh);
    free(roster);
}
