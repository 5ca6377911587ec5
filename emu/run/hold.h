/* How does a person get to look at the ranks at the moment of a fault (--stop-on-finding)?
 *
 * All living ranks are stopped, their pids printed, and the launcher waits for Enter on a terminal,
 * or for SIGCONT or an interrupt sent to it. Then the ranks go on, and the run with them. */
#ifndef EMU_RUN_HOLD_H
#define EMU_RUN_HOLD_H

#include "run/crew.h"

#include <meshemu/finding.h>

/* Returns SIGINT, SIGTERM or SIGHUP where one ended the wait, else 0. */
int emu_hold_ranks(struct emu_crew *crew, const struct emu_signals *signals,
                   const struct emu_finding *finding);

#endif
