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

#endif
