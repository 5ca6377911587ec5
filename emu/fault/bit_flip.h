/* How does one bit of one element change? */
#ifndef EMU_FAULT_BIT_FLIP_H
#define EMU_FAULT_BIT_FLIP_H

#include "fault/fault.h"

#include <meshemu/comm.h>

/* Some elements of a buffer of a call: those from `first` on, `count` of them. */
struct emu_elements {
    unsigned char *bytes; /* of element `first` */
    uint64_t first, count;
    enum emu_dtype dtype;
};

/* Does the fault mean one of these elements? Without `element` it means the largest of them. */
bool emu_flip_hits(const struct emu_fault *fault, const struct emu_elements *elements);

/* Flip the bit of flip_*, or write the NaN. Only where it hits. Without `bit` it is the highest bit
 * of a mantissa (half or once and a half the value; of a zero, the highest of the exponent), the
 * lowest of an integer. */
void emu_flip_apply(const struct emu_fault *fault, const struct emu_elements *elements);

#endif
