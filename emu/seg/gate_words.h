/* How do ranks and launcher meet between two steps? The gate in the segment.
 *
 *   0    bell       futex word of the auditor: a counter
 *   64   answer     futex word of the ranks: bits 0, 1 as in words.h, 2-3 verdict, 4-31 step
 *   128  arrivals   of all ranks in all steps
 *   192  arrived    one line a rank: the last step it arrived at
 *
 * word       writers    readers   order            publishes               a stale read costs
 * bell       any        auditor   release/acquire  arrivals, failures      nothing: kernel compares
 * answer     auditor    ranks     acq_rel          what the auditor did    nothing: kernel compares
 * arrivals   ranks, +1  auditor   acq_rel          what the ranks did      one more look
 * arrived    the rank   auditor   release/acquire  nothing                 see below
 *
 * `arrived` is written after the arrival was counted. A rank that dies in between is reported as
 * gone although it arrived, unless all had: never is a dead rank waited for.
 */
#ifndef EMU_SEG_GATE_WORDS_H
#define EMU_SEG_GATE_WORDS_H

#include "seg/gate.h"
#include "seg/header.h"

#include <stdatomic.h>

struct emu_gate_line {
    alignas(EMU_LINE) _Atomic uint64_t step;
};

struct emu_gate {
    _Atomic uint32_t bell;
    alignas(EMU_LINE) _Atomic uint32_t answer;
    alignas(EMU_LINE) _Atomic uint64_t arrivals;
    struct emu_gate_line arrived[];
};
_Static_assert(sizeof(struct emu_gate) == 192, "three lines, then one a rank");

uint64_t emu_gate_bytes(uint32_t world);

/* Make the auditor look again: a rank is gone, or the run was ended. Also from a signal handler. */
void emu_gate_ring(const struct emu_segment *segment);

/* Last step at which this rank arrived. */
uint64_t emu_gate_arrived(const struct emu_segment *segment, uint32_t rank);

#endif
