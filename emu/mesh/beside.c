#include "mesh/beside.h"

uint32_t emu_beside_room(const struct emu_mesh *mesh)
{
    uint32_t room = 0;
    for (uint32_t i = 0; i < mesh->axis_count; i++)
        room += mesh->axes[i].size;
    return room;
}

bool emu_beside_find(const struct emu_mesh *mesh, uint32_t rank, uint32_t other,
                     struct emu_beside *found)
{
    uint32_t own[EMU_MESH_MAX_AXES], theirs[EMU_MESH_MAX_AXES];
    uint32_t differ = 0, offset = 0;
    if (rank >= mesh->world || other >= mesh->world)
        return false;
    emu_mesh_coords(mesh, rank, own);
    emu_mesh_coords(mesh, other, theirs);
    for (uint32_t i = 0; i < mesh->axis_count; i++) {
        if (own[i] != theirs[i]) {
            differ++;
            *found = (struct emu_beside){i, offset + theirs[i]};
        }
        offset += mesh->axes[i].size;
    }
    return differ == 1;
}

uint32_t emu_beside_rank(const struct emu_mesh *mesh, uint32_t rank, uint32_t place)
{
    uint32_t coordinates[EMU_MESH_MAX_AXES];
    emu_mesh_coords(mesh, rank, coordinates);
    for (uint32_t i = 0; i < mesh->axis_count; i++) {
        if (place < mesh->axes[i].size) {
            coordinates[i] = place;
            break;
        }
        place -= mesh->axes[i].size;
    }
    return emu_mesh_rank(mesh, coordinates);
}
