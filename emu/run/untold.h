/* Which call broke without anybody having told the launcher yet?
 *
 * The member that decides a call first publishes the decision and then appends the incident.
 * Another member may have seen the decision, returned and exited in between, and the teller may
 * have died there. So when a rank leaves after a call that was answered with an error, the launcher
 * looks at the group itself. */
#ifndef EMU_RUN_UNTOLD_H
#define EMU_RUN_UNTOLD_H

#include "check/scene.h"
#include "seg/incident.h"

#include <stdbool.h>

/* The incident that answers the last refused call of the rank; false: it had none on a group. */
bool emu_untold_incident(const struct emu_segment *segment, const struct emu_rank_seen *seen,
                         uint32_t rank, struct emu_incident *incident);

#endif
