/* Does a mean of means over the sources, or over cp slices, weigh any token wrongly in this step?
 * Only where they hold unequal numbers of valid tokens. */
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

/* Does a source hold none, or one of this microbatch any? */
bool emu_campaign_has_empty(const struct emu_plan *plan, const struct emu_corpus *corpus,
                            uint64_t step);
bool emu_campaign_micro_holds(const struct emu_plan *plan, const struct emu_corpus *corpus,
                              uint64_t step, uint32_t micro);

/* Do all cp coordinates hold the same number, over dp and microbatches? */
bool emu_campaign_slices_equal(const struct emu_plan *plan, const struct emu_corpus *corpus,
                               uint64_t step);

#endif
