/* How does each rank come by its parameters before the first step?
 *
 * train.initial seed: every rank draws its blocks in place, alike everywhere.
 * train.initial broadcast: of the copies of a block on a stage the first draws, and broadcasts to
 * the others, which hold zeros until then; one call a tensor, in model order, labelled
 * "initial.NAME". What tp shards is copied over all axes but tp and pp, the rest over tp too. The
 * two ends of a tied table are two stages: each has its first copy.
 */
#ifndef EMU_PLAN_INITIAL_H
#define EMU_PLAN_INITIAL_H

#include "plan/plan.h"

/* Add the groups of the copies to the roster: plan->copy_family. */
EMU_MUST_CHECK enum emu_status emu_initial_groups(struct emu_plan *plan);

/* The family over which the tensor is broadcast; UINT32_MAX: it is drawn in place. */
uint32_t emu_initial_family(const struct emu_plan *plan, uint32_t tensor);

/* The group of the copies that this rank belongs to; false: there is no broadcast. */
bool emu_initial_group(const struct emu_plan *plan, uint32_t tensor, uint32_t rank,
                       uint32_t *group);

/* Does this rank draw its block of the tensor, or wait for it? */
bool emu_initial_draws(const struct emu_plan *plan, uint32_t tensor, uint32_t rank);

/* Calls that a rank makes before the first step; plan/traffic.h has their bytes. */
uint64_t emu_initial_calls(const struct emu_plan *plan, uint32_t rank);

#endif
