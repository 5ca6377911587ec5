#include "account/natural.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LIMB_BITS 32

static bool reserve(struct emu_natural *n, size_t room)
{
    if (room <= n->room)
        return !n->failed;
    size_t wider = room + room / 2 + 4;
    uint32_t *limbs = realloc(n->limbs, wider * sizeof *limbs);
    if (!limbs) {
        n->failed = true;
        return false;
    }
    n->limbs = limbs;
    n->room = wider;
    return !n->failed;
}

static void trim(struct emu_natural *n)
{
    while (n->count && !n->limbs[n->count - 1])
        n->count--;
}

void emu_natural_finish(struct emu_natural *n)
{
    free(n->limbs);
    *n = (struct emu_natural){0};
}

void emu_natural_set(struct emu_natural *n, uint64_t value)
{
    if (!reserve(n, 2))
        return;
    n->limbs[0] = (uint32_t)value;
    n->limbs[1] = (uint32_t)(value >> LIMB_BITS);
    n->count = 2;
    trim(n);
}

void emu_natural_copy(struct emu_natural *n, const struct emu_natural *from)
{
    if (from->failed)
        n->failed = true;
    if (!reserve(n, from->count + 1))
        return;
    if (from->count)
        memcpy(n->limbs, from->limbs, from->count * sizeof *n->limbs);
    n->count = from->count;
}

void emu_natural_times(struct emu_natural *n, uint32_t factor)
{
    if (!reserve(n, n->count + 1))
        return;
    uint64_t carry = 0;
    for (size_t i = 0; i < n->count; i++) {
        carry += (uint64_t)n->limbs[i] * factor;
        n->limbs[i] = (uint32_t)carry;
        carry >>= LIMB_BITS;
    }
    n->limbs[n->count++] = (uint32_t)carry;
    trim(n);
}

uint32_t emu_natural_divide(struct emu_natural *n, uint32_t divisor)
{
    assert(divisor);
    uint64_t rest = 0;
    for (size_t i = n->count; i-- > 0;) {
        rest = rest << LIMB_BITS | n->limbs[i];
        n->limbs[i] = (uint32_t)(rest / divisor);
        rest %= divisor;
    }
    trim(n);
    return (uint32_t)rest;
}

void emu_natural_add(struct emu_natural *n, const struct emu_natural *other)
{
    size_t longer = n->count > other->count ? n->count : other->count;
    if (other->failed)
        n->failed = true;
    if (!reserve(n, longer + 1))
        return;
    uint64_t carry = 0;
    for (size_t i = 0; i < longer; i++) {
        carry += i < n->count ? n->limbs[i] : 0;
        carry += i < other->count ? other->limbs[i] : 0;
        n->limbs[i] = (uint32_t)carry;
        carry >>= LIMB_BITS;
    }
    n->limbs[longer] = (uint32_t)carry;
    n->count = longer + 1;
    trim(n);
}

void emu_natural_subtract(struct emu_natural *n, const struct emu_natural *other)
{
    if (other->failed)
        n->failed = true;
    if (n->failed)
        return;
    assert(emu_natural_compare(n, other) >= 0);
    uint32_t borrow = 0;
    for (size_t i = 0; i < n->count && (i < other->count || borrow); i++) {
        uint64_t taken = (uint64_t)(i < other->count ? other->limbs[i] : 0) + borrow;
        borrow = n->limbs[i] < taken;
        n->limbs[i] = (uint32_t)(n->limbs[i] - taken);
    }
    trim(n);
}

bool emu_natural_is_zero(const struct emu_natural *n)
{
    return n->count == 0;
}

int emu_natural_compare(const struct emu_natural *a, const struct emu_natural *b)
{
    if (a->count != b->count)
        return a->count < b->count ? -1 : 1;
    for (size_t i = a->count; i-- > 0;) {
        if (a->limbs[i] != b->limbs[i])
            return a->limbs[i] < b->limbs[i] ? -1 : 1;
    }
    return 0;
}

/* Factors of two, which are then shifted out. n is not zero. */
static size_t strip_twos(struct emu_natural *n)
{
    size_t limbs = 0;
    while (!n->limbs[limbs])
        limbs++;
    unsigned bits = (unsigned)__builtin_ctz(n->limbs[limbs]);
    for (size_t i = limbs; i < n->count; i++) {
        uint64_t pair = n->limbs[i];
        if (i + 1 < n->count)
            pair |= (uint64_t)n->limbs[i + 1] << LIMB_BITS;
        n->limbs[i - limbs] = (uint32_t)(pair >> bits);
    }
    n->count -= limbs;
    trim(n);
    return limbs * LIMB_BITS + bits;
}

