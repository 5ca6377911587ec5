#include "report/script_json.h"

#include "report/finding_json.h"
#include "report/mesh_parts_json.h"

#include <inttypes.h>
#include <string.h>

static void put_group(struct emu_json *json, const struct emu_roster *roster, uint32_t id)
{
    struct emu_group group = emu_roster_group(roster, id);
    emu_json_array_begin(json);
    for (uint32_t i = 0; i < group.size && !json->failed; i++)
        emu_json_u64(json, emu_group_member(&group, i));
    emu_json_array_end(json);
}

/* What is in force; the program itself is the file. */
static void put_config(struct emu_json *json, const struct emu_script *script)
{
    emu_json_key(json, "config");
    emu_json_object_begin(json);
    emu_json_put_string(json, "file", script->name);
    emu_json_put_string(json, "semantics", script->buffered ? "buffered" : "strict");
    emu_json_key(json, "groups");
    emu_json_object_begin(json);
    for (uint32_t i = 0; i < script->roster.family_count; i++) {
        const struct emu_family *family = &script->roster.families[i];
        if (!family->members)
            continue;
        emu_json_key(json, family->name);
        put_group(json, &script->roster, family->first_group);
    }
    emu_json_object_end(json);
    emu_json_put_budget(json, "stall_after_ns", script->stall_after_ns);
    emu_json_put_budget(json, "stop_grace_ns", script->stop_grace_ns);
    emu_json_object_end(json);
}

static void put_value(struct emu_json *json, const struct emu_script_result *result)
{
    double real;
    int64_t whole;
    emu_json_key(json, "value");
    if (result->op->dtype == EMU_F64 || result->op->dtype == EMU_F32) {
        memcpy(&real, &result->bits, sizeof real);
        emu_json_f64(json, real);
    } else {
        memcpy(&whole, &result->bits, sizeof whole);
        emu_json_i64(json, whole);
    }
}

static void put_results(struct emu_json *json, const struct emu_script_outcome *outcome)
{
    emu_json_key(json, "results");
    emu_json_array_begin(json);
    for (uint64_t i = 0; i < outcome->result_count && !json->failed; i++) {
        const struct emu_script_result *result = &outcome->results[i];
        emu_json_object_begin(json);
        emu_json_put_u64(json, "rank", result->rank);
        emu_json_put_string(json, "op", result->op->name);
        emu_json_key(json, "group");
        if (result->group == EMU_GROUP_SELF)
            emu_json_null(json);
        else
            put_group(json, &outcome->script->roster, result->group);
        emu_json_put_u64(json, "index", result->index);
        put_value(json, result);
        emu_json_object_end(json);
    }
    emu_json_array_end(json);
}

/* The one check that a script has of its own: whether it needs its buffers. */
static void put_checks(struct emu_json *json, const struct emu_script_outcome *outcome)
{
    static const char *const words[] = {"skipped", "pass", "note", "skipped"};
    const struct emu_script_replay *replay = &outcome->replay;
    emu_json_key(json, "checks");
    emu_json_object_begin(json);
    if (outcome->script->buffered) {
        emu_json_key(json, "buffering");
        emu_json_object_begin(json);
        emu_json_put_string(json, "status", words[replay->verdict]);
        if (replay->verdict == EMU_REPLAY_NOT_MADE)
            emu_json_put_string(json, "why", "the run had a fault");
        else if (replay->verdict == EMU_REPLAY_TOO_LONG)
            emu_json_put_string(json, "why", "the program is too long to be replayed");
        emu_json_put_u64(json, "steps", replay->steps);
        emu_json_object_end(json);
    }
    emu_json_object_end(json);
}

static void put_repeats(struct emu_json *json, const struct emu_script_repeats *repeats)
{
    emu_json_key(json, "repeat");
    emu_json_object_begin(json);
    emu_json_put_u64(json, "asked", repeats->asked);
    emu_json_put_u64(json, "made", repeats->made);
    emu_json_put_u64(json, "shown", repeats->shown);
    emu_json_put_u64(json, "failed", repeats->failed);
    emu_json_put_bool(json, "differs", repeats->differs);
    emu_json_object_end(json);
}

void emu_script_to_json(const struct emu_script_outcome *outcome,
                        const struct emu_script_repeats *repeats, struct emu_json *json)
{
    emu_json_report_begin(json, "script");
    put_config(json, outcome->script);
    emu_mesh_to_json(&outcome->script->mesh, json);
    emu_json_put_string(json, "verdict", emu_script_passed(outcome) ? "pass" : "fail");
    emu_json_key(json, "findings");
    emu_findings_to_json(&outcome->findings, &outcome->script->roster, json);
    put_results(json, outcome);
    put_checks(json, outcome);
    emu_job_to_json(&outcome->job, &outcome->script->mesh, json);
    if (repeats)
        put_repeats(json, repeats);
    emu_json_put_string(json, "replay", outcome->replay_command);
    emu_json_object_end(json);
}

static void add_ranks(const uint32_t *ranks, size_t count, struct emu_text *out)
{
    for (size_t i = 0; i < count; i++)
        emu_text_printf(out, " %" PRIu32, ranks[i]);
    emu_text_putc(out, ';');
}

/* STRAGGLER, STALL and STOPPED notes are observations about time. */
static bool is_about_time(const struct emu_finding *finding)
{
    return finding->note &&
           (finding->class_id == EMU_CLASS_STRAGGLER || finding->class_id == EMU_CLASS_STALL ||
            finding->class_id == EMU_CLASS_STOPPED);
}

void emu_script_fingerprint(const struct emu_script_outcome *outcome, struct emu_text *out)
{
    for (size_t i = 0; i < outcome->findings.count; i++) {
        const struct emu_finding *finding = &outcome->findings.items[i];
        if (is_about_time(finding))
            continue;
        emu_text_printf(out, "%s %d %d", emu_class_name(finding->class_id), finding->note,
                        finding->undecided);
        add_ranks(finding->culprits, finding->culprit_count, out);
        add_ranks(finding->group, finding->group_size, out);
        emu_text_printf(out, "%" PRIu64 "\n", finding->has_index ? finding->index : UINT64_MAX);
    }
    for (uint64_t i = 0; i < outcome->result_count; i++) {
        const struct emu_script_result *result = &outcome->results[i];
        emu_text_printf(out, "%" PRIu32 " %" PRIu32 " %" PRIu64 " %" PRIx64 "\n", result->rank,
                        result->op->line, result->index, result->bits);
    }
}
