/* Which small fraction is a factor between two numbers, and which size of the mesh explains it? */
#ifndef EMU_CHECK_RATIO_H
#define EMU_CHECK_RATIO_H

#include "base/text.h"
#include "plan/plan.h"

#include <stdbool.h>
#include <stdint.h>

#define EMU_RATIO_MOST 64 /* largest denominator that is taken for a fraction */

struct emu_ratio {
    int64_t top, bottom; /* lowest terms, bottom > 0 */
};

/* The simplest fraction within `tolerance` (relative) of x, by continued fraction (convergents of
 * x, e.g. Hardy and Wright, "An Introduction to the Theory of Numbers", chapter X). false: none
 * with bottom <= EMU_RATIO_MOST. */
bool emu_ratio_near(double x, double tolerance, struct emu_ratio *ratio);

/* "2", "1/3". */
void emu_ratio_text(struct emu_text *out, struct emu_ratio ratio);

/* Append "2 = size of tp, or microbatches": every axis size, microbatch count, and product or
 * quotient of two of them that equals the ratio. Nothing where none does or the ratio is 1. */
void emu_ratio_explain(struct emu_text *out, const struct emu_plan *plan, struct emu_ratio ratio);

#endif
