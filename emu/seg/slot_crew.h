/* How many members of a slot have come to a turn of it? See slot.h for crews, their words and what
 * may be counted in one counter.
 */
#ifndef EMU_SEG_SLOT_CREW_H
#define EMU_SEG_SLOT_CREW_H

#include "seg/slot.h"

/* One more has come to a turn (one of enum emu_turn, of deposits and consumptions the parity of the
 * round added) for the time-th time, from 1; true: it was the last of all. Who completes its crew
 * counts for it. order: acq_rel, from each who came to who comes last. */
bool emu_slot_crew_come(const struct emu_ring *ring, uint64_t index, uint32_t member, unsigned turn,
                        uint64_t time);

/* Have all? order: acquire. */
bool emu_slot_crew_have_come(const struct emu_ring *ring, uint64_t index, unsigned turn,
                             uint64_t time);

/* Has anybody announced? */
bool emu_slot_crew_is_used(const struct emu_ring *ring, uint64_t index);

/* All counters are 0 again. Caller: who departed last; the change of the word that follows
 * publishes it. */
void emu_slot_crew_start_over(const struct emu_ring *ring, uint64_t index);

#endif
