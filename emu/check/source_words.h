/* How is a set of sources named in few words? "microbatches 0 and 1 of every rank", "dp=1". */
#ifndef EMU_CHECK_SOURCE_WORDS_H
#define EMU_CHECK_SOURCE_WORDS_H

#include "base/text.h"
#include "plan/plan.h"

/* in: the members, one flag a source; tokens: valid tokens of each; a source without any may be in
 * the set or not. Sets that are a choice of dp, cp and microbatches are named by these, others by
 * their first members. */
void emu_sources_words(struct emu_text *out, const struct emu_plan *plan, const bool *in,
                       const uint64_t *tokens);

#endif
