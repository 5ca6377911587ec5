/* Where does a rank stand, and what is its coordinate there? Shared by the files of this folder.
 *
 * A place counts row-major through the coordinates; only an explicit arrangement tells it apart
 * from the rank. */
#ifndef EMU_MESH_PLACE_H
#define EMU_MESH_PLACE_H

#include <meshemu/mesh.h>

#include <assert.h>

static inline uint32_t emu_place_of(const struct emu_mesh *mesh, uint32_t rank)
{
    assert(rank < mesh->world);
    return mesh->place_of ? mesh->place_of[rank] : rank;
}

static inline uint32_t emu_place_rank(const struct emu_mesh *mesh, uint32_t place)
{
    return mesh->rank_at ? mesh->rank_at[place] : place;
}

static inline uint32_t emu_place_coord(uint32_t place, const struct emu_axis *axis)
{
    return place / axis->stride % axis->size;
}

/* Coordinates of axis i of the set that take part in its groups. */
static inline uint32_t emu_axes_parts(const struct emu_mesh *mesh, const struct emu_axes *axes,
                                      uint32_t i)
{
    uint32_t size = mesh->axes[axes->index[i]].size;
    return (axes->ends >> i & 1) && size > 2 ? 2 : size;
}

/* The coordinate of part `part`, and back; UINT32_MAX for a coordinate that takes no part. */
static inline uint32_t emu_axes_part_coord(const struct emu_mesh *mesh, const struct emu_axes *axes,
                                           uint32_t i, uint32_t part)
{
    bool last = (axes->ends >> i & 1) && part == 1;
    return last ? mesh->axes[axes->index[i]].size - 1 : part;
}

static inline uint32_t emu_axes_coord_part(const struct emu_mesh *mesh, const struct emu_axes *axes,
                                           uint32_t i, uint32_t coordinate)
{
    uint32_t size = mesh->axes[axes->index[i]].size;
    if (!(axes->ends >> i & 1) || size <= 2)
        return coordinate;
    if (coordinate == 0)
        return 0;
    return coordinate == size - 1 ? 1 : UINT32_MAX;
}

#endif
