/* How is a fraction of any size kept exact? Natural numbers of any length, as many operations as
 * counting needs.
 *
 * Limbs of 32 bits, least first, no leading zero limb; zero has no limbs. Running out of memory
 * sets `failed`, after which the number means nothing: check once at the end. Zero-initialise.
 */
#ifndef EMU_ACCOUNT_NATURAL_H
#define EMU_ACCOUNT_NATURAL_H

#include "base/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct emu_natural {
    uint32_t *limbs; /* owned */
    size_t count, room;
    bool failed;
};

void emu_natural_finish(struct emu_natural *n);
void emu_natural_set(struct emu_natural *n, uint64_t value);
void emu_natural_copy(struct emu_natural *n, const struct emu_natural *from);

/* n *= factor; n /= divisor (not zero), the remainder is returned. */
void emu_natural_times(struct emu_natural *n, uint32_t factor);
uint32_t emu_natural_divide(struct emu_natural *n, uint32_t divisor);

/* n += other; n -= other (other <= n). */
void emu_natural_add(struct emu_natural *n, const struct emu_natural *other);
void emu_natural_subtract(struct emu_natural *n, const struct emu_natural *other);

bool emu_natural_is_zero(const struct emu_natural *n);
int emu_natural_compare(const struct emu_natural *a, const struct emu_natural *b);

/* Divide both by their greatest common divisor; b is not zero. Quadratic in the length. */
void emu_natural_reduce(struct emu_natural *a, struct emu_natural *b);

/* a / b to about 18 digits; b is not zero. */
double emu_natural_ratio(const struct emu_natural *a, const struct emu_natural *b);

/* Append in decimal. A failed number fails the text. */
void emu_natural_print(const struct emu_natural *n, struct emu_text *out);

#endif
