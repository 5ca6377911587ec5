/* Which ranks lie beside a rank: along one axis, all other coordinates being equal?
 *
 * They are numbered axis by axis: place offset(axis) + coordinate, where offset is the sum of the
 * sizes of the axes before. So a table of what a rank does with those beside it has the sum of the
 * axes as its length, and not their product. The rank itself has a place on every axis.
 */
#ifndef EMU_MESH_BESIDE_H
#define EMU_MESH_BESIDE_H

#include <meshemu/mesh.h>

#include <stdbool.h>
#include <stdint.h>

/* Places of each rank. */
uint32_t emu_beside_room(const struct emu_mesh *mesh);

struct emu_beside {
    uint32_t axis;
    uint32_t place;
};

/* Where `other` lies beside `rank`; false: they differ along no axis, along several, or are no
 * ranks. */
bool emu_beside_find(const struct emu_mesh *mesh, uint32_t rank, uint32_t other,
                     struct emu_beside *found);

/* The rank at a place below emu_beside_room. */
uint32_t emu_beside_rank(const struct emu_mesh *mesh, uint32_t rank, uint32_t place);

#endif
