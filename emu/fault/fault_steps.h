/* How do faults of algebra and state act on a rank? They answer the questions of its training step
 * (plan/step_hooks.h).
 *
 * Without step= an algebraic fault acts in step 1, and without param= on the first gradient that is
 * asked about; skip_update and the data faults act in step 1 likewise. Faults that draw or load
 * parameters act before the first step, without param= on every tensor that they can change.
 */
#ifndef EMU_FAULT_FAULT_STEPS_H
#define EMU_FAULT_FAULT_STEPS_H

#include "fault/fault_set.h"
#include "plan/step_hooks.h"

/* One rank's side of it; private to its process. */
struct emu_fault_steps {
    const struct emu_fault_set *set; /* borrowed */
    const struct emu_plan *plan;     /* borrowed */
    struct emu_step_hooks hooks;     /* to hand to the trainer */
    struct {
        bool acted;
        uint32_t tensor; /* that it acted on first */
    } state[EMU_FAULTS_MAX];
};

/* The hooks point into `steps`, which must stay where it is. */
void emu_fault_steps_init(struct emu_fault_steps *steps, const struct emu_fault_set *set,
                          const struct emu_plan *plan);

/* Does the fault need more memory on a rank than the plan says? */
bool emu_fault_holds_whole(const struct emu_fault_set *set);

#endif
