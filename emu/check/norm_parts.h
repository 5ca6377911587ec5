/* Which mistake on the way to the norm gives the norms that the ranks have?
 *
 * Each rank counts the squares of what it keeps of each parameter, and these are summed over the
 * ranks that keep other parts: over the shard group where gradients are divided, over tp and pp.
 * Tried in turn: that the sum over some of these axes was left out, that it was an average, that a
 * rank counted other squares of a parameter than it holds.
 */
#ifndef EMU_CHECK_NORM_PARTS_H
#define EMU_CHECK_NORM_PARTS_H

#include "base/text.h"
#include "check/audit.h"

/* Append the reason to `why` and note axes, or parameters and culprits, in the finding; false: none
 * of these. wanted: the right norm; tolerance: how far two sums of the same squares may be apart,
 * as a part of their root. */
bool emu_norm_tell(const struct emu_evidence *evidence, double wanted, double tolerance,
                   struct emu_finding *finding, struct emu_text *why);

#endif
