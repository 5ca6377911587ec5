/* How are counts kept exact? 128-bit integers that stick at "too large" instead of wrapping.
 *
 * A count that reached EMU_EXACT_FULL stays there under additions and products with anything but
 * zero; whoever divides, subtracts or prints asks emu_exact_fits first. A report holds nothing
 * above 2^63-1: a JSON reader that knows 64 bits with a sign must get every integer whole.
 */
#ifndef EMU_ACCOUNT_EXACT_H
#define EMU_ACCOUNT_EXACT_H

#include "base/wide.h"

#include <stdbool.h>
#include <stdint.h>

#define EMU_EXACT_FULL (~(emu_u128)0)

static inline emu_u128 emu_exact_add(emu_u128 a, emu_u128 b)
{
    return a > EMU_EXACT_FULL - b ? EMU_EXACT_FULL : a + b;
}

static inline emu_u128 emu_exact_mul(emu_u128 a, emu_u128 b)
{
    return a && b > EMU_EXACT_FULL / a ? EMU_EXACT_FULL : a * b;
}

/* true: small enough for a report, and for products with a world (2^31), bytes (2^10) and a few
 * more factors that together stay below 2^64. */
static inline bool emu_exact_fits(emu_u128 a)
{
    return a <= (emu_u128)INT64_MAX;
}

static inline emu_u128 emu_exact_ceil(emu_u128 a, emu_u128 b)
{
    return a / b + (a % b != 0);
}

#endif
