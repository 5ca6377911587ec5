/* How do faults of processes, calls and payloads act on a rank? As one layer of its stack, between
 * the recorder of what was asked and the recorder of what goes over the wire.
 *
 *     asked-recorder -> faults -> wire-recorder -> backend
 *
 * A call carries at most one fault that changes it or its bytes; a second one takes the next call
 * that suits it. A fault that acts by process may come on top.
 */
#ifndef EMU_FAULT_FAULT_FILTER_H
#define EMU_FAULT_FAULT_FILTER_H

#include "comm/rank.h"
#include "fault/fault_set.h"

/* Put the layer on this rank; nothing is put where no fault of the set needs it. The set is
 * borrowed as long as the rank lives. EMU_ENOMEM. */
EMU_MUST_CHECK enum emu_status emu_fault_filter_push(struct emu_rank *rank,
                                                     const struct emu_fault_set *set);

#endif
