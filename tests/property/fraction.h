/* What is a number of a recipe exactly? Fractions of 128-bit integers for the reference, written
 * apart from the product's own (emu/ledger/rational.h): the two must not share a mistake.
 *
 * Invariant: bottom > 0 and lowest terms; bottom 0 is a value that did not fit ("lost"), and all
 * that is computed from it is lost too. Pure.
 */
#ifndef TESTS_PROPERTY_FRACTION_H
#define TESTS_PROPERTY_FRACTION_H

#include "base/wide.h"

#include <stdbool.h>
#include <stdint.h>

#define FRACTION_PRIME ((UINT64_C(1) << 61) - 1)

struct fraction {
    emu_i128 top, bottom;
};

static inline struct fraction fraction_lost(void)
{
    return (struct fraction){0, 0};
}

static inline bool fraction_is_lost(struct fraction a)
{
    return a.bottom == 0;
}

/* Lowest terms. bottom must not be 0. */
static inline struct fraction fraction_of(emu_i128 top, emu_i128 bottom)
{
    emu_i128 a = top < 0 ? -top : top, b = bottom < 0 ? -bottom : bottom;
    while (b) {
        emu_i128 rest = a % b;
        a = b;
        b = rest;
    }
    if (bottom < 0)
        a = -a;
    return (struct fraction){top / a, bottom / a};
}

static inline struct fraction fraction_whole(int64_t n)
{
    return (struct fraction){n, 1};
}

static inline struct fraction fraction_mul(struct fraction a, struct fraction b)
{
    emu_i128 top, bottom;
    if (!a.bottom || !b.bottom)
        return fraction_lost();
    struct fraction left = fraction_of(a.top, b.bottom), right = fraction_of(b.top, a.bottom);
    if (__builtin_mul_overflow(left.top, right.top, &top) ||
        __builtin_mul_overflow(left.bottom, right.bottom, &bottom))
        return fraction_lost();
    return (struct fraction){top, bottom};
}

/* a / b; b must not be 0. */
static inline struct fraction fraction_div(struct fraction a, struct fraction b)
{
    if (!a.bottom || !b.bottom)
        return fraction_lost();
    return fraction_mul(a, b.top < 0 ? (struct fraction){-b.bottom, -b.top}
                                     : (struct fraction){b.bottom, b.top});
}

static inline struct fraction fraction_add(struct fraction a, struct fraction b)
{
    emu_i128 left, right, top, bottom;
    if (!a.bottom || !b.bottom)
        return fraction_lost();
    if (__builtin_mul_overflow(a.top, b.bottom, &left) ||
        __builtin_mul_overflow(b.top, a.bottom, &right) ||
        __builtin_add_overflow(left, right, &top) ||
        __builtin_mul_overflow(a.bottom, b.bottom, &bottom))
        return fraction_lost();
    return fraction_of(top, bottom);
}

static inline struct fraction fraction_sub(struct fraction a, struct fraction b)
{
    return fraction_add(a, (struct fraction){-b.top, b.bottom});
}

static inline bool fraction_equal(struct fraction a, struct fraction b)
{
    return a.top == b.top && a.bottom == b.bottom;
}

/* a < b; neither lost, both far from the limits. */
static inline bool fraction_less(struct fraction a, struct fraction b)
{
    return a.top * b.bottom < b.top * a.bottom;
}

/* Is the denominator a power of two? */
static inline bool fraction_is_dyadic(struct fraction a)
{
    return a.bottom > 0 && (a.bottom & (a.bottom - 1)) == 0;
}

/* The number modulo 2^61-1 that stands for the fraction. */
static inline uint64_t fraction_to_field(struct fraction a)
{
    const emu_i128 p = (emu_i128)FRACTION_PRIME;
    emu_i128 result = a.top % p, base = a.bottom % p;
    if (result < 0)
        result += p;
    for (uint64_t exponent = FRACTION_PRIME - 2; exponent; exponent >>= 1) {
        if (exponent & 1)
            result = result * base % p;
        base = base * base % p;
    }
    return (uint64_t)result;
}

#endif
