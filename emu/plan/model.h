/* Which parameters does a model have, and which configs can be run? Parts of emu_plan_create. */
#ifndef EMU_PLAN_MODEL_H
#define EMU_PLAN_MODEL_H

#include "plan/plan.h"

/* Fill plan->tensors for plan->config->model. EMU_ENOMEM.
 *
 * mlp_lm, in this order: embed.weight (256, E); per layer norm.weight (w), up.weight (H, w),
 * up.bias (H), down.weight (E, H), down.bias (E) with w = context*E in layer 0 and E after;
 * head.weight (256, E) unless tied. Weights are drawn uniformly in +-1/sqrt(inputs), norms are
 * ones, biases zeros. */
EMU_MUST_CHECK enum emu_status emu_plan_tensors(struct emu_plan *plan);

/* false, with one message for each reason, where the config cannot be run. */
bool emu_plan_runnable(const struct emu_config *config, struct emu_text *diagnostics);

#endif
