#include "cli/mesh_frameworks.h"

#include "base/text.h"
#include "cli/exit_code.h"
#include "cli/print.h"
#include "report/json_output.h"
#include "report/json_writer.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Of a list a person is shown so many groups, and so many members of a group. */
#define GROUPS_SHOWN 8
#define MEMBERS_SHOWN 8
/* Up to here the report holds the groups themselves. */
#define WORLD_LISTED 4096

#define KNOWN_AXES 4

/* Axes outermost first, as each framework lays out its ranks by default. */
struct framework {
    const char *name;
    const char *order[KNOWN_AXES];
    const char *source;
};

static const struct framework frameworks[] = {
    {"Megatron-LM",
     {"pp", "dp", "cp", "tp"},
     "parallel_state.py, order \"tp-cp-ep-dp-pp\", fastest first"},
    {"torchtitan",
     {"pp", "dp", "cp", "tp"},
     "parallel_dims.py: pp, dp_replicate, dp_shard, cp, tp, slowest first"},
    {"Llama 3",
     {"dp", "pp", "cp", "tp"},
     "arXiv 2407.21783, section 3.3.2: TP, CP, PP, DP, innermost first"},
    {"nanotron",
     {"pp", "dp", "cp", "tp"},
     "parallel/context.py without experts: (pp, dp, cp, tp), slowest first"},
    {"picotron", {"dp", "pp", "cp", "tp"}, "process_group_manager.py: grid of (dp, pp, cp, tp)"},
};

#define COUNT (sizeof frameworks / sizeof frameworks[0])

/* The meshes of all frameworks, with the sizes asked for. */
struct comparison {
    struct emu_mesh meshes[COUNT];
    char axes[COUNT][EMU_MESH_MAX_AXES * (EMU_NAME_MAX + 12)];
};

static int check_axes(const struct emu_arguments *arguments, const struct emu_mesh *mesh)
{
    for (uint32_t i = 0; i < mesh->axis_count; i++) {
        const char *name = mesh->axes[i].name;
        if (strcmp(name, "dp") && strcmp(name, "tp") && strcmp(name, "cp") && strcmp(name, "pp"))
            return emu_print_usage_error(
                arguments->command,
                "--frameworks: axis '%s' has no place in their orders; dp, tp, cp and pp have",
                name);
    }
    if (mesh->rank_at)
        return emu_print_usage_error(arguments->command,
                                     "--frameworks compares orders of axes, but mesh.ranks "
                                     "arranges the ranks explicitly");
    return EMU_EXIT_PASS;
}

/* The asked-for axes in the framework's order: as text, then parsed like any other. */
static bool lay_out(struct comparison *all, size_t f, const struct emu_mesh *mesh)
{
    size_t used = 0;
    for (int i = 0; i < KNOWN_AXES; i++) {
        int axis = emu_mesh_find(mesh, frameworks[f].order[i]);
        if (axis < 0)
            continue;
        used += (size_t)snprintf(all->axes[f] + used, sizeof all->axes[f] - used, "%s%s=%" PRIu32,
                                 used ? "," : "", mesh->axes[axis].name, mesh->axes[axis].size);
    }
    return emu_mesh_parse(all->axes[f], &all->meshes[f], NULL) == EMU_OK;
}

/* Do two frameworks group alike over this axis? With the same size, a group is told by its stride.
 */
static bool group_alike(const struct comparison *all, size_t a, size_t b, const char *axis)
{
    const struct emu_mesh *left = &all->meshes[a];
    const struct emu_mesh *right = &all->meshes[b];
    int i = emu_mesh_find(left, axis);
    int k = emu_mesh_find(right, axis);
    return left->axes[i].size == 1 || left->axes[i].stride == right->axes[k].stride;
}

static bool all_alike(const struct comparison *all, const char *axis)
{
    for (size_t f = 1; f < COUNT; f++)
        if (!group_alike(all, 0, f, axis))
            return false;
    return true;
}

static void print_groups(const struct emu_mesh *mesh, const char *axis, FILE *out)
{
    struct emu_axes axes = {.count = 1, .index = {(uint8_t)emu_mesh_find(mesh, axis)}};
    uint32_t count = emu_axes_group_count(mesh, &axes);
    for (uint32_t g = 0; g < count && g < GROUPS_SHOWN; g++) {
        struct emu_group group = emu_group_nth(mesh, &axes, g);
        fputs(" [", out);
        for (uint32_t i = 0; i < group.size && i < MEMBERS_SHOWN; i++)
            fprintf(out, "%s%" PRIu32, i ? " " : "", emu_group_member(&group, i));
        fputs(group.size > MEMBERS_SHOWN ? " ...]" : "]", out);
    }
    if (count > GROUPS_SHOWN)
        fprintf(out, " ... %" PRIu32 " more", count - GROUPS_SHOWN);
    fputc('\n', out);
}

