/* Is the bound of a useful size, also where it cannot be small? */
#include "mixed_order.h"
#include "nn_random.h"
#include "quad_kernels.h"
#include "tiny_models.h"

#include <criterion/criterion.h>
#include <criterion/logging.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct emu_bounded *pairs(uint64_t count, uint64_t seed)
{
    struct emu_bounded *x = calloc(count + 1, sizeof(*x));
    cr_assert(x);
    for (uint64_t i = 0; i < count; i++)
        x[i].value = draw_real(&seed);
    return x;
}

/* The products of the quickstart: rows of tokens times context * embed, hidden, vocabulary; and
 * weight gradients over all tokens. For exact inputs the bound is gamma times the sum of the
 * magnitudes, hardly more. */
Test(bound_size, of_a_product_is_gamma_times_its_magnitudes)
{
    const uint64_t depths[] = {16, 64, 128, 256, 512};
    const struct emu_kernels *k = emu_kernels_of(EMU_BOUND64);
    for (int s = 0; s < 5; s++) {
        const uint64_t depth = depths[s];
        struct emu_bounded *a = pairs(4 * depth, 1), *b = pairs(4 * depth, 2), c[16];
        double largest = 0.0;
        k->matmul_nt(&(struct emu_matmul){.a = a, .b = b, .c = c, .m = 4, .n = 4, .k = depth});
        for (uint64_t i = 0; i < 16; i++) {
            double size = 0.0;
            for (uint64_t p = 0; p < depth; p++)
                size += fabs(a[i / 4 * depth + p].value * b[i % 4 * depth + p].value);
            cr_assert(c[i].bound <= 1.01 * (double)depth * 0x1p-53 * size);
            cr_assert(c[i].bound >= 0.99 * (double)depth * 0x1p-53 * size);
            largest = fmax(largest, c[i].bound / size);
        }
        cr_log_info("%lu terms: bound / sum of magnitudes %.3g", depth, largest);
        cr_assert(largest < 1e-9);
        free(a);
        free(b);
    }
}

/* A forward and backward pass: relative to the largest element of a tensor, the bounds stay far
 * below what a wrong factor or a lost term would change. */
static double worst_relative_bound(const struct tiny *model, const struct tiny_values *out)
{
    double worst = 0.0;
    for (int t = 0; t < TENSORS; t++) {
        const struct tiny_shape shape = tiny_shape_of(model, (enum tensor)t);
        double size = 0.0, bound = 0.0;
        for (uint64_t i = 0; i < shape.rows * shape.columns; i++) {
            size = fmax(size, fabs(out->element[t][i].value));
            bound = fmax(bound, out->element[t][i].bound);
        }
        if (size > 0.0)
            worst = fmax(worst, bound / size);
    }
    return worst;
}

Test(bound_size, of_gradients_is_far_below_any_semantic_fault)
{
    struct tiny_values *weights = calloc(1, sizeof(*weights)), *out = calloc(1, sizeof(*out));
    cr_assert(weights && out);
    for (int number = 0; number < TINY_MODELS; number++) {
        struct tiny model = tiny_model_number(number);
        uint64_t random = (uint64_t)number;
        tiny_draw(&model, weights, &random);
        tiny_run_alone(&model, emu_kernels_of(EMU_BOUND64), weights, out);
        const double double_bound = worst_relative_bound(&model, out);
        tiny_run_alone(&model, emu_kernels_of(EMU_BOUND32), weights, out);
        const double float_bound = worst_relative_bound(&model, out);
        cr_log_info("model %d: %.3g in double, %.3g in float", number, double_bound, float_bound);
        cr_assert(double_bound < 1e-9, "model %d: %g", number, double_bound);
        cr_assert(float_bound < 0.5, "model %d: %g", number, float_bound);
    }
    free(weights);
    free(out);
}

/* Gradients of a tied table: the head's terms and the embedding's, which other computations mix.
 * Large terms of one use cancel among themselves, so that nothing but `terms` tells the bound how
 * much an addition in between may round. */
