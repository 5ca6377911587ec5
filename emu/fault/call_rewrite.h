/* How does a call change that goes to the wrong place or says the wrong thing? */
#ifndef EMU_FAULT_CALL_REWRITE_H
#define EMU_FAULT_CALL_REWRITE_H

#include "comm/rank.h"
#include "fault/fault.h"

/* The call that the fault makes of `asked`. false: the fault does not suit this call (no root to be
 * wrong, no other group, what it would say is what was asked). */
bool emu_call_rewrite(const struct emu_fault *fault, const struct emu_rank *rank,
                      const struct emu_call *asked, struct emu_call *made);

/* A collective with others to talk to: groups of one move nothing. */
bool emu_call_meets_others(const struct emu_rank *rank, const struct emu_call *call);

#endif
