#include "check/split.h"

#include <stdlib.h>

static bool shares(const struct emu_mesh *mesh, uint32_t rank, const char *axis,
                   uint32_t coordinate)
{
    return !axis || emu_mesh_find(mesh, axis) < 0 || emu_mesh_coord(mesh, rank, axis) == coordinate;
}

/* Give each member the number of its class. first: room for one rank a class. */
static void sort_into_classes(struct emu_split *split, const struct emu_split_params *params,
                              uint32_t *first)
{
    for (uint32_t rank = 0; rank < split->world; rank++) {
        split->class_of[rank] = EMU_SPLIT_OUTSIDE;
        if (!shares(params->mesh, rank, params->axis, params->coordinate) ||
            !shares(params->mesh, rank, params->axis_too, params->coordinate_too))
            continue;
        if (params->member && !params->member(params->context, rank))
            continue;
        uint32_t at = 0;
        while (at < split->classes && !params->same(params->context, first[at], rank))
            at++;
        if (at == split->classes)
            first[split->classes++] = rank;
        split->class_of[rank] = at;
        split->members++;
    }
}

/* sizes: zeroed, one entry a class. */
static void find_usual(struct emu_split *split, uint32_t *sizes)
{
    for (uint32_t rank = 0; rank < split->world; rank++)
        if (split->class_of[rank] != EMU_SPLIT_OUTSIDE)
            sizes[split->class_of[rank]]++;
    for (uint32_t i = 1; i < split->classes; i++)
        if (sizes[i] > sizes[split->usual])
            split->usual = i;
    for (uint32_t i = 0; i < split->classes; i++)
        if (i != split->usual && sizes[i] == sizes[split->usual])
            split->tie = true;
}

/* Does a rank hold something else than the one at 0 of this axis, all else equal? */
static bool varies_along(const struct emu_split *split, const struct emu_mesh *mesh, uint32_t axis)
{
    for (uint32_t rank = 0; rank < split->world; rank++) {
        if (split->class_of[rank] == EMU_SPLIT_OUTSIDE)
            continue;
        uint32_t coords[EMU_MESH_MAX_AXES];
        emu_mesh_coords(mesh, rank, coords);
        coords[axis] = 0;
        uint32_t other = split->class_of[emu_mesh_rank(mesh, coords)];
        if (other != EMU_SPLIT_OUTSIDE && other != split->class_of[rank])
            return true;
    }
    return false;
}

enum emu_status emu_split_init(struct emu_split *split, const struct emu_split_params *params)
{
    struct emu_split made = {.world = params->mesh->world};
    made.class_of = malloc(made.world * sizeof *made.class_of);
    uint32_t *first = malloc(made.world * sizeof *first);
    uint32_t *sizes = calloc(made.world, sizeof *sizes);
    bool room = made.class_of && first && sizes;
    if (room) {
        sort_into_classes(&made, params, first);
        find_usual(&made, sizes);
        for (uint32_t i = 0; i < params->mesh->axis_count; i++)
            if (varies_along(&made, params->mesh, i))
                made.axes |= UINT32_C(1) << i;
        *split = made;
    } else {
        free(made.class_of);
    }
    free(first);
    free(sizes);
    return room ? EMU_OK : EMU_ENOMEM;
}

void emu_split_finish(struct emu_split *split)
{
    free(split->class_of);
    *split = (struct emu_split){0};
}

bool emu_split_contains(const struct emu_split *split, uint32_t rank)
{
    return split->class_of[rank] != EMU_SPLIT_OUTSIDE;
}

bool emu_split_is_odd(const struct emu_split *split, uint32_t rank)
{
    return !split->tie && emu_split_contains(split, rank) && split->class_of[rank] != split->usual;
}

uint32_t emu_split_first(const struct emu_split *split, uint32_t class_number)
{
    uint32_t rank = 0;
    while (rank + 1 < split->world && split->class_of[rank] != class_number)
        rank++;
    return rank;
}
