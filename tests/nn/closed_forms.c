/* Do the kernels compute their formulas? Values known from elsewhere, in every kind of number. */
#include "nn/kernel.h"

#include <criterion/criterion.h>
#include <float.h>
#include <math.h>
#include <string.h>

enum { ROOM = 16 };

static const enum emu_dtype all_dtypes[] = {EMU_F64, EMU_F32, EMU_BOUND64, EMU_BOUND32};

/* Storage for ROOM elements of any kind. */
struct vector {
    _Alignas(16) unsigned char bytes[ROOM * 2 * sizeof(double)];
};

static struct vector vector_of(const struct emu_kernels *k, const double *values, uint64_t n)
{
    struct vector x = {{0}};
    for (uint64_t i = 0; i < n; i++)
        k->set(&x, i, values[i]);
    return x;
}
#define VECTOR(k, ...)                                                                             \
    vector_of(k, (const double[]){__VA_ARGS__}, sizeof((double[]){__VA_ARGS__}) / sizeof(double))

static void expect(const struct emu_kernels *k, const struct vector *x, uint64_t i, double want)
{
    const double unit = k->dtype == EMU_F32 || k->dtype == EMU_BOUND32 ? FLT_EPSILON : DBL_EPSILON;
    const double got = k->get(x, i);
    cr_assert(fabs(got - want) <= 16.0 * unit * (1.0 + fabs(want)),
              "%s element %lu: %.17g, not %.17g", k->name, i, got, want);
    cr_assert(k->bound(x, i) <= 256.0 * unit * (1.0 + fabs(want)), "%s element %lu: bound %g",
              k->name, i, k->bound(x, i));
}

#define EACH_KIND(k)                                                                               \
    for (int kind_ = 0; kind_ < 4; kind_++)                                                        \
        for (const struct emu_kernels *k = emu_kernels_of(all_dtypes[kind_]); k; k = NULL)

Test(kernels, sums_add_to_what_is_there)
{
    EACH_KIND(k)
    {
        struct vector total = VECTOR(k, 10, 20, 30), x = VECTOR(k, 1, 2, 3, 4, 5, 6);
        k->sum_rows(&total, &x, 2, 3);
        expect(k, &total, 0, 15);
        expect(k, &total, 2, 39);
        k->sum(&total, &x, 6);
        expect(k, &total, 0, 36);
        k->sum_squares(&total, &x, 3);
        expect(k, &total, 0, 50);
        k->add_row(&x, &total, 2, 3);
        expect(k, &x, 0, 51);
        expect(k, &x, 5, 45);
    }
}

Test(kernels, a_factor_of_one_is_not_multiplied)
{
    EACH_KIND(k)
    {
        struct vector x = VECTOR(k, 0.1, -3), same = x, factor = VECTOR(k, -2);
        k->scale(&x, 2, 1.0, 1.0);
        cr_assert(memcmp(&x, &same, sizeof(x)) == 0);
        k->scale(&x, 2, 3.0, 4.0);
        expect(k, &x, 1, -2.25);
        k->scale_by(&x, 2, &factor);
        expect(k, &x, 1, 4.5);
    }
}

Test(kernels, clipping_shrinks_long_vectors_alone)
{
    EACH_KIND(k)
    {
        struct vector factor = VECTOR(k, 0), norm = VECTOR(k, 0), squares = VECTOR(k, 25);
        k->clip(&factor, &norm, &squares, 1.0);
        expect(k, &factor, 0, 0.2);
        expect(k, &norm, 0, 5);
        k->clip(&factor, &norm, &squares, 5.0);
        expect(k, &factor, 0, 1);
        k->clip(&factor, &norm, &squares, INFINITY);
        expect(k, &factor, 0, 1);
        k->set(&squares, 0, 0.0);
        k->clip(&factor, &norm, &squares, 1.0);
        expect(k, &factor, 0, 1);
        expect(k, &norm, 0, 0);
    }
}

