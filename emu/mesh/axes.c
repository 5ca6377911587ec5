#include "mesh/notation.h"
#include "mesh/place.h"

#include <string.h>

/* "dp, tp" of the mesh, for messages. */
static void list_axes(const struct emu_mesh *mesh, char *out, size_t room)
{
    size_t used = 0;
    out[0] = '\0';
    for (uint32_t i = 0; i < mesh->axis_count; i++) {
        const char *name = mesh->axes[i].name;
        size_t size = strlen(name);
        if (used + size + 3 > room)
            return;
        if (used) {
            memcpy(out + used, ", ", 2);
            used += 2;
        }
        memcpy(out + used, name, size + 1);
        used += size;
    }
}

/* Append the axis that the item names; column is where it stands. */
static enum emu_status take_axis(const struct emu_mesh *mesh, struct emu_item item, uint64_t column,
                                 struct emu_axes *axes, struct emu_mesh_error *error)
{
    uint32_t found = 0;
    while (found < mesh->axis_count && !emu_item_equals(item, mesh->axes[found].name))
        found++;
    if (found == mesh->axis_count) {
        char known[128];
        list_axes(mesh, known, sizeof known);
        emu_mesh_complain(error, column, "the mesh has no axis '%.*s': it has %s",
                          emu_item_shown(item), item.start, known);
        return EMU_EPARSE;
    }
    for (uint32_t i = 0; i < axes->count; i++)
        if (axes->index[i] == found) {
            emu_mesh_complain(error, column, "axis '%s' is named twice", mesh->axes[found].name);
            return EMU_EPARSE;
        }
    axes->index[axes->count++] = (uint8_t)found;
    return EMU_OK;
}

enum emu_status emu_axes_parse(const struct emu_mesh *mesh, const char *text, struct emu_axes *axes,
                               struct emu_mesh_error *error)
{
    struct emu_axes made = {0};
    for (const char *at = text; at;) {
        struct emu_item item = emu_item_next(&at);
        uint64_t column = (uint64_t)(item.start - text) + 1;
        enum emu_status status = take_axis(mesh, item, column, &made, error);
        if (status != EMU_OK)
            return status;
    }
    *axes = made;
    return EMU_OK;
}

struct emu_axes emu_axes_all(const struct emu_mesh *mesh)
{
    struct emu_axes axes = {.count = mesh->axis_count};
    for (uint32_t i = 0; i < mesh->axis_count; i++)
        axes.index[i] = (uint8_t)i;
    return axes;
}

uint32_t emu_axes_group_size(const struct emu_mesh *mesh, const struct emu_axes *axes)
{
    uint32_t size = 1;
    for (uint32_t i = 0; i < axes->count; i++)
        size *= emu_axes_parts(mesh, axes, i);
    return size;
}

uint32_t emu_axes_group_count(const struct emu_mesh *mesh, const struct emu_axes *axes)
{
    uint32_t size = 1;
    for (uint32_t i = 0; i < axes->count; i++)
        size *= mesh->axes[axes->index[i]].size;
    return mesh->world / size;
}
