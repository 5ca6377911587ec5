/* Who looks at the records after each step, and lets the ranks go on?
 *
 * The auditor runs in a thread of the launcher. At every gate it reads the records and arenas of
 * all ranks, runs the checks that are due, notes the step, loads the oracle with the state that
 * the next step starts from, and answers. While the ranks compute a step it computes the oracle's.
 */
#ifndef EMU_RUN_AUDITOR_H
#define EMU_RUN_AUDITOR_H

#include "run/hold_bell.h"
#include "run/training.h"
#include "seg/segment.h"
#include "train/corpus.h"

struct emu_auditor;

/* plan, corpus and options are borrowed. EMU_ENOMEM, EMU_ERANGE. */
EMU_MUST_CHECK enum emu_status emu_auditor_create(const struct emu_plan *plan,
                                                  const struct emu_corpus *corpus,
                                                  const struct emu_training_options *options,
                                                  struct emu_auditor **auditor);
void emu_auditor_destroy(struct emu_auditor *auditor);

/* Ring this bell at the first fault, before the ranks go on. Borrowed. */
void emu_auditor_hold_with(struct emu_auditor *auditor, struct emu_hold_bell *bell);

/* Serve all gates of the run; returns after the last step, the first faulty one (unless told to
 * keep going), or when the run broke. */
void emu_auditor_run(struct emu_auditor *auditor, const struct emu_segment *segment);

/* Hand over audit and steps to the result. */
void emu_auditor_take(struct emu_auditor *auditor, struct emu_training_result *result);

#endif
