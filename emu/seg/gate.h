/* How do ranks and launcher agree that a step has ended and the next one may begin?
 *
 * A gate counts. Ranks post arrivals and wait for the launcher's answer; the launcher's auditor
 * waits until all living ranks have arrived, looks at their records and arenas (nobody writes
 * there now), and answers. One gate serves all steps: step numbers only grow.
 *
 * Order: all that a rank did before emu_gate_arrive is visible to the auditor after
 * emu_gate_all_arrived; all that the auditor did before emu_gate_answer is visible to the ranks.
 */
#ifndef EMU_SEG_GATE_H
#define EMU_SEG_GATE_H

#include "seg/segment.h"

#include <meshemu/status.h>

#include <stdbool.h>
#include <stdint.h>

enum emu_gate_verdict { EMU_GATE_GO_ON = 1, EMU_GATE_STOP = 2 };

/* Rank: step `step` (1, 2, ...) is done; wait for the answer. EMU_OK with *verdict, EMU_EABORTED.
 */
EMU_MUST_CHECK enum emu_status emu_gate_pass(const struct emu_segment *segment, uint32_t rank,
                                             uint64_t step, enum emu_gate_verdict *verdict);

/* Auditor: wait until every rank has arrived at step. EMU_OK; EMU_EABORTED; EMU_EPEER: a rank
 * failed or ended and will not arrive. */
EMU_MUST_CHECK enum emu_status emu_gate_all_arrived(const struct emu_segment *segment,
                                                    uint64_t step);

/* Auditor: let the ranks go on from step. */
void emu_gate_answer(const struct emu_segment *segment, uint64_t step,
                     enum emu_gate_verdict verdict);

#endif
