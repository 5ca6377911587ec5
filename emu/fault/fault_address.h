/* Is this the call that a fault means? */
#ifndef EMU_FAULT_FAULT_ADDRESS_H
#define EMU_FAULT_FAULT_ADDRESS_H

#include "comm/rank.h"
#include "fault/fault.h"

/* Where a rank stands in its program. */
struct emu_fault_place {
    uint64_t step;    /* training step, 0 before the first and where there are none */
    uint64_t in_step; /* calls begun in it before this one */
    uint64_t in_run;  /* calls begun before this one */
};

/* Rank, step, call, label and group. */
bool emu_fault_means_call(const struct emu_fault *fault, const struct emu_rank *rank,
                          const struct emu_fault_place *place, const struct emu_call *call);

/* Can a fault of this kind act on such a call at all? Whether a rewrite says something else than
 * what was asked is known by emu_call_rewrite alone. */
bool emu_fault_suits_call(const struct emu_fault *fault, const struct emu_rank *rank,
                          const struct emu_call *call);

/* Elements of the caller's input, and of its output, on this rank. */
uint64_t emu_call_input_elements(const struct emu_rank *rank, const struct emu_call *call);
uint64_t emu_call_output_elements(const struct emu_rank *rank, const struct emu_call *call);

#endif
