/* Has a slice of a product the bits of that slice of the whole? All split points, uneven and empty
 * parts, every dimension; and shapes without elements, with NULL buffers, touch nothing. */
#include "nn/kernel.h"
#include "nn_random.h"

#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { M = 19, N = 37, K = 130 };

struct product {
    void (*run)(const struct emu_matmul *args);
    bool a_by_k, b_by_k; /* rows of a, b run over k */
};

static struct product product_of(const struct emu_kernels *k, int which)
{
    const struct product all[3] = {
        {k->matmul_nt, false, false}, {k->matmul_nn, false, true}, {k->matmul_tn, true, true}};
    return all[which];
}

static unsigned char *filled(const struct emu_kernels *k, uint64_t count, uint64_t seed)
{
    unsigned char *x = calloc(count + 1, k->bytes);
    cr_assert(x);
    for (uint64_t i = 0; i < count; i++)
        k->set(x, i, draw_real(&seed));
    return x;
}

/* x (rows, columns) -> rows r0.., columns c0.. of it. */
static unsigned char *cut(const struct emu_kernels *k, const unsigned char *x, uint64_t columns,
                          const uint64_t from[4])
{
    unsigned char *out = calloc(from[1] * from[3] + 1, k->bytes);
    cr_assert(out);
    for (uint64_t i = 0; i < from[1]; i++)
        memcpy(out + i * from[3] * k->bytes, x + ((from[0] + i) * columns + from[2]) * k->bytes,
               from[3] * k->bytes);
    return out;
}

/* Rows i0.. and columns j0.. of the product, computed from the slices of a and b alone. */
static void expect_slice(const struct emu_kernels *k, const struct product *p,
                         unsigned char *const abc[4], const uint64_t part[4])
{
    const uint64_t i0 = part[0], m = part[1], j0 = part[2], n = part[3];
    unsigned char *a = p->a_by_k ? cut(k, abc[0], M, (uint64_t[]){0, K, i0, m})
                                 : cut(k, abc[0], K, (uint64_t[]){i0, m, 0, K});
    unsigned char *b = p->b_by_k ? cut(k, abc[1], N, (uint64_t[]){0, K, j0, n})
                                 : cut(k, abc[1], K, (uint64_t[]){j0, n, 0, K});
    unsigned char *c = cut(k, abc[2], N, part); /* what c held before */
    unsigned char *want = cut(k, abc[3], N, part);
    p->run(
        &(struct emu_matmul){.a = a, .b = b, .c = c, .m = m, .n = n, .k = K, .accumulate = true});
    cr_assert(memcmp(c, want, m * n * k->bytes) == 0, "%s rows %lu+%lu columns %lu+%lu", k->name,
              i0, m, j0, n);
    free(a);
    free(b);
    free(c);
    free(want);
}

struct slice_case {
    enum emu_dtype dtype;
    int which;
};

ParameterizedTestParameters(plain_matmul, slices_have_the_bits_of_the_whole)
{
    static struct slice_case cases[12];
    const enum emu_dtype dtypes[] = {EMU_F64, EMU_F32, EMU_BOUND64, EMU_BOUND32};
    for (int i = 0; i < 12; i++)
        cases[i] = (struct slice_case){dtypes[i / 3], i % 3};
    return cr_make_param_array(struct slice_case, cases, 12);
}

ParameterizedTest(struct slice_case *c, plain_matmul, slices_have_the_bits_of_the_whole,
                  .timeout = 60)
{
    const struct emu_kernels *k = emu_kernels_of(c->dtype);
    const struct product p = product_of(k, c->which);
    unsigned char *abc[4] = {filled(k, M * K, 1), filled(k, N * K, 2), filled(k, M * N, 3), NULL};
    abc[3] = filled(k, M * N, 3);
    p.run(&(struct emu_matmul){
        .a = abc[0], .b = abc[1], .c = abc[3], .m = M, .n = N, .k = K, .accumulate = true});
    for (uint64_t at = 0; at <= M; at++) {
        expect_slice(k, &p, abc, (uint64_t[]){0, at, 0, N});
        expect_slice(k, &p, abc, (uint64_t[]){at, M - at, 0, N});
    }
    for (uint64_t at = 0; at <= N; at++) {
        expect_slice(k, &p, abc, (uint64_t[]){0, M, 0, at});
        expect_slice(k, &p, abc, (uint64_t[]){3, 5, at, N - at});
    }
    for (int i = 0; i < 4; i++)
        free(abc[i]);
}

static double dot(const double *a, uint64_t a_step, const double *b, uint64_t b_step)
{
    double total = 0.0;
    for (uint64_t p = 0; p < K; p++)
        total += a[p * a_step] * b[p * b_step];
    return total;
}

