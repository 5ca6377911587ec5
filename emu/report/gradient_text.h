/* The gradients of a run's last step as a person reads them: small parameters in full. */
#ifndef EMU_REPORT_GRADIENT_TEXT_H
#define EMU_REPORT_GRADIENT_TEXT_H

#include "base/text.h"
#include "check/gradient_copies.h"
#include "plan/plan.h"

/* For each tensor of the plan its name, and of at most eight elements the values and what share of
 * every source's gradient is in them; of a larger one its size. Where ranks hold different
 * gradients each copy is told with its ranks. views: one a tensor. */
void emu_gradients_to_text(const struct emu_plan *plan, const struct emu_gradient_view *views,
                           struct emu_text *out);

#endif
