/* How does a finding look in JSON reports? One shape for every command.
 *
 * Strings that a finding does not have are null, lists are empty. A call shows the arguments that
 * mean something for its kind alone.
 */
#ifndef EMU_REPORT_FINDING_JSON_H
#define EMU_REPORT_FINDING_JSON_H

#include "mesh/roster.h"
#include "report/json_writer.h"

#include <meshemu/finding.h>

void emu_finding_to_json(const struct emu_finding *finding, const struct emu_roster *roster,
                         struct emu_json *json);

/* A call: kind, group or peer and tag, index, and the arguments that its kind uses. In an object
 * that is open already. */
void emu_call_to_json(const struct emu_call_view *call, struct emu_json *json);

/* All of them as one array. */
void emu_findings_to_json(const struct emu_findings *findings, const struct emu_roster *roster,
                          struct emu_json *json);

#endif
