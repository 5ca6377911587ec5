/* What does a program read about a run? The whole JSON report of `meshemu run`. */
#ifndef EMU_REPORT_RUN_JSON_H
#define EMU_REPORT_RUN_JSON_H

#include "check/outcome.h"
#include "report/json_writer.h"

/* One complete document, but for emu_json_finish. Memory that runs out sets json->failed. */
void emu_run_to_json(const struct emu_training_result *result, struct emu_json *json);

#endif
