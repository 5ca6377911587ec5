/* Does a mean of means over the sources weigh any token wrongly in this step? Only where they hold
 * unequal numbers of valid tokens. */
#ifndef EMU_RUN_CAMPAIGN_TOKENS_H
#define EMU_RUN_CAMPAIGN_TOKENS_H

#include "plan/plan.h"
#include "train/corpus.h"

/* Valid tokens of a source in a step (from 1). corpus: NULL with inline tokens. */
uint64_t emu_campaign_tokens(const struct emu_plan *plan, const struct emu_corpus *corpus,
                             uint64_t step, uint32_t source);

/* Do all sources that hold any hold the same number? */
bool emu_campaign_tokens_equal(const struct emu_plan *plan, const struct emu_corpus *corpus,
                               uint64_t step);

#endif