/* One line for each way to group over the axis, with all frameworks that do so. */
static void print_axis(const struct comparison *all, const char *axis, FILE *out)
{
    bool said[COUNT] = {false};
    bool same = all_alike(all, axis);
    fprintf(out, "\ngroups over %s: %s\n", axis, same ? "the same everywhere" : "they differ");
    for (size_t f = 0; f < COUNT; f++) {
        if (said[f])
            continue;
        fputs("  ", out);
        for (size_t k = f; k < COUNT && !same; k++) {
            if (said[k] || !group_alike(all, f, k, axis))
                continue;
            said[k] = true;
            fprintf(out, "%s%s", k == f ? "" : ", ", frameworks[k].name);
        }
        fputs(same ? "" : "\n    ", out);
        print_groups(&all->meshes[f], axis, out);
        if (same)
            return;
    }
}

static int print_text(const struct comparison *all, const struct emu_mesh *mesh)
{
    puts("The same axes in the default rank order of each framework; the string gives it here\n");
    for (size_t f = 0; f < COUNT; f++)
        printf("  %-12s %-28s %s\n", frameworks[f].name, all->axes[f], frameworks[f].source);
    for (uint32_t i = 0; i < mesh->axis_count; i++)
        print_axis(all, mesh->axes[i].name, stdout);
    return emu_print_flush();
}

static void put_groups(struct emu_json *json, const struct emu_mesh *mesh)
{
    emu_json_key(json, "groups");
    emu_json_object_begin(json);
    for (uint32_t i = 0; i < mesh->axis_count; i++) {
        struct emu_axes axes = {.count = 1, .index = {(uint8_t)i}};
        uint32_t count = emu_axes_group_count(mesh, &axes);
        emu_json_key(json, mesh->axes[i].name);
        emu_json_array_begin(json);
        for (uint32_t g = 0; g < count && !json->failed; g++) {
            struct emu_group group = emu_group_nth(mesh, &axes, g);
            emu_json_array_begin(json);
            for (uint32_t k = 0; k < group.size; k++)
                emu_json_u64(json, emu_group_member(&group, k));
            emu_json_array_end(json);
        }
        emu_json_array_end(json);
    }
    emu_json_object_end(json);
}

static void put_frameworks(struct emu_json *json, const struct comparison *all)
{
    emu_json_key(json, "frameworks");
    emu_json_array_begin(json);
    for (size_t f = 0; f < COUNT; f++) {
        emu_json_object_begin(json);
        emu_json_put_string(json, "name", frameworks[f].name);
        emu_json_put_string(json, "axes", all->axes[f]);
        emu_json_put_string(json, "source", frameworks[f].source);
        if (all->meshes[f].world <= WORLD_LISTED)
            put_groups(json, &all->meshes[f]);
        emu_json_object_end(json);
    }
    emu_json_array_end(json);
}

static int write_json(const struct emu_arguments *arguments, const struct comparison *all,
                      const struct emu_mesh *mesh)
{
    struct emu_text error = {0};
    struct emu_json_output output;
    struct emu_json json;
    enum emu_status status =
        emu_json_output_open(&output, emu_arguments_value(arguments, "json"), &error);
    if (status == EMU_OK) {
        emu_json_init_file(&json, output.stream);
        emu_json_report_begin(&json, "mesh");
        emu_json_put_u64(&json, "world", mesh->world);
        put_frameworks(&json, all);
        emu_json_key(&json, "differ");
        emu_json_array_begin(&json);
        for (uint32_t i = 0; i < mesh->axis_count; i++)
            if (!all_alike(all, mesh->axes[i].name))
                emu_json_string(&json, mesh->axes[i].name);
        emu_json_array_end(&json);
        emu_json_object_end(&json);
        bool whole = emu_json_finish(&json);
        status = emu_json_output_commit(&output, &error);
        assert(whole || status != EMU_OK); /* a failed write fails the commit too */
        (void)whole;
    }
    int code = status == EMU_OK ? EMU_EXIT_PASS
                                : emu_print_refusal(arguments->command, emu_text_get(&error));
    emu_text_finish(&error);
    return code;
}

int emu_mesh_frameworks_run(const struct emu_arguments *arguments,
                            const struct emu_mesh_request *request)
{
    struct comparison all;
    const struct emu_mesh *mesh = request->mesh;
    const char *json = emu_arguments_value(arguments, "json");
    int code = check_axes(arguments, mesh);
    if (code == EMU_EXIT_PASS && (request->over_text || request->has_rank))
        code = emu_print_usage_error(arguments->command,
                                     "--frameworks goes without --over and --rank");
    for (size_t f = 0; f < COUNT && code == EMU_EXIT_PASS; f++)
        code = lay_out(&all, f, mesh) ? EMU_EXIT_PASS : EMU_EXIT_INTERNAL;
    if (code == EMU_EXIT_PASS && json)
        code = write_json(arguments, &all, mesh);
    if (code == EMU_EXIT_PASS && (!json || strcmp(json, "-") != 0))
        code = print_text(&all, mesh);
    return code;
}