Test(plain_matmul, elements_are_dot_products_in_index_order)
{
    const struct emu_kernels *k = emu_kernels_of(EMU_F64);
    double *a = (double *)(void *)filled(k, M * K, 5), *b = (double *)(void *)filled(k, N * K, 6);
    double *c = (double *)(void *)filled(k, M * N, 7);
    struct emu_matmul args = {.a = a, .b = b, .c = c, .m = M, .n = N, .k = K};
    k->matmul_nt(&args);
    for (uint64_t i = 0; i < M * N; i++)
        cr_assert(c[i] == dot(a + i / N * K, 1, b + i % N * K, 1));
    k->matmul_nn(&args);
    for (uint64_t i = 0; i < M * N; i++)
        cr_assert(c[i] == dot(a + i / N * K, 1, b + i % N, N));
    k->matmul_tn(&args);
    for (uint64_t i = 0; i < M * N; i++)
        cr_assert(c[i] == dot(a + i / N, M, b + i % N, N));
    free(a);
    free(b);
    free(c);
}

/* Every kernel with no rows, and with rows of no columns. */
static void run_empty(const struct emu_kernels *k)
{
    const struct emu_targets none = {NULL, NULL, 0, 0, 5};
    const struct emu_matmul product = {.m = 0, .n = 0, .k = 3, .accumulate = true};
    const struct emu_adamw adamw = {1e-3, 0.9, 0.999, 1e-8, 0.0, 1};
    k->zero(NULL, 0);
    k->matmul_nt(&product);
    k->matmul_nn(&product);
    k->matmul_tn(&product);
    k->add(NULL, NULL, 0);
    k->add_row(NULL, NULL, 0, 4);
    k->add_row(NULL, NULL, 4, 0);
    k->sum_rows(NULL, NULL, 4, 0);
    k->scale(NULL, 0, 2.0, 3.0);
    k->activate(EMU_GELU, NULL, NULL, 0);
    k->activate_back(EMU_SILU, NULL, NULL, NULL, 0);
    k->rms(NULL, NULL, NULL, NULL, 0, 4);
    k->rms_back(NULL, NULL, NULL, NULL, NULL, NULL, 0, 4);
    k->gather(NULL, NULL, NULL, 0, 4, 0, 0);
    k->scatter_add(NULL, NULL, NULL, 0, 4, 0, 0);
    k->scatter_add(NULL, NULL, (const uint8_t[]){1, 2}, 2, 0, 0, 4);
    k->gather(NULL, NULL, (const uint8_t[]){1, 2}, 2, 0, 0, 4);
    k->row_max(NULL, NULL, 0, 4);
    k->exp_sum(NULL, NULL, NULL, 0, 4);
    k->pick(NULL, NULL, &none);
    k->nll(NULL, NULL, NULL, NULL, &none);
    k->softmax_back(NULL, NULL, NULL, NULL, &none);
    k->squared(NULL, NULL, NULL, &none);
    k->sgd(NULL, NULL, 0, 0.1);
    k->momentum(NULL, NULL, NULL, 0, 0.1, 0.9);
    k->adamw(NULL, NULL, NULL, NULL, 0, &adamw);
    cr_assert(k->finite(NULL, 0));
}

static void run_without_columns(const struct emu_kernels *k)
{
    unsigned char room[3 * 2 * sizeof(double)] = {0};
    const uint8_t bytes[3] = {0, 1, 2}, valid[3] = {1, 1, 0};
    const struct emu_targets held_elsewhere = {bytes, valid, 3, 200, 0};
    for (uint64_t i = 0; i < 3; i++)
        k->set(room, i, 7.0);
    k->matmul_nt(&(struct emu_matmul){.c = room, .m = 3, .n = 1, .k = 0, .accumulate = true});
    cr_assert(k->get(room, 2) == 7.0, "no terms: what was there stays");
    k->matmul_tn(&(struct emu_matmul){.c = room, .m = 3, .n = 1, .k = 0});
    cr_assert(k->get(room, 2) == 0.0 && k->bound(room, 2) == 0.0, "an empty sum is exactly 0");
    k->row_max(room, NULL, 3, 0);
    cr_assert(k->get(room, 1) == -INFINITY);
    k->exp_sum(room, NULL, room, 3, 0);
    cr_assert(k->get(room, 1) == 0.0);
    k->pick(room, NULL, &held_elsewhere);
    cr_assert(k->get(room, 1) == 0.0);
    k->softmax_back(NULL, NULL, room, room, &held_elsewhere);
    k->squared(room, NULL, NULL, &held_elsewhere);
    cr_assert(k->get(room, 1) == 0.0 && k->bound(room, 1) == 0.0);
}

Test(plain_matmul, shapes_without_elements_touch_nothing)
{
    const enum emu_dtype dtypes[] = {EMU_F64, EMU_F32, EMU_BOUND64, EMU_BOUND32};
    for (int i = 0; i < 4; i++) {
        run_empty(emu_kernels_of(dtypes[i]));
        run_without_columns(emu_kernels_of(dtypes[i]));
    }
}

Test(plain_matmul, only_numbers_have_kernels)
{
    for (int dtype = 0; dtype < EMU_DTYPE_COUNT; dtype++) {
        const struct emu_kernels *k = emu_kernels_of((enum emu_dtype)dtype);
        const bool number =
            dtype == EMU_F64 || dtype == EMU_F32 || dtype == EMU_BOUND64 || dtype == EMU_BOUND32;
        cr_assert((k != NULL) == number);
        cr_assert(!k || k->dtype == (enum emu_dtype)dtype);
    }
}
