/* One operation on pairs (value, bound). Template: see kernel_tables.h; README.md derives it all.
 *
 * A pair promises: whoever computes its formula gets an x' with |x' - X| <= bound, X exact. So does
 * `value`, hence |x'| and |X| are at most reach = |value| + 2 bound. Each operation returns the
 * plain result of the values and a bound that keeps this promise. Bounds are computed in double
 * from non-negative quantities by at most 30 roundings each, which BOUND_SLACK pays for. What
 * cannot be bounded (a divisor that may be zero, an overflow in some order) gets an infinite bound.
 *
 * UNIT     unit roundoff u of REAL
 * TINY     smallest positive REAL: a product or quotient that underflows is off by at most TINY/2
 * LARGEST  largest finite REAL
 */
#ifndef EMU_NN_BOUND_OPS_INC_H
#define EMU_NN_BOUND_OPS_INC_H

#include "nn/halt.h"
#include "nn/lanes.h"

#define STRETCH 1024u /* rows or elements between two looks at the halt */
#define BOUND_SLACK (1.0 + 0x1p-48)
#define EXP_SLACK (1.0 + 0x1p-40)    /* exp in a bound: libm's error, and its argument's rounding */
#define LIBM_ERROR (10.0 * UNIT)     /* 4 ulp <= 8u; glibc documents at most 2 ulp on any machine */
#define ERF_SLOPE 1.1283791670955127 /* 2/sqrt(pi), rounded up */

/* Before row or element i of something long: may the rest be left out? See nn/halt.h. */
static bool given_up(uint64_t i)
{
    return i % STRETCH == 0 && emu_halt_asked();
}

/* The operations below choose values, not ways: so loops over them are vectorised. */

/* Of two that are no NaN, or else the second. */
EMU_INLINE double smaller(double x, double y)
{
    return x <= y ? x : y;
}

EMU_INLINE double larger(double x, double y)
{
    return x >= y ? x : y;
}

EMU_INLINE double reach(struct emu_bounded x)
{
    return fabs(x.value) + 2.0 * x.bound;
}

/* Exactly zero in every computation: adding it does not round. */
EMU_INLINE bool vanishes(struct emu_bounded x)
{
    return (x.value == 0.0) & (x.bound == 0.0);
}

/* size: no computation of the formula meets a larger magnitude. A NaN anywhere ends as infinity. */
EMU_INLINE struct emu_bounded seal(REAL value, double bound_raw, double size)
{
    const double raised = bound_raw * BOUND_SLACK;
    const bool sound =
        (fabs((double)value) <= DBL_MAX) & (raised <= DBL_MAX) & (size * BOUND_SLACK <= LARGEST);
    return (struct emu_bounded){(double)value, sound ? raised : INFINITY};
}

/* x, known to lie in an interval of that length in every computation. */
EMU_INLINE struct emu_bounded within(struct emu_bounded x, double length)
{
    return (struct emu_bounded){x.value,
                                fabs(x.value) <= DBL_MAX ? smaller(x.bound, length) : INFINITY};
}

/* The constant as REAL holds it: every computation uses the same. */
EMU_INLINE struct emu_bounded constant(double value)
{
    return (struct emu_bounded){(double)(REAL)value, 0.0};
}

EMU_INLINE struct emu_bounded negative(struct emu_bounded x)
{
    return (struct emu_bounded){-x.value, x.bound};
}

EMU_INLINE struct emu_bounded plus(struct emu_bounded x, struct emu_bounded y)
{
    const REAL value = (REAL)x.value + (REAL)y.value;
    const double spread = x.bound + y.bound;
    const double size = fabs(x.value + y.value) + 2.0 * spread;
    const bool rounds = !((int)vanishes(x) | (int)vanishes(y));
    return seal(value, rounds ? spread + UNIT * size : spread, size);
}

EMU_INLINE struct emu_bounded minus(struct emu_bounded x, struct emu_bounded y)
{
    return plus(x, negative(y));
}

EMU_INLINE struct emu_bounded times(struct emu_bounded x, struct emu_bounded y)
{
    const REAL value = (REAL)x.value * (REAL)y.value;
    const double x_size = reach(x), y_size = reach(y), size = x_size * y_size;
    const double raw = x.bound * y_size + y.bound * x_size + UNIT * size + 4.0 * TINY;
    const bool nothing = (size == 0.0) & ((x_size == 0.0) | (y_size == 0.0));
    return seal(value, nothing ? 0.0 : raw, size);
}

