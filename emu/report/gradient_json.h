/* The "gradients" of a run's JSON report: whole logical gradients with their coefficients. */
#ifndef EMU_REPORT_GRADIENT_JSON_H
#define EMU_REPORT_GRADIENT_JSON_H

#include "check/gradient_copies.h"
#include "report/json_writer.h"

/* One object: parameter name -> value, coefficients and, where ranks differ, copies. */
void emu_gradients_to_json(const struct emu_plan *plan, const struct emu_gradient_view *views,
                           struct emu_json *json);

#endif
