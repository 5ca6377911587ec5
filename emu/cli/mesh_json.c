#include "cli/mesh_print.h"
#include "report/mesh_parts_json.h"

static void put_rank(struct emu_json *json, const struct emu_mesh *mesh, uint32_t rank)
{
    emu_json_object_begin(json);
    emu_json_put_u64(json, "rank", rank);
    emu_json_key(json, "coordinate");
    emu_coordinate_to_json(mesh, rank, json);
    emu_json_object_end(json);
}

static void put_ranks(struct emu_json *json, const struct emu_mesh_request *request)
{
    emu_json_key(json, "ranks");
    emu_json_array_begin(json);
    if (request->has_rank)
        put_rank(json, request->mesh, request->rank);
    else
        for (uint32_t rank = 0; rank < request->mesh->world && !json->failed; rank++)
            put_rank(json, request->mesh, rank);
    emu_json_array_end(json);
}

static void put_group(struct emu_json *json, const struct emu_group *group)
{
    emu_json_array_begin(json);
    for (uint32_t i = 0; i < group->size && !json->failed; i++)
        emu_json_u64(json, emu_group_member(group, i));
    emu_json_array_end(json);
}

/* All groups over these axes, or the one that holds the rank asked for. */
static void put_groups(struct emu_json *json, const struct emu_mesh_request *request,
                       const struct emu_axes *axes)
{
    emu_json_array_begin(json);
    uint32_t count = request->has_rank ? 1 : emu_axes_group_count(request->mesh, axes);
    for (uint32_t i = 0; i < count && !json->failed; i++) {
        struct emu_group group = request->has_rank
                                     ? emu_group_of(request->mesh, axes, request->rank)
                                     : emu_group_nth(request->mesh, axes, i);
        put_group(json, &group);
    }
    emu_json_array_end(json);
}

static void put_all_groups(struct emu_json *json, const struct emu_mesh_request *request)
{
    emu_json_key(json, "groups");
    emu_json_object_begin(json);
    for (uint32_t i = 0; i < request->mesh->axis_count; i++) {
        struct emu_axes axis = {.count = 1, .index = {(uint8_t)i}};
        emu_json_key(json, request->mesh->axes[i].name);
        put_groups(json, request, &axis);
    }
    emu_json_object_end(json);
}

static void put_over(struct emu_json *json, const struct emu_mesh_request *request)
{
    emu_json_key(json, "over");
    emu_json_object_begin(json);
    emu_json_key(json, "axes");
    emu_json_array_begin(json);
    for (uint32_t i = 0; i < request->over.count; i++)
        emu_json_string(json, request->mesh->axes[request->over.index[i]].name);
    emu_json_array_end(json);
    emu_json_key(json, "groups");
    put_groups(json, request, &request->over);
    emu_json_object_end(json);
}

bool emu_mesh_print_json(const struct emu_mesh_request *request, FILE *out)
{
    struct emu_json json;
    emu_json_init_file(&json, out);
    emu_json_report_begin(&json, "mesh");
    emu_mesh_axes_to_json(request->mesh, &json);
    put_ranks(&json, request);
    put_all_groups(&json, request);
    if (request->over_text)
        put_over(&json, request);
    emu_json_object_end(&json);
    return emu_json_finish(&json);
}
