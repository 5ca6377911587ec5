/* How are exact coefficients added up by the collectives? Integers modulo the prime p = 2^61 - 1.
 *
 * Invariant: every value is in canonical form, 0 <= x < p.
 */
#ifndef EMU_LEDGER_FIELD_H
#define EMU_LEDGER_FIELD_H

#include "base/wide.h"

#include <stdint.h>

#define EMU_FIELD_PRIME ((UINT64_C(1) << 61) - 1)

/* Canonical form of any 64-bit number. */
static inline uint64_t emu_field_reduce(uint64_t x)
{
    x = (x & EMU_FIELD_PRIME) + (x >> 61);
    return x >= EMU_FIELD_PRIME ? x - EMU_FIELD_PRIME : x;
}

/* a + b mod p, both canonical. */
static inline uint64_t emu_field_add(uint64_t a, uint64_t b)
{
    uint64_t sum = a + b;
    return sum >= EMU_FIELD_PRIME ? sum - EMU_FIELD_PRIME : sum;
}

/* a * b mod p, both canonical. */
static inline uint64_t emu_field_mul(uint64_t a, uint64_t b)
{
    emu_u128 product = (emu_u128)a * b;
    uint64_t low = (uint64_t)product & EMU_FIELD_PRIME;
    uint64_t high = (uint64_t)(product >> 61);
    return emu_field_reduce(low + high);
}

/* -a mod p, a canonical. */
static inline uint64_t emu_field_negate(uint64_t a)
{
    return a ? EMU_FIELD_PRIME - a : 0;
}

/* a^(p-2) mod p, the inverse of a canonical a != 0 (Fermat). */
static inline uint64_t emu_field_inverse(uint64_t a)
{
    uint64_t result = 1;
    for (uint64_t exponent = EMU_FIELD_PRIME - 2; exponent; exponent >>= 1) {
        if (exponent & 1)
            result = emu_field_mul(result, a);
        a = emu_field_mul(a, a);
    }
    return result;
}

#endif
