/* How many calls has each member made on a group, of which one is missing?
 *
 * "calls on tp: 6 by ranks 2-4, 5 by rank 1": members with one number are told together, since
 * groups have thousands. Pure.
 */
#ifndef EMU_CHECK_CALL_COUNTS_H
#define EMU_CHECK_CALL_COUNTS_H

#include "check/scene.h"
#include "seg/incident.h"

/* Becomes the explanation of a finding that has its group; what a recorder has lost is "unknown".
 * Where memory runs out the numbers are left out. */
void emu_call_counts_explain(const struct emu_scene *scene, const struct emu_incident *incident,
                             struct emu_finding *finding);

#endif