Test(kernels, activations_have_their_known_values)
{
    /* normal distribution function at 1 and logistic function at 1, from tables */
    const double cdf1 = 0.84134474606854293, density1 = 0.24197072451914337;
    const double logistic1 = 0.73105857863000490;
    EACH_KIND(k)
    {
        struct vector x = VECTOR(k, 0, 1, -1, 30), y = VECTOR(k, 0), one = VECTOR(k, 1, 1, 1, 1);
        k->activate(EMU_GELU, &y, &x, 4);
        expect(k, &y, 0, 0);
        expect(k, &y, 1, cdf1);
        expect(k, &y, 2, cdf1 - 1);
        k->activate_back(EMU_GELU, &y, &x, &one, 4);
        expect(k, &y, 0, 0.5);
        expect(k, &y, 1, cdf1 + density1);
        expect(k, &y, 3, 1);
        k->activate(EMU_SILU, &y, &x, 4);
        expect(k, &y, 1, logistic1);
        expect(k, &y, 2, logistic1 - 1);
        k->activate_back(EMU_SILU, &y, &x, &one, 4);
        expect(k, &y, 1, logistic1 * (2 - logistic1));
        k->activate(EMU_RELU, &y, &x, 4);
        expect(k, &y, 2, 0);
        expect(k, &y, 3, 30);
        k->activate_back(EMU_RELU, &y, &x, &one, 4);
        expect(k, &y, 0, 0);
        expect(k, &y, 1, 1);
    }
}

Test(kernels, rms_norm_divides_by_the_root_of_the_mean_square)
{
    EACH_KIND(k)
    {
        struct vector x = VECTOR(k, 3, 4, 0, 0), w = VECTOR(k, 1, 2), y = VECTOR(k, 0);
        struct vector inverse = VECTOR(k, 0), dx = VECTOR(k, 0), dw = VECTOR(k, 100, 100);
        struct vector dy = VECTOR(k, 1, 1, 1, 1);
        const double r = sqrt(12.5 + 1e-5), r0 = sqrt(1e-5);
        k->rms(&y, &inverse, &x, &w, 2, 2);
        expect(k, &y, 0, 3 / r);
        expect(k, &y, 1, 8 / r);
        expect(k, &y, 3, 0);
        expect(k, &inverse, 1, 1 / r0);
        k->rms_back(&dx, &dw, &x, &w, &inverse, &dy, 2, 2);
        const double mean = (1 * 3 / r + 2 * 4 / r) / 2;
        expect(k, &dx, 0, (1 - 3 / r * mean) / r);
        expect(k, &dx, 3, 2 / r0);
        expect(k, &dw, 1, 100 + 4 / r);
    }
}

Test(kernels, rows_outside_the_shard_are_zero_and_get_nothing)
{
    const uint8_t ids[] = {4, 5, 7, 3, 5};
    EACH_KIND(k)
    {
        struct vector table = VECTOR(k, 1, 2, 3, 4, 5, 6), out = VECTOR(k, 9, 9, 9, 9, 9, 9);
        k->gather(&out, &table, ids, 5, 2, 4, 3); /* rows 4, 5 and 6 are held */
        expect(k, &out, 0, 1);
        expect(k, &out, 3, 4);
        expect(k, &out, 4, 0);
        expect(k, &out, 6, 0);
        expect(k, &out, 9, 4);
        k->scatter_add(&table, &out, ids, 5, 2, 4, 3);
        expect(k, &table, 0, 2);
        expect(k, &table, 3, 12);
        expect(k, &table, 5, 6);
    }
}

Test(kernels, cross_entropy_is_minus_the_log_of_the_target_share)
{
    const uint8_t target[] = {3, 1, 2}, valid[] = {1, 1, 0};
    const struct emu_targets targets = {target, valid, 3, 2, 2}; /* columns 2 and 3 are held */
    EACH_KIND(k)
    {
        struct vector x = VECTOR(k, log(3), 0, 1, 1, 500, 500), max = VECTOR(k, 0);
        struct vector total = VECTOR(k, 0), picked = VECTOR(k, 9, 9, 9), loss = VECTOR(k, 9, 9, 9);
        k->row_max(&max, &x, 3, 2);
        expect(k, &max, 0, log(3));
        k->exp_sum(&total, &x, &max, 3, 2);
        expect(k, &total, 0, 4.0 / 3);
        expect(k, &total, 1, 2);
        k->pick(&picked, &x, &targets);
        expect(k, &picked, 0, 0); /* x[0][1] */
        expect(k, &picked, 1, 0); /* held elsewhere */
        expect(k, &picked, 2, 500);
        k->nll(&loss, &total, &max, &picked, &targets);
        expect(k, &loss, 0, log(4));
        expect(k, &loss, 2, 0); /* masked */
        k->softmax_back(&x, &x, &max, &total, &targets);
        expect(k, &x, 0, 0.75);
        expect(k, &x, 1, 0.25 - 1);
        expect(k, &x, 3, 0.5); /* its target is held elsewhere */
        expect(k, &x, 4, 0);
    }
}