static void expect_mixed_table(uint64_t seed)
{
    enum { ROWS = 6, WIDTH = 3, TOKENS = 24 };
    const struct emu_kernels *plain = emu_kernels_of(EMU_F64);
    struct dims d = {.m = TOKENS, .n = WIDTH, .k = ROWS};
    struct emu_bounded up[TOKENS * ROWS], stream[TOKENS * WIDTH], dout[TOKENS * WIDTH];
    struct emu_bounded table[ROWS * WIDTH] = {{0.0, 0.0}};
    double a[TOKENS * ROWS], b[TOKENS * WIDTH], c[TOKENS * WIDTH];
    QUAD exact[ROWS * WIDTH] = {0};
    uint64_t random = seed;
    for (int i = 0; i < TOKENS * ROWS; i++) /* token t + 12 takes back what token t added */
        a[i] = i < TOKENS / 2 * ROWS ? draw_real(&random) : -a[i - TOKENS / 2 * ROWS];
    for (int i = 0; i < TOKENS * WIDTH; i++) {
        b[i] = i < TOKENS / 2 * WIDTH ? draw_real(&random) : b[i - TOKENS / 2 * WIDTH];
        c[i] = 1e-9 * draw_real(&random);
        stream[i] = (struct emu_bounded){b[i], 0.0};
        dout[i] = (struct emu_bounded){c[i], 0.0};
    }
    for (int i = 0; i < TOKENS * ROWS; i++)
        up[i] = (struct emu_bounded){a[i], 0.0};
    for (int i = 0; i < TOKENS; i++)
        d.ids[i] = (uint8_t)draw_below(&random, ROWS);
    const struct emu_kernels *k = emu_kernels_of(EMU_BOUND64);
    k->matmul_tn(&(struct emu_matmul){.a = up,
                                      .b = stream,
                                      .c = table,
                                      .m = ROWS,
                                      .n = WIDTH,
                                      .k = TOKENS,
                                      .accumulate = true,
                                      .terms = 2 * TOKENS});
    k->scatter_add(table, dout, d.ids, TOKENS, WIDTH, 0, ROWS);
    struct parts *parts = calloc(1, sizeof(*parts));
    cr_assert(parts);
    parts->k = plain;
    parts->n = ROWS * WIDTH;
    for (int t = 0; t < TOKENS; t++) {
        plain->matmul_tn(&(struct emu_matmul){.a = a + t * ROWS,
                                              .b = b + t * WIDTH,
                                              .c = parts_new(parts),
                                              .m = ROWS,
                                              .n = WIDTH,
                                              .k = 1});
        plain->scatter_add(parts_new(parts), c + t * WIDTH, d.ids + t, 1, WIDTH, 0, ROWS);
        for (int i = 0; i < ROWS * WIDTH; i++)
            exact[i] += (QUAD)a[t * ROWS + i / WIDTH] * b[t * WIDTH + i % WIDTH] +
                        (d.ids[t] == i / WIDTH ? c[t * WIDTH + i % WIDTH] : 0.0);
    }
    double mixed[ROWS * WIDTH];
    parts_combine(parts, mixed, &random);
    for (int i = 0; i < ROWS * WIDTH; i++) {
        const QUAD off = mixed[i] - exact[i];
        cr_assert((off < 0 ? -off : off) <= table[i].bound, "off by %g, bound %g", (double)off,
                  table[i].bound);
        cr_assert(table[i].bound < 1e-12);
    }
    free(parts);
}

Test(bound_size, covers_mixed_sums_of_a_tied_table)
{
    for (uint64_t seed = 0; seed < 200; seed++)
        expect_mixed_table(seed);
}

/* One element of a tied table, the worst order: one use adds 1, the other adds 24 terms that are
 * each just too small to change 1, then the first takes its 1 back. Everything small is lost. */
enum { SMALL_TERMS = 24 };
static const double too_small = 0.98 * 0x1p-53;

static struct emu_matmul product_of(const void *a, const void *b, void *c, uint64_t k)
{
    return (struct emu_matmul){.a = a, .b = b, .c = c, .m = 1, .n = 1, .k = k, .accumulate = true};
}

Test(bound_size, covers_terms_of_the_embedding_lost_in_those_of_the_head)
{
    const struct emu_kernels *plain = emu_kernels_of(EMU_F64), *k = emu_kernels_of(EMU_BOUND64);
    const struct emu_bounded up[2] = {{1.0, 0.0}, {-1.0, 0.0}}, one[2] = {{1.0, 0.0}, {1.0, 0.0}};
    const uint8_t ids[SMALL_TERMS] = {0};
    const double a[2] = {1.0, -1.0}, b[2] = {1.0, 1.0};
    double table = 0.0, small[SMALL_TERMS];
    struct emu_bounded bounded = {0.0, 0.0}, small_pairs[SMALL_TERMS];
    for (int i = 0; i < SMALL_TERMS; i++) {
        small[i] = too_small;
        small_pairs[i] = (struct emu_bounded){too_small, 0.0};
    }
    struct emu_matmul args = product_of(up, one, &bounded, 2);
    args.terms = 2 + SMALL_TERMS;
    k->matmul_tn(&args);
    k->scatter_add(&bounded, small_pairs, ids, SMALL_TERMS, 1, 0, 1);
    args = product_of(a, b, &table, 1);
    plain->matmul_tn(&args);
    plain->scatter_add(&table, small, ids, SMALL_TERMS, 1, 0, 1);
    args = product_of(a + 1, b + 1, &table, 1);
    plain->matmul_tn(&args);
    cr_assert(table == 0.0);
    cr_assert(SMALL_TERMS * too_small <= bounded.bound, "bound %g", bounded.bound);
}

