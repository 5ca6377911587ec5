/* GELU, SiLU and ReLU with their derivatives, on pairs. Template: see kernel_tables.h. */
#include "nn/bound_ops.inc.h"

static struct emu_bounded twice_normal_cdf(struct emu_bounded x)
{
    return within(plus(constant(1.0), erf_of(times(x, constant(EMU_HALF_SQRT2)))), 2.0);
}

static struct emu_bounded gelu(struct emu_bounded x)
{
    return times(times(constant(0.5), x), twice_normal_cdf(x));
}

static struct emu_bounded gelu_slope(struct emu_bounded x)
{
    const struct emu_bounded density =
        times(exp_most(times(times(constant(-0.5), x), x), 0.0), constant(EMU_NORMAL_DENSITY0));
    return plus(times(constant(0.5), twice_normal_cdf(x)), times(x, density));
}

static struct emu_bounded logistic(struct emu_bounded x)
{
    const struct emu_bounded divisor = plus(constant(1.0), exp_of(negative(x)));
    return within(over_least(constant(1.0), divisor, 1.0), 1.0);
}

static struct emu_bounded silu_slope(struct emu_bounded x)
{
    const struct emu_bounded s = logistic(x), one = constant(1.0);
    return times(s, plus(one, times(x, minus(one, s))));
}

/* y where x > 0, else 0. Where the sign of x is open, some computations have y', others 0. */
static struct emu_bounded passed(struct emu_bounded x, struct emu_bounded y)
{
    const double value = x.value <= 0.0 ? 0.0 : y.value;
    if (x.value - 2.0 * x.bound > 0.0)
        return (struct emu_bounded){value, y.bound};
    if (x.value + 2.0 * x.bound <= 0.0)
        return (struct emu_bounded){value, 0.0};
    return seal((REAL)value, reach(y), reach(y));
}

/* |max(0, a) - max(0, b)| <= |a - b| */
static struct emu_bounded relu(struct emu_bounded x)
{
    struct emu_bounded y = passed(x, x);
    y.bound = fmin(y.bound, x.bound);
    return y;
}

static void activate_some(enum emu_activation kind, void *y, const void *x, uint64_t n)
{
    const struct emu_bounded *in = x;
    struct emu_bounded *out = y;
    if (kind == EMU_GELU)
        for (uint64_t i = 0; i < n; i++)
            out[i] = gelu(in[i]);
    else if (kind == EMU_SILU)
        for (uint64_t i = 0; i < n; i++)
            out[i] = times(in[i], logistic(in[i]));
    else
        for (uint64_t i = 0; i < n; i++)
            out[i] = relu(in[i]);
}

static void activate_back_some(enum emu_activation kind, void *dx, const void *x, const void *dy,
                               uint64_t n)
{
    const struct emu_bounded *in = x, *up = dy;
    struct emu_bounded *out = dx;
    if (kind == EMU_GELU)
        for (uint64_t i = 0; i < n; i++)
            out[i] = times(up[i], gelu_slope(in[i]));
    else if (kind == EMU_SILU)
        for (uint64_t i = 0; i < n; i++)
            out[i] = times(up[i], silu_slope(in[i]));
    else
        for (uint64_t i = 0; i < n; i++)
            out[i] = passed(in[i], up[i]);
}

static void activate(enum emu_activation kind, void *y, const void *x, uint64_t n)
{
    for (uint64_t i = 0; i < n && !given_up(i); i += STRETCH)
        activate_some(kind, (struct emu_bounded *)y + i, (const struct emu_bounded *)x + i,
                      n - i < STRETCH ? n - i : STRETCH);
}

static void activate_back(enum emu_activation kind, void *dx, const void *x, const void *dy,
                          uint64_t n)
{
    for (uint64_t i = 0; i < n && !given_up(i); i += STRETCH)
        activate_back_some(kind, (struct emu_bounded *)dx + i, (const struct emu_bounded *)x + i,
                           (const struct emu_bounded *)dy + i, n - i < STRETCH ? n - i : STRETCH);
}