/* x/y, where it is known that no computation has |y'| < least. */
EMU_INLINE struct emu_bounded over_least(struct emu_bounded x, struct emu_bounded y, double least)
{
    const REAL value = (REAL)x.value / (REAL)y.value;
    const double low = larger(fabs(y.value) - 2.0 * y.bound, least);
    const double size = reach(x) / low + DBL_TRUE_MIN;
    const double moved = (x.bound + size * y.bound + DBL_TRUE_MIN) / low;
    const double raw = vanishes(x) ? 0.0 : moved + UNIT * size + 4.0 * TINY;
    const double reached = vanishes(x) ? 0.0 : size;
    return low > 0.0 ? seal(value, raw, reached) : seal(value, INFINITY, INFINITY);
}

EMU_INLINE struct emu_bounded over(struct emu_bounded x, struct emu_bounded y)
{
    return over_least(x, y, 0.0);
}

/* Square root of what is never negative: |sqrt a - sqrt b| <= min(sqrt|a-b|, |a-b|/(2 sqrt low)) */
EMU_INLINE struct emu_bounded root_of(struct emu_bounded x)
{
    const REAL value = sqrt((REAL)x.value);
    const double low = x.value - 2.0 * x.bound, size = sqrt(reach(x));
    double moved = sqrt(x.bound);
    if ((low > 0.0) & (x.bound > 0.0))
        moved = smaller(moved, x.bound / (2.0 * sqrt(low)) + DBL_TRUE_MIN);
    return seal(value, moved + UNIT * size, size);
}

/* exp x, where it is known that no computation has x' > most. */
EMU_INLINE struct emu_bounded exp_most(struct emu_bounded x, double most)
{
    const REAL value = exp((REAL)x.value);
    const double size = exp(smaller(x.value + 2.0 * x.bound, most)) * EXP_SLACK;
    return seal(value, x.bound * size + LIBM_ERROR * size + 4.0 * TINY, size);
}

EMU_INLINE struct emu_bounded exp_of(struct emu_bounded x)
{
    return exp_most(x, INFINITY);
}

/* log x, where it is known that no computation has x' < least. */
EMU_INLINE struct emu_bounded log_least(struct emu_bounded x, double least)
{
    const REAL value = log((REAL)x.value);
    const double low = larger(x.value - 2.0 * x.bound, least);
    if (!(low > 0.0))
        return seal(value, INFINITY, INFINITY);
    const double moved = x.bound / low;
    const double size = fabs(log(x.value)) * EXP_SLACK + 2.0 * moved;
    return seal(value, moved + LIBM_ERROR * size + 4.0 * TINY, size);
}

EMU_INLINE struct emu_bounded erf_of(struct emu_bounded x)
{
    const REAL value = erf((REAL)x.value);
    const double nearest = larger(fabs(x.value) - 2.0 * x.bound, 0.0);
    const double slope = ERF_SLOPE * exp(-nearest * nearest) * EXP_SLACK;
    const double size = smaller(ERF_SLOPE * reach(x), 1.0);
    const double moved = smaller(x.bound * slope, 2.0);
    return seal(value, moved + LIBM_ERROR * size + 4.0 * TINY, size);
}

/* gamma_n = n u/(1 - n u) (Higham, lemma 3.1); infinite where n u is not small. */
static double gamma_of(uint64_t n)
{
    const double nu = (double)n * UNIT;
    return nu < 0.5 ? nu / (1.0 - nu) : INFINITY;
}

/* Sums in memory: open, extend by each term, close. While open, the bound grows by what each term
 * costs: its own bound and `cost` = gamma of the roundings that it may pass, times its reach. */

/* What was there before is one more term; `more` terms will be added to it. */
static void sum_open(struct emu_bounded *sum, uint64_t more)
{
    if (!vanishes(*sum))
        sum->bound += gamma_of(more) * reach(*sum);
}

static void sum_extend(struct emu_bounded *sum, struct emu_bounded term, double cost)
{
    sum->value = (double)((REAL)sum->value + (REAL)term.value);
    sum->bound += term.bound + cost * reach(term);
}

/* `count` terms were added, each with a cost of at least u. So the sum of all magnitudes is at most
 * bound/u, and no order overflows while that is below LARGEST. */
static void sum_close(struct emu_bounded *sum, uint64_t count)
{
    const double raised = sum->bound * (1.0 + ((double)count + 64.0) * 0x1p-52);
    *sum = seal((REAL)sum->value, raised, raised / UNIT);
}

#endif