Test(bound_size, covers_terms_of_the_head_lost_in_those_of_the_embedding)
{
    const struct emu_kernels *plain = emu_kernels_of(EMU_F64), *k = emu_kernels_of(EMU_BOUND64);
    struct emu_bounded up[SMALL_TERMS], one[SMALL_TERMS], dout[SMALL_TERMS] = {{1.0, 0.0}};
    struct emu_bounded bounded = {0.0, 0.0};
    double a[SMALL_TERMS], b[SMALL_TERMS], c[SMALL_TERMS] = {1.0}, table = 0.0;
    uint8_t ids[SMALL_TERMS];
    memset(ids, 7, sizeof(ids)); /* rows held elsewhere, but for two */
    ids[0] = ids[1] = 0;
    c[1] = -1.0;
    dout[1].value = -1.0;
    for (int i = 0; i < SMALL_TERMS; i++) {
        a[i] = too_small;
        b[i] = 1.0;
        up[i] = (struct emu_bounded){too_small, 0.0};
        one[i] = (struct emu_bounded){1.0, 0.0};
    }
    struct emu_matmul args = product_of(up, one, &bounded, SMALL_TERMS);
    args.terms = 2 * SMALL_TERMS;
    k->matmul_tn(&args);
    k->scatter_add(&bounded, dout, ids, SMALL_TERMS, 1, 0, 1);
    plain->scatter_add(&table, c, ids, 1, 1, 0, 1);
    args = product_of(a, b, &table, SMALL_TERMS);
    plain->matmul_tn(&args);
    plain->scatter_add(&table, c + 1, ids + 1, SMALL_TERMS - 1, 1, 0, 1);
    cr_assert(table == 0.0);
    cr_assert(SMALL_TERMS * too_small <= bounded.bound, "bound %g", bounded.bound);
}

/* Overflow, division by what may be zero, roots near zero, infinite inputs: infinite, never NaN. */
Test(bound_size, becomes_infinite_but_never_nan)
{
    const struct emu_bounded odd[] = {{0.0, 0.0},      {0.0, 1.0},      {1e300, 0.0},
                                      {-1e300, 1e290}, {1.0, INFINITY}, {INFINITY, INFINITY},
                                      {NAN, INFINITY}, {-800.0, 0.5},   {5e-324, 5e-324},
                                      {1e-30, 1e-3},   {800.0, 1e-10},  {0.5, 0.25}};
    enum { ODD = sizeof(odd) / sizeof(odd[0]) };
    struct dims d = {.m = 3, .n = ODD / 3, .k = 4, .ids = {1, 2, 9}, .valid = {1, 1, 1}};
    for (size_t c = 0; c < bound_case_count; c++)
        for (uint64_t seed = 0; seed < 40; seed++) {
            struct emu_bounded room[BUFFERS_MAX][2 * ODD];
            void *x[BUFFERS_MAX];
            uint64_t random = seed;
            for (int b = 0; b < BUFFERS_MAX; b++) {
                x[b] = room[b];
                for (int i = 0; i < 2 * ODD; i++)
                    room[b][i] = odd[draw_below(&random, ODD)];
            }
            bound_cases[c].run(emu_kernels_of(EMU_BOUND64), x, &d);
            for (int b = 0; b < BUFFERS_MAX; b++)
                for (uint64_t i = 0; i < extent_of(bound_cases[c].buffers[b].extent, &d); i++) {
                    cr_assert(room[b][i].bound >= 0.0, "%s: bound %g of %g", bound_cases[c].name,
                              room[b][i].bound, room[b][i].value);
                    cr_assert(isfinite(room[b][i].value) || isinf(room[b][i].bound),
                              "%s: bound %g of %g", bound_cases[c].name, room[b][i].bound,
                              room[b][i].value);
                }
        }
}

Test(bound_size, of_an_update_stays_finite_where_the_second_moment_may_be_zero)
{
    const struct emu_adamw params = {1e-3, 0.9, 0.999, 1e-8, 0.0, 1};
    struct emu_bounded w = {1.0, 0.0}, m = {0.0, 0.0}, v = {0.0, 0.0}, g = {1e-12, 1e-11};
    emu_kernels_of(EMU_BOUND64)->adamw(&w, &m, &v, &g, 1, &params);
    /* |mhat| <= 3e-11 over at least 1e-8, times 1e-3, and what the root adds */
    cr_assert(w.bound < 1e-5 && w.bound > 1e-9, "bound %g", w.bound);
}
