#include "ledger/rational.h"

#include "ledger/field.h"

#include <inttypes.h>
#include <stdio.h>

/* A fraction before it is known to fit. */
struct wide {
    emu_i128 numerator;
    emu_i128 denominator;
};

static emu_u128 magnitude(emu_i128 x)
{
    return x < 0 ? -(emu_u128)x : (emu_u128)x;
}

static emu_u128 gcd(emu_u128 a, emu_u128 b)
{
    while (b) {
        emu_u128 rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

static enum emu_status settle(struct wide w, struct emu_rational *out)
{
    if (w.denominator == 0)
        return EMU_EINVAL;
    bool negative = (w.numerator < 0) != (w.denominator < 0);
    emu_u128 n = magnitude(w.numerator);
    emu_u128 d = magnitude(w.denominator);
    emu_u128 common = gcd(n, d);
    n /= common;
    d /= common;
    if (n > (emu_u128)INT64_MAX || d > (emu_u128)INT64_MAX)
        return EMU_ERANGE;
    *out = (struct emu_rational){negative ? -(int64_t)n : (int64_t)n, (int64_t)d};
    return EMU_OK;
}

enum emu_status emu_rational_make(int64_t numerator, int64_t denominator, struct emu_rational *out)
{
    return settle((struct wide){numerator, denominator}, out);
}

/* a.n * b.d +- b.n * a.d: each product is below 2^126, so the sum fits. */
enum emu_status emu_rational_add(struct emu_rational a, struct emu_rational b,
                                 struct emu_rational *out)
{
    return settle(
        (struct wide){(emu_i128)a.numerator * b.denominator + (emu_i128)b.numerator * a.denominator,
                      (emu_i128)a.denominator * b.denominator},
        out);
}

enum emu_status emu_rational_sub(struct emu_rational a, struct emu_rational b,
                                 struct emu_rational *out)
{
    return settle(
        (struct wide){(emu_i128)a.numerator * b.denominator - (emu_i128)b.numerator * a.denominator,
                      (emu_i128)a.denominator * b.denominator},
        out);
}

enum emu_status emu_rational_mul(struct emu_rational a, struct emu_rational b,
                                 struct emu_rational *out)
{
    return settle(
        (struct wide){(emu_i128)a.numerator * b.numerator, (emu_i128)a.denominator * b.denominator},
        out);
}

enum emu_status emu_rational_div(struct emu_rational a, struct emu_rational b,
                                 struct emu_rational *out)
{
    return settle(
        (struct wide){(emu_i128)a.numerator * b.denominator, (emu_i128)a.denominator * b.numerator},
        out);
}

int emu_rational_compare(struct emu_rational a, struct emu_rational b)
{
    emu_i128 left = (emu_i128)a.numerator * b.denominator;
    emu_i128 right = (emu_i128)b.numerator * a.denominator;
    return (left > right) - (left < right);
}

bool emu_rational_equal(struct emu_rational a, struct emu_rational b)
{
    return a.numerator == b.numerator && a.denominator == b.denominator;
}

double emu_rational_f64(struct emu_rational a)
{
    return (double)a.numerator / (double)a.denominator;
}

const char *emu_rational_text(struct emu_rational a, char out[EMU_RATIONAL_TEXT_MAX])
{
    if (a.denominator == 1)
        snprintf(out, EMU_RATIONAL_TEXT_MAX, "%" PRId64, a.numerator);
    else
        snprintf(out, EMU_RATIONAL_TEXT_MAX, "%" PRId64 "/%" PRId64, a.numerator, a.denominator);
    return out;
}

static uint64_t to_element(int64_t n)
{
    uint64_t size = emu_field_reduce(n < 0 ? (uint64_t)0 - (uint64_t)n : (uint64_t)n);
    return n < 0 ? emu_field_negate(size) : size;
}

enum emu_status emu_rational_to_field(struct emu_rational a, uint64_t *out)
{
    uint64_t denominator = to_element(a.denominator);
    if (denominator == 0)
        return EMU_EINVAL;
    *out = emu_field_mul(to_element(a.numerator), emu_field_inverse(denominator));
    return EMU_OK;
}

enum emu_status emu_rational_from_field(uint64_t element, struct emu_rational *out)
{
    const int64_t most = INT64_C(1073741823); /* floor(sqrt((2^61 - 1) / 2)) */
    int64_t rest[2] = {(int64_t)EMU_FIELD_PRIME, (int64_t)element};
    int64_t factor[2] = {0, 1}; /* rest[i] = factor[i] * element modulo the prime */
    while (rest[1] > most) {
        int64_t quotient = rest[0] / rest[1];
        int64_t next_rest = rest[0] - quotient * rest[1];
        int64_t next_factor = factor[0] - quotient * factor[1];
        rest[0] = rest[1];
        rest[1] = next_rest;
        factor[0] = factor[1];
        factor[1] = next_factor;
    }
    if (factor[1] > most || factor[1] < -most)
        return EMU_ENOTFOUND;
    return emu_rational_make(rest[1], factor[1], out);
}
