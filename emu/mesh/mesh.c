#include "mesh/notation.h"
#include "mesh/place.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* A rank that no place has yet; ranks stay below 2^31. */
#define UNPLACED UINT32_MAX

/* Fill place_of from ranks, refusing whatever is no permutation. */
static enum emu_status invert(const struct emu_mesh *mesh, const uint32_t *ranks, uint32_t *places,
                              struct emu_mesh_error *error)
{
    memset(places, 0xff, mesh->world * sizeof *places);
    for (uint32_t place = 0; place < mesh->world; place++) {
        uint32_t rank = ranks[place];
        if (rank >= mesh->world) {
            emu_mesh_complain(error, (uint64_t)place + 1,
                              "rank %u is outside the mesh: its ranks are 0 to %u", rank,
                              mesh->world - 1);
            return EMU_EINVAL;
        }
        if (places[rank] != UNPLACED) {
            emu_mesh_complain(error, (uint64_t)place + 1,
                              "rank %u stands twice in the list: each of 0 to %u is needed once",
                              rank, mesh->world - 1);
            return EMU_EINVAL;
        }
        places[rank] = place;
    }
    return EMU_OK;
}

static enum emu_status wrong_count(const struct emu_mesh *mesh, size_t count,
                                   struct emu_mesh_error *error)
{
    uint64_t column = count > mesh->world ? (uint64_t)mesh->world + 1 : count;
    emu_mesh_complain(error, column ? column : 1,
                      "%zu ranks are listed, the mesh has %u: each of 0 to %u is needed once",
                      count, mesh->world, mesh->world - 1);
    return EMU_EINVAL;
}

enum emu_status emu_mesh_arrange(struct emu_mesh *mesh, const uint32_t *ranks, size_t count,
                                 struct emu_mesh_error *error)
{
    if (count != mesh->world)
        return wrong_count(mesh, count, error);
    uint32_t *rank_at = malloc(count * sizeof *rank_at);
    uint32_t *places = malloc(count * sizeof *places);
    enum emu_status status = rank_at && places ? EMU_OK : EMU_ENOMEM;
    if (status != EMU_OK)
        emu_mesh_complain(error, 1, "no memory for a table of %zu ranks", count);
    else
        status = invert(mesh, ranks, places, error);
    if (status != EMU_OK) {
        free(rank_at);
        free(places);
        return status;
    }
    memcpy(rank_at, ranks, count * sizeof *rank_at);
    free(mesh->rank_at);
    free(mesh->place_of);
    mesh->rank_at = rank_at;
    mesh->place_of = places;
    return EMU_OK;
}

void emu_mesh_finish(struct emu_mesh *mesh)
{
    if (!mesh)
        return;
    free(mesh->rank_at);
    free(mesh->place_of);
    mesh->rank_at = NULL;
    mesh->place_of = NULL;
}

int emu_mesh_find(const struct emu_mesh *mesh, const char *name)
{
    for (uint32_t i = 0; i < mesh->axis_count; i++)
        if (strcmp(mesh->axes[i].name, name) == 0)
            return (int)i;
    return -1;
}

uint32_t emu_mesh_size(const struct emu_mesh *mesh, const char *name)
{
    int axis = emu_mesh_find(mesh, name);
    return axis < 0 ? 1 : mesh->axes[axis].size;
}

void emu_mesh_coords(const struct emu_mesh *mesh, uint32_t rank, uint32_t coords[EMU_MESH_MAX_AXES])
{
    uint32_t place = emu_place_of(mesh, rank);
    for (uint32_t i = 0; i < mesh->axis_count; i++)
        coords[i] = emu_place_coord(place, &mesh->axes[i]);
}

uint32_t emu_mesh_coord(const struct emu_mesh *mesh, uint32_t rank, const char *name)
{
    int axis = emu_mesh_find(mesh, name);
    return axis < 0 ? 0 : emu_place_coord(emu_place_of(mesh, rank), &mesh->axes[axis]);
}

uint32_t emu_mesh_rank(const struct emu_mesh *mesh, const uint32_t coords[EMU_MESH_MAX_AXES])
{
    uint32_t place = 0;
    for (uint32_t i = 0; i < mesh->axis_count; i++) {
        assert(coords[i] < mesh->axes[i].size);
        place += coords[i] * mesh->axes[i].stride;
    }
    return emu_place_rank(mesh, place);
}
