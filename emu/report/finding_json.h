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

/* All of them as one array. */
void emu_findings_to_json(const struct emu_findings *findings, const struct emu_roster *roster,
                          struct emu_json *json);

/* {"dp": 0, "tp": 1}; null for a rank outside the mesh. */
void emu_coordinate_to_json(const struct emu_mesh *mesh, uint32_t rank, struct emu_json *json);

#endif
