#include "fault/bit_flip.h"

#include <math.h>
#include <string.h>

static double value_at(const struct emu_elements *elements, uint64_t i)
{
    double f64;
    float f32;
    const unsigned char *at = elements->bytes + i * emu_dtype_bytes(elements->dtype);
    switch (elements->dtype) {
    case EMU_F64:
        memcpy(&f64, at, sizeof f64);
        return f64;
    case EMU_F32:
        memcpy(&f32, at, sizeof f32);
        return (double)f32;
    default: /* one integer is as good as another */
        return 0;
    }
}

static uint64_t largest(const struct emu_elements *elements)
{
    uint64_t best = 0;
    for (uint64_t i = 1; i < elements->count; i++)
        if (fabs(value_at(elements, i)) > fabs(value_at(elements, best)))
            best = i;
    return best;
}

bool emu_flip_hits(const struct emu_fault *fault, const struct emu_elements *elements)
{
    uint64_t meant = emu_fault_number(fault, EMU_KEY_ELEMENT, elements->first);
    return meant >= elements->first && meant - elements->first < elements->count;
}

static unsigned default_bit(enum emu_dtype dtype, bool zero)
{
    switch (dtype) {
    case EMU_F64:
        return zero ? 62 : 51;
    case EMU_F32:
        return zero ? 30 : 22;
    default:
        return 0;
    }
}

static void write_nan(unsigned char *at, enum emu_dtype dtype)
{
    const double f64 = NAN;
    const float f32 = NAN;
    if (dtype == EMU_F32)
        memcpy(at, &f32, sizeof f32);
    else
        memcpy(at, &f64, sizeof f64);
}

void emu_flip_apply(const struct emu_fault *fault, const struct emu_elements *elements)
{
    uint64_t bytes = emu_dtype_bytes(elements->dtype);
    uint64_t i = emu_fault_has(fault, EMU_KEY_ELEMENT)
                     ? fault->value[EMU_KEY_ELEMENT].number - elements->first
                     : largest(elements);
    unsigned char *at = elements->bytes + i * bytes;
    if (fault->kind == EMU_FAULT_NAN) {
        write_nan(at, elements->dtype);
        return;
    }
    bool zero = value_at(elements, i) == 0;
    uint64_t bit = emu_fault_number(fault, EMU_KEY_BIT, default_bit(elements->dtype, zero));
    bit %= 8 * bytes; /* the bytes of an element lie with the lowest first */
    at[bit / 8] ^= (unsigned char)(1U << bit % 8);
}
