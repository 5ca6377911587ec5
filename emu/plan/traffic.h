/* How many bytes will a rank send in a step, and over which groups?
 *
 * Predicted from the plan: the calls that a step must make, each at its stated cost (mesh/cost.h).
 * The traffic check holds them against what the recorder counted below all filters, to the byte.
 */
#ifndef EMU_PLAN_TRAFFIC_H
#define EMU_PLAN_TRAFFIC_H

#include "plan/plan.h"

struct emu_traffic_plan {
    uint64_t family[EMU_ROSTER_MAX_FAMILIES]; /* bytes of collectives, by family of the roster */
    uint64_t messages[EMU_MESH_MAX_AXES];     /* bytes of messages, by the axis they go along */
};

struct emu_traffic_plan emu_plan_traffic(const struct emu_plan *plan, uint32_t rank);

/* Likewise before the first step: the broadcasts of plan/initial.h. */
struct emu_traffic_plan emu_initial_traffic(const struct emu_plan *plan, uint32_t rank);

#endif
