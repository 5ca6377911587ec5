#include "report/mesh_parts_json.h"

void emu_mesh_axes_to_json(const struct emu_mesh *mesh, struct emu_json *json)
{
    emu_json_key(json, "axes");
    emu_json_array_begin(json);
    for (uint32_t i = 0; i < mesh->axis_count; i++) {
        emu_json_object_begin(json);
        emu_json_put_string(json, "name", mesh->axes[i].name);
        emu_json_put_u64(json, "size", mesh->axes[i].size);
        emu_json_object_end(json);
    }
    emu_json_array_end(json);
    emu_json_put_u64(json, "world", mesh->world);
}

void emu_mesh_to_json(const struct emu_mesh *mesh, struct emu_json *json)
{
    emu_json_key(json, "mesh");
    emu_json_object_begin(json);
    emu_mesh_axes_to_json(mesh, json);
    emu_json_object_end(json);
}

void emu_coordinate_to_json(const struct emu_mesh *mesh, uint32_t rank, struct emu_json *json)
{
    if (rank >= mesh->world) {
        emu_json_null(json);
        return;
    }
    uint32_t coords[EMU_MESH_MAX_AXES];
    emu_mesh_coords(mesh, rank, coords);
    emu_json_object_begin(json);
    for (uint32_t i = 0; i < mesh->axis_count; i++)
        emu_json_put_u64(json, mesh->axes[i].name, coords[i]);
    emu_json_object_end(json);
}

static void put_ranks(const struct emu_job_result *job, const struct emu_mesh *mesh,
                      struct emu_json *json)
{
    emu_json_key(json, "ranks");
    emu_json_array_begin(json);
    for (uint32_t rank = 0; rank < mesh->world && !json->failed; rank++) {
        emu_json_object_begin(json);
        emu_json_put_u64(json, "rank", rank);
        emu_json_key(json, "pid");
        if (job->ranks)
            emu_json_i64(json, job->ranks[rank].pid);
        else
            emu_json_null(json);
        emu_json_key(json, "coordinate");
        emu_coordinate_to_json(mesh, rank, json);
        emu_json_object_end(json);
    }
    emu_json_array_end(json);
}

static void put_time(const struct emu_job_result *job, struct emu_json *json)
{
    emu_json_key(json, "time");
    emu_json_object_begin(json);
    emu_json_put_u64(json, "start_ns", job->forked_ns);
    emu_json_put_u64(json, "total_ns", job->total_ns);
    emu_json_put_bool(json, "interrupted", job->interrupted);
    emu_json_object_end(json);
}

void emu_job_to_json(const struct emu_job_result *job, const struct emu_mesh *mesh,
                     struct emu_json *json)
{
    put_ranks(job, mesh, json);
    put_time(job, json);
}
