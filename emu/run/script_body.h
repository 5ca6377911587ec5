/* What does a rank's process do with its part of a script?
 *
 * It walks through its ops. Calls go through emu_start and emu_wait; a call that is answered with
 * an error ends the program, and so does a mistake that only a run shows: a name waited for that is
 * not open, a negative count. Both are told as incidents, like a call that the backend refuses.
 */
#ifndef EMU_RUN_SCRIPT_BODY_H
#define EMU_RUN_SCRIPT_BODY_H

#include "run/script_results.h"

#include <meshemu/comm.h>

/* Bytes of buffers that the program of a rank may need at once; UINT64_MAX where they do not fit
 * in a number. */
uint64_t emu_script_buffer_bytes(const struct emu_script *script, uint32_t rank);

/* In the rank's process. Returns its exit code: that of an `exit`, 0 at the end of the program, the
 * status of the call that broke. */
int emu_script_perform(struct emu_rank *rank, const struct emu_script_results *results);

#endif
