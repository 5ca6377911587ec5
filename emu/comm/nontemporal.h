/* How are outputs that no cache would keep written? Past it, where the processor can: a store that
 * need not read the line first saves a third of the traffic of a copy. Elsewhere it is memcpy. */
#ifndef EMU_COMM_NONTEMPORAL_H
#define EMU_COMM_NONTEMPORAL_H

#include <stdint.h>

/* The two do not overlap, or are the same place. Any alignment. */
void emu_nontemporal_copy(void *to, const void *from, uint64_t bytes);

/* After the last copy, before others are told: these stores obey no release otherwise. */
void emu_nontemporal_finish(void);

#endif
