/* How does a step of the oracle end before its time?
 *
 * A filter that refuses every call with EMU_EABORTED once the calling thread is halted (nn/halt.h),
 * so that the step returns at its next call. All other calls pass unchanged.
 */
#ifndef EMU_RUN_HALT_FILTER_H
#define EMU_RUN_HALT_FILTER_H

#include "comm/rank.h"

/* Put the filter on the rank's stack, which owns it from then on. EMU_ENOMEM. */
EMU_MUST_CHECK enum emu_status emu_halt_filter_push(struct emu_rank *rank);

#endif
