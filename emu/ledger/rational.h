/* What is a factor or a coefficient exactly? Fractions of 64-bit integers that refuse to overflow.
 *
 * Invariant: denominator > 0, greatest common divisor 1, zero is 0/1. Pure, allocates nothing.
 */
#ifndef EMU_LEDGER_RATIONAL_H
#define EMU_LEDGER_RATIONAL_H

#include <meshemu/status.h>

#include <stdbool.h>
#include <stdint.h>

#define EMU_RATIONAL_TEXT_MAX 48

struct emu_rational {
    int64_t numerator;
    int64_t denominator;
};

static inline struct emu_rational emu_rational_whole(int64_t n)
{
    return (struct emu_rational){n, 1};
}

/* numerator / denominator in lowest terms. EMU_EINVAL: denominator 0; EMU_ERANGE: does not fit. */
EMU_MUST_CHECK enum emu_status emu_rational_make(int64_t numerator, int64_t denominator,
                                                 struct emu_rational *out);

/* a + b, a - b, a * b; a / b is EMU_EINVAL where b is 0. EMU_ERANGE where the result in lowest
 * terms does not fit; *out is untouched then. */
EMU_MUST_CHECK enum emu_status emu_rational_add(struct emu_rational a, struct emu_rational b,
                                                struct emu_rational *out);
EMU_MUST_CHECK enum emu_status emu_rational_sub(struct emu_rational a, struct emu_rational b,
                                                struct emu_rational *out);
EMU_MUST_CHECK enum emu_status emu_rational_mul(struct emu_rational a, struct emu_rational b,
                                                struct emu_rational *out);
EMU_MUST_CHECK enum emu_status emu_rational_div(struct emu_rational a, struct emu_rational b,
                                                struct emu_rational *out);

/* -1, 0, 1 as a is below, equal to or above b. */
int emu_rational_compare(struct emu_rational a, struct emu_rational b);
bool emu_rational_equal(struct emu_rational a, struct emu_rational b);

/* Correctly rounded where numerator and denominator are below 2^53. */
double emu_rational_f64(struct emu_rational a);

/* "1/4", "-3", "0". Returns out. */
const char *emu_rational_text(struct emu_rational a, char out[EMU_RATIONAL_TEXT_MAX]);

/* Element of the field modulo 2^61-1 that stands for a. EMU_EINVAL where the denominator is a
 * multiple of the prime. */
EMU_MUST_CHECK enum emu_status emu_rational_to_field(struct emu_rational a, uint64_t *out);

/* The one fraction with |numerator| and denominator at most sqrt(p/2), about 1.07e9, that stands
 * for this element (rational reconstruction: P. Wang, 1981; half-extended Euclid). EMU_ENOTFOUND
 * where there is none so small. */
EMU_MUST_CHECK enum emu_status emu_rational_from_field(uint64_t element, struct emu_rational *out);

#endif
