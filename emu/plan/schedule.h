/* In which order does a pipeline stage run its microbatches?
 *
 * gpipe: all forwards, then all backwards. 1f1b (D. Narayanan et al., PipeDream, 2019; Megatron-LM,
 * 2021): pp - 1 - stage forwards to fill the pipeline, then forward and backward in turn, then the
 * backwards that are left. Both run backwards in the order of the microbatches, so that gradients
 * are accumulated in the same order. The example for 3 stages and 4 microbatches, 1f1b:
 *
 *   stage 0   F0 F1 F2 B0 F3 B1 B2 B3
 *   stage 1   F0 F1 B0 F2 B1 F3 B2 B3
 *   stage 2   F0 B0 F1 B1 F2 B2 F3 B3
 */
#ifndef EMU_PLAN_SCHEDULE_H
#define EMU_PLAN_SCHEDULE_H

#include "plan/plan.h"

struct emu_action {
    bool backward;
    uint32_t micro;
};

/* Action number i of a stage, i < 2 * microbatches. */
struct emu_action emu_schedule_action(const struct emu_plan *plan, uint32_t stage, uint32_t i);

/* Microbatches whose activations the stage holds at once, at most: their buffers are reused in
 * turn. */
uint32_t emu_schedule_in_flight(const struct emu_plan *plan, uint32_t stage);

#endif