static void shift_up(struct emu_natural *n, size_t bits)
{
    size_t limbs = bits / LIMB_BITS;
    if (!reserve(n, n->count + limbs))
        return;
    memmove(n->limbs + limbs, n->limbs, n->count * sizeof *n->limbs);
    memset(n->limbs, 0, limbs * sizeof *n->limbs);
    n->count += limbs;
    emu_natural_times(n, UINT32_C(1) << bits % LIMB_BITS);
}

/* a becomes the greatest common divisor of a and b, both not zero (Stein 1967). b is used up. */
static void find_divisor(struct emu_natural *a, struct emu_natural *b)
{
    size_t twos_a = strip_twos(a);
    size_t twos_b = strip_twos(b);
    for (;;) {
        int order = emu_natural_compare(a, b);
        if (order == 0 || a->failed || b->failed)
            break;
        struct emu_natural *larger = order > 0 ? a : b;
        emu_natural_subtract(larger, order > 0 ? b : a);
        strip_twos(larger);
    }
    shift_up(a, twos_a < twos_b ? twos_a : twos_b);
}

/* a /= b where b divides a: from the lowest limb up (Jebelean 1993), b made odd before. */
static void divide_exactly(struct emu_natural *a, const struct emu_natural *divisor)
{
    struct emu_natural b = {0};
    emu_natural_copy(&b, divisor);
    if (b.failed || a->failed || emu_natural_is_zero(a)) {
        a->failed = a->failed || b.failed;
        emu_natural_finish(&b);
        return;
    }
    size_t twos = strip_twos(&b);
    size_t limbs = twos / LIMB_BITS;
    memmove(a->limbs, a->limbs + limbs, (a->count - limbs) * sizeof *a->limbs);
    a->count -= limbs;
    emu_natural_divide(a, UINT32_C(1) << twos % LIMB_BITS);
    uint32_t inverse = b.limbs[0]; /* modulo 2^3, then Newton doubles the bits */
    for (int i = 0; i < 4; i++)
        inverse *= 2 - b.limbs[0] * inverse;
    for (size_t i = 0; i < a->count; i++) {
        uint32_t digit = a->limbs[i] * inverse;
        uint64_t carry = 0;
        for (size_t k = 0; k + i < a->count && (k < b.count || carry); k++) {
            uint64_t taken = carry + (k < b.count ? (uint64_t)digit * b.limbs[k] : 0);
            carry = (taken >> LIMB_BITS) + (a->limbs[i + k] < (uint32_t)taken);
            a->limbs[i + k] -= (uint32_t)taken;
        }
        a->limbs[i] = digit;
    }
    trim(a);
    emu_natural_finish(&b);
}

void emu_natural_reduce(struct emu_natural *a, struct emu_natural *b)
{
    assert(!emu_natural_is_zero(b));
    if (emu_natural_is_zero(a)) {
        emu_natural_set(b, 1);
        return;
    }
    struct emu_natural divisor = {0};
    struct emu_natural used = {0};
    emu_natural_copy(&divisor, a);
    emu_natural_copy(&used, b);
    if (!divisor.failed && !used.failed) {
        find_divisor(&divisor, &used);
        divide_exactly(a, &divisor);
        divide_exactly(b, &divisor);
    }
    a->failed = a->failed || divisor.failed || used.failed;
    emu_natural_finish(&divisor);
    emu_natural_finish(&used);
}

/* The top three limbs as a number, the others as *exponent. */
static long double top_of(const struct emu_natural *n, int *exponent)
{
    size_t taken = n->count < 3 ? n->count : 3;
    long double value = 0;
    for (size_t i = 0; i < taken; i++)
        value = value * 4294967296.0L + n->limbs[n->count - 1 - i];
    *exponent = (int)((n->count - taken) * LIMB_BITS);
    return value;
}

double emu_natural_ratio(const struct emu_natural *a, const struct emu_natural *b)
{
    int up;
    int down;
    long double value = top_of(a, &up);
    value /= top_of(b, &down);
    return (double)ldexpl(value, up - down);
}

/* Nine decimal digits at a time, the lowest first. */
static size_t split_decimal(struct emu_natural *n, uint32_t *chunks)
{
    size_t count = 0;
    while (n->count)
        chunks[count++] = emu_natural_divide(n, 1000000000);
    return count;
}

void emu_natural_print(const struct emu_natural *n, struct emu_text *out)
{
    struct emu_natural rest = {0};
    emu_natural_copy(&rest, n);
    uint32_t *chunks = malloc((n->count * 2 + 2) * sizeof *chunks); /* 32 bits are 9.6 digits */
    if (rest.failed || !chunks) {
        out->failed = true;
    } else {
        size_t count = split_decimal(&rest, chunks);
        emu_text_printf(out, "%u", count ? chunks[count - 1] : 0);
        for (size_t i = count; i-- > 1;)
            emu_text_printf(out, "%09u", chunks[i - 1]);
    }
    free(chunks);
    emu_natural_finish(&rest);
}
