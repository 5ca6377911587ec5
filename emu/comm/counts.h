/* The how-manieth call of its group, or message of its pair, is this one? Each layer that numbers
 * calls counts for itself: above and below a fault filter the numbers differ. */
#ifndef EMU_COMM_COUNTS_H
#define EMU_COMM_COUNTS_H

#include "mesh/roster.h"

#include <meshemu/comm.h>

struct emu_counts {
    uint64_t families[EMU_ROSTER_MAX_FAMILIES]; /* a rank is in one group of each at most */
    uint64_t self;
    uint64_t *pairs; /* 2 * world: sends to, receives from; NULL until the first message. Owned */
};

/* Where the number of this call stands: take it, and add 1 once the call has begun. NULL: it has
 * none (a group or rank that does not exist, no memory); such calls are number 0. */
uint64_t *emu_counts_of(struct emu_counts *counts, const struct emu_rank *rank,
                        const struct emu_call *call);
void emu_counts_finish(struct emu_counts *counts);

#endif
