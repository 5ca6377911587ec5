#include "report/record_json.h"

#include "report/finding_json.h"
#include "report/mesh_parts_json.h"

static const char *state_of(const struct emu_recorded_call *call)
{
    if (call->ended_ns == 0)
        return "open";
    return call->status == EMU_OK ? "done" : emu_status_name(call->status);
}

static uint64_t since(uint64_t time_ns, uint64_t begun_ns)
{
    return time_ns > begun_ns ? time_ns - begun_ns : 0;
}

static void put_call(const struct emu_recorded_call *call, uint64_t begun_ns, struct emu_json *json)
{
    const struct emu_call_view *view = &call->call;
    emu_json_object_begin(json);
    emu_call_to_json(view, json);
    emu_json_put_u64(json, "bytes",
                     view->kind == EMU_BARRIER ? 0 : view->count * emu_dtype_bytes(view->dtype));
    emu_json_put_string(json, "state", state_of(call));
    emu_json_put_u64(json, "started_ns", since(call->started_ns, begun_ns));
    emu_json_key(json, "ended_ns");
    if (call->ended_ns)
        emu_json_u64(json, since(call->ended_ns, begun_ns));
    else
        emu_json_null(json);
    emu_json_object_end(json);
}

static void put_rank(const struct emu_job_result *result, const struct emu_mesh *mesh,
                     uint32_t rank, struct emu_json *json)
{
    const struct emu_job_record *record = &result->records[rank];
    const struct emu_job_rank *end = &result->ranks[rank];
    emu_json_object_begin(json);
    emu_json_put_u64(json, "rank", rank);
    emu_json_key(json, "coordinate");
    emu_coordinate_to_json(mesh, rank, json);
    emu_json_put_i64(json, end->signalled ? "signal" : "exit_code", end->code);
    emu_json_put_u64(json, "calls_begun", record->begun);
    emu_json_key(json, "calls");
    emu_json_array_begin(json);
    for (uint32_t i = 0; i < record->count && !json->failed; i++)
        put_call(&record->calls[i], result->begun_ns, json);
    emu_json_array_end(json);
    emu_json_object_end(json);
}

void emu_record_to_json(const struct emu_job_result *result, const struct emu_mesh *mesh,
                        const char *command, struct emu_json *json)
{
    json->line_depth = 4; /* a line for each call */
    emu_json_report_begin(json, command);
    emu_mesh_to_json(mesh, json);
    emu_json_key(json, "ranks");
    emu_json_array_begin(json);
    for (uint32_t rank = 0; rank < mesh->world && !json->failed; rank++)
        put_rank(result, mesh, rank, json);
    emu_json_array_end(json);
    emu_json_object_end(json);
}

enum emu_status emu_record_write(const struct emu_job_result *result, const struct emu_mesh *mesh,
                                 const char *command, struct emu_json_output *output,
                                 struct emu_text *error)
{
    struct emu_json json;
    if (!output->stream)
        return EMU_OK;
    emu_json_init_file(&json, output->stream);
    emu_record_to_json(result, mesh, command, &json);
    return emu_json_output_end(output, &json, error);
}
