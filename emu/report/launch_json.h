/* What is the JSON report of a program of one's own (MESHEMU_JSON)?
 *
 *   { "meshemu", "schema", "command": "launch",
 *     "config": {"groups", "timeout_ns", "stall_after_ns", "stop_grace_ns", "keep_going"},
 *     "mesh", "verdict", "findings", "faults": [{"fault", "fired"}], "ranks", "time" }
 *
 * The parts that other commands have look as they do there. Times that were not given are null.
 */
#ifndef EMU_REPORT_LAUNCH_JSON_H
#define EMU_REPORT_LAUNCH_JSON_H

#include "check/outcome.h"
#include "mesh/roster.h"
#include "report/json_writer.h"

/* All borrowed. */
struct emu_launch_report {
    const struct emu_roster *roster;
    const struct emu_job_result *result;
    const char *groups;                                 /* as the program gave them; NULL: none */
    uint64_t timeout_ns, stall_after_ns, stop_grace_ns; /* 0: the default */
    bool keep_going;
    bool passed;
    const struct emu_fault_told *faults;
    size_t fault_count;
};

void emu_launch_to_json(const struct emu_launch_report *report, struct emu_json *json);

#endif
