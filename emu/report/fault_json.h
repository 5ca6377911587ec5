/* Which faults were asked for, and how often did each act? Alike in every command. */
#ifndef EMU_REPORT_FAULT_JSON_H
#define EMU_REPORT_FAULT_JSON_H

#include "check/outcome.h"
#include "report/json_writer.h"

/* "faults": [{"fault", "fired"}, ...] into the object that is open. */
void emu_faults_to_json(const struct emu_fault_told *faults, size_t count, struct emu_json *json);

#endif
