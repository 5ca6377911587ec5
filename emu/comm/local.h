/* What does a collective do in a group of one? It copies; every op over one member is the value
 * itself. Both backends use this, so groups of one behave alike in both. */
#ifndef EMU_COMM_LOCAL_H
#define EMU_COMM_LOCAL_H

#include <meshemu/comm.h>

/* The call has passed emu_call_check with a group of one. */
void emu_local_collective(const struct emu_call *call);

#endif