Test(kernels, squared_loss_is_half_the_squared_distance_to_the_one_hot_vector)
{
    const uint8_t target[] = {3, 0, 2}, valid[] = {1, 1, 0};
    const struct emu_targets targets = {target, valid, 3, 2, 2};
    EACH_KIND(k)
    {
        struct vector x = VECTOR(k, 2, 4, 1, 3, 7, 7), loss = VECTOR(k, 9, 9, 9);
        k->squared(&loss, &x, &x, &targets);
        expect(k, &loss, 0, (4 + 9) / 2.0);
        expect(k, &loss, 1, (1 + 9) / 2.0);
        expect(k, &loss, 2, 0);
        expect(k, &x, 1, 3);
        expect(k, &x, 3, 3);
        expect(k, &x, 4, 0);
    }
}

Test(kernels, sgd_and_momentum_step_against_the_gradient)
{
    EACH_KIND(k)
    {
        struct vector w = VECTOR(k, 1, 2), g = VECTOR(k, 4, -4), m = VECTOR(k, 8, 0);
        k->sgd(&w, &g, 2, 0.25);
        expect(k, &w, 0, 0);
        expect(k, &w, 1, 3);
        k->momentum(&w, &m, &g, 2, 0.25, 0.5);
        expect(k, &m, 0, 8);
        expect(k, &w, 0, -2);
        expect(k, &m, 1, -4);
        expect(k, &w, 1, 4);
    }
}

Test(kernels, adamw_steps_by_the_rate_at_first_and_decays_apart)
{
    EACH_KIND(k)
    {
        const struct emu_adamw first = {0.125, 0.9, 0.999, 1e-8, 0.5, 1};
        struct vector w = VECTOR(k, 1, 1), g = VECTOR(k, 0.5, 0), m = VECTOR(k, 0, 0);
        struct vector v = VECTOR(k, 0, 0);
        k->adamw(&w, &m, &v, &g, 2, &first);
        /* mhat/(sqrt(vhat) + eps) = g/(|g| + eps) at step 1 */
        expect(k, &w, 0, 1 - 0.125 * (0.5 / (0.5 + 1e-8) + 0.5));
        expect(k, &w, 1, 1 - 0.125 * 0.5);
        expect(k, &m, 0, 0.05);
        expect(k, &v, 0, 0.00025);
        struct emu_adamw second = first;
        second.step = 2;
        const double before = k->get(&w, 0);
        k->adamw(&w, &m, &v, &g, 2, &second);
        /* a gradient that stays the same gives the same ratio at every step */
        expect(k, &w, 0, before - 0.125 * (0.5 / (0.5 + 1e-8) + 0.5 * before));
    }
}

Test(kernels, non_finite_values_are_seen)
{
    EACH_KIND(k)
    {
        struct vector x = VECTOR(k, 1, 2, 3);
        cr_assert(k->finite(&x, 3));
        k->set(&x, 1, NAN);
        cr_assert(!k->finite(&x, 3));
        k->set(&x, 1, -INFINITY);
        cr_assert(!k->finite(&x, 3));
        cr_assert(k->finite(&x, 1));
    }
}

/* A NaN must come out of every kernel that it goes into: it is a finding, not a value. */
Test(kernels, a_nan_is_not_lost)
{
    const uint8_t target[] = {0}, valid[] = {1};
    const struct emu_targets targets = {target, valid, 1, 0, 2};
    EACH_KIND(k)
    {
        struct vector x = VECTOR(k, NAN, 1), y = VECTOR(k, 1, 1), z = VECTOR(k, 1, 1);
        for (int a = EMU_GELU; a <= EMU_SILU; a++) {
            k->activate((enum emu_activation)a, &y, &x, 1);
            cr_assert(isnan(k->get(&y, 0)), "%s activation %d", k->name, a);
        }
        k->row_max(&y, &x, 1, 2);
        k->exp_sum(&z, &x, &y, 1, 2);
        cr_assert(isnan(k->get(&z, 0)));
        k->clip(&y, &z, &x, 1.0);
        cr_assert(isnan(k->get(&y, 0)));
        k->squared(&z, &y, &x, &targets);
        cr_assert(isnan(k->get(&z, 0)) && isnan(k->get(&y, 0)));
    }
}
