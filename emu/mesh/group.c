#include "base/hot.h"
#include "mesh/place.h"

#include <assert.h>

/* Bit i: axis i belongs to the set. */
static uint32_t mask_of(const struct emu_axes *axes)
{
    uint32_t mask = 0;
    for (uint32_t i = 0; i < axes->count; i++)
        mask |= UINT32_C(1) << axes->index[i];
    return mask;
}

struct emu_group emu_group_nth(const struct emu_mesh *mesh, const struct emu_axes *axes,
                               uint32_t nth)
{
    uint32_t mask = mask_of(axes);
    uint32_t base = 0;
    uint32_t left = nth;
    for (uint32_t i = mesh->axis_count; i-- > 0;) {
        if (mask >> i & 1)
            continue;
        base += left % mesh->axes[i].size * mesh->axes[i].stride;
        left /= mesh->axes[i].size;
    }
    assert(left == 0);
    return (struct emu_group){
        .mesh = mesh, .axes = *axes, .base = base, .size = emu_axes_group_size(mesh, axes)};
}

struct emu_group emu_group_of(const struct emu_mesh *mesh, const struct emu_axes *axes,
                              uint32_t rank)
{
    uint32_t place = emu_place_of(mesh, rank);
    uint32_t base = place;
    for (uint32_t i = 0; i < axes->count; i++) {
        const struct emu_axis *axis = &mesh->axes[axes->index[i]];
        base -= emu_place_coord(place, axis) * axis->stride;
    }
    return (struct emu_group){
        .mesh = mesh, .axes = *axes, .base = base, .size = emu_axes_group_size(mesh, axes)};
}

uint32_t emu_group_number_of(const struct emu_mesh *mesh, const struct emu_axes *axes,
                             uint32_t rank)
{
    uint32_t mask = mask_of(axes);
    uint32_t place = emu_place_of(mesh, rank);
    uint32_t number = 0;
    for (uint32_t i = 0; i < mesh->axis_count; i++)
        if (!(mask >> i & 1))
            number = number * mesh->axes[i].size + emu_place_coord(place, &mesh->axes[i]);
    return number;
}

EMU_HOT uint32_t emu_group_member(const struct emu_group *group, uint32_t index)
{
    assert(index < group->size);
    if (group->members)
        return group->members[index];
    if (!group->mesh)
        return index;
    uint32_t place = group->base;
    for (uint32_t i = group->axes.count; i-- > 0;) {
        uint32_t parts = emu_axes_parts(group->mesh, &group->axes, i);
        uint32_t coordinate = emu_axes_part_coord(group->mesh, &group->axes, i, index % parts);
        place += coordinate * group->mesh->axes[group->axes.index[i]].stride;
        index /= parts;
    }
    return emu_place_rank(group->mesh, place);
}

static int64_t index_in_list(const struct emu_group *group, uint32_t rank)
{
    for (uint32_t i = 0; i < group->size; i++)
        if (group->members[i] == rank)
            return i;
    return -1;
}

int64_t emu_group_index(const struct emu_group *group, uint32_t rank)
{
    if (group->members)
        return index_in_list(group, rank);
    if (!group->mesh)
        return rank < group->size ? (int64_t)rank : -1;
    const struct emu_mesh *mesh = group->mesh;
    if (rank >= mesh->world)
        return -1;
    uint32_t place = emu_place_of(mesh, rank);
    uint32_t base = place;
    uint32_t index = 0;
    for (uint32_t i = 0; i < group->axes.count; i++) {
        const struct emu_axis *axis = &mesh->axes[group->axes.index[i]];
        uint32_t coordinate = emu_place_coord(place, axis);
        uint32_t part = emu_axes_coord_part(mesh, &group->axes, i, coordinate);
        if (part == UINT32_MAX)
            return -1;
        base -= coordinate * axis->stride;
        index = index * emu_axes_parts(mesh, &group->axes, i) + part;
    }
    return base == group->base ? (int64_t)index : -1;
}

bool emu_group_contains(const struct emu_group *group, uint32_t rank)
{
    return emu_group_index(group, rank) >= 0;
}
