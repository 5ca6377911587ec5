#include "report/launch_json.h"

#include "report/fault_json.h"
#include "report/finding_json.h"
#include "report/mesh_parts_json.h"

static void put_config(const struct emu_launch_report *report, struct emu_json *json)
{
    emu_json_key(json, "config");
    emu_json_object_begin(json);
    emu_json_put_string(json, "groups", report->groups ? report->groups : "");
    emu_json_put_budget(json, "timeout_ns", report->timeout_ns);
    emu_json_put_budget(json, "stall_after_ns", report->stall_after_ns);
    emu_json_put_budget(json, "stop_grace_ns", report->stop_grace_ns);
    emu_json_put_bool(json, "keep_going", report->keep_going);
    emu_json_object_end(json);
}

void emu_launch_to_json(const struct emu_launch_report *report, struct emu_json *json)
{
    emu_json_report_begin(json, "launch");
    put_config(report, json);
    emu_mesh_to_json(report->roster->mesh, json);
    emu_json_put_string(json, "verdict", report->passed ? "pass" : "fail");
    emu_json_key(json, "findings");
    emu_findings_to_json(&report->result->findings, report->roster, json);
    emu_faults_to_json(report->faults, report->fault_count, json);
    emu_job_to_json(report->result, report->roster->mesh, json);
    emu_json_object_end(json);
}
