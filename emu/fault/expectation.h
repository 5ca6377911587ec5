/* Who may catch a fault, and whom must the finding name? From the plan and the address alone, never
 * from what the checks found.
 */
#ifndef EMU_FAULT_EXPECTATION_H
#define EMU_FAULT_EXPECTATION_H

#include "fault/fault.h"

struct emu_fault_expectation {
    const char *skip; /* why the fault does not apply to this plan; NULL: it does */
    bool quiet;       /* it must raise no fault at all */
    uint64_t classes; /* bits of the classes, any of which is right */
    bool names_rank;  /* the culprits hold `rank`; or none is named and it is in the group */
    uint32_t rank;
    uint64_t nameless;  /* bits of classes whose finding may name no rank all the same */
    bool any_of_source; /* or one that works on the same tokens as `rank`, on any stage */
    bool names_source;  /* the coefficient of `source` is the odd one */
    uint32_t source;
    uint32_t axes;         /* of the mesh, as bits, that the finding names */
    const char *parameter; /* glob that the finding's parameter matches; NULL: any */
};

/* expectation->parameter points into the fault. */
void emu_fault_expect(const struct emu_fault *fault, const struct emu_plan *plan,
                      struct emu_fault_expectation *expectation);

/* Is this finding the diagnosis that was expected? Class, and culprit by name. */
bool emu_fault_class_right(const struct emu_fault_expectation *expectation,
                           const struct emu_finding *finding);
bool emu_fault_culprit_right(const struct emu_fault_expectation *expectation,
                             const struct emu_plan *plan, const struct emu_finding *finding);

#endif
