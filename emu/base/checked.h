/* Does a size still fit? Arithmetic on sizes that refuses instead of wrapping. */
#ifndef EMU_BASE_CHECKED_H
#define EMU_BASE_CHECKED_H

#include <stdbool.h>
#include <stdint.h>

/* *out = a + b or a * b; false, *out untouched, where the result does not fit in 64 bits. */
static inline bool emu_add_fits(uint64_t a, uint64_t b, uint64_t *out)
{
    uint64_t sum;
    if (__builtin_add_overflow(a, b, &sum))
        return false;
    *out = sum;
    return true;
}

static inline bool emu_mul_fits(uint64_t a, uint64_t b, uint64_t *out)
{
    uint64_t product;
    if (__builtin_mul_overflow(a, b, &product))
        return false;
    *out = product;
    return true;
}

/* n rounded up to a multiple of step (a power of two); false where that does not fit. */
static inline bool emu_round_up_fits(uint64_t n, uint64_t step, uint64_t *out)
{
    uint64_t raised;
    if (!emu_add_fits(n, step - 1, &raised))
        return false;
    *out = raised & ~(step - 1);
    return true;
}

#endif
