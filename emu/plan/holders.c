#include "plan/holders.h"

#include <stdlib.h>

static bool is_divided(const struct emu_plan *plan, enum emu_held what)
{
    return what == EMU_HELD_WEIGHTS ? emu_plan_shards_weights(plan) : emu_plan_shards_moments(plan);
}

static bool same_place(const struct emu_held_shard *a, const struct emu_held_shard *b)
{
    return a->stage == b->stage && a->tied == b->tied && a->tp == b->tp && a->part == b->part;
}

/* Add elements to the shard at that place, which is made where there is none yet. */
static bool add(struct emu_holders *holders, const struct emu_held_shard *piece)
{
    size_t i = 0;
    while (i < holders->count && !same_place(&holders->shards[i], piece))
        i++;
    if (i < holders->count) {
        holders->shards[i].elements += piece->elements;
        holders->shards[i].tensors++;
        return true;
    }
    if (holders->count == holders->room) {
        size_t room = holders->room ? 2 * holders->room : 16;
        struct emu_held_shard *shards = realloc(holders->shards, room * sizeof *shards);
        if (!shards)
            return false;
        holders->shards = shards;
        holders->room = room;
    }
    holders->shards[holders->count++] = *piece;
    return true;
}

static bool add_tensor(const struct emu_plan *plan, enum emu_held what, uint32_t tensor,
                       struct emu_holders *holders)
{
    bool cut = plan->tp > 1 && emu_tensor_is_shard(plan, tensor);
    uint32_t parts = is_divided(plan, what) ? plan->shard_parts : 1;
    for (uint32_t tp = 0; tp < (cut ? plan->tp : 1); tp++) {
        struct emu_block block = emu_tensor_block(plan, tensor, tp);
        uint64_t whole = block.rows * block.columns;
        for (uint32_t part = 0; part < parts; part++) {
            struct emu_held_shard piece = {
                .first_tensor = tensor,
                .tensors = 1,
                .elements = parts > 1 ? emu_plan_chunk(plan, whole, part).count : whole,
                .stage = plan->tensors[tensor].stage,
                .tied = emu_tensor_tied(plan, tensor),
                .tp = cut ? tp : EMU_HELD_BY_ALL,
                .part = parts > 1 ? part : EMU_HELD_BY_ALL};
            if (piece.elements > 0 && !add(holders, &piece))
                return false;
        }
    }
    return true;
}

static bool holds(const struct emu_plan *plan, const struct emu_held_shard *shard, uint32_t rank)
{
    const struct emu_mesh *mesh = plan->roster.mesh;
    if (!emu_tensor_held(plan, shard->first_tensor, emu_mesh_coord(mesh, rank, "pp")))
        return false;
    if (shard->tp != EMU_HELD_BY_ALL && shard->tp != emu_mesh_coord(mesh, rank, "tp"))
        return false;
    return shard->part == EMU_HELD_BY_ALL || shard->part == emu_plan_shard_index(plan, rank);
}

static bool list_holders(const struct emu_plan *plan, const bool *dead,
                         struct emu_held_shard *shard)
{
    uint32_t world = plan->roster.mesh->world;
    for (uint32_t rank = 0; rank < world; rank++)
        shard->count += holds(plan, shard, rank);
    shard->holders = calloc(shard->count, sizeof *shard->holders);
    if (!shard->holders)
        return false;
    uint32_t listed = 0;
    for (uint32_t rank = 0; rank < world; rank++)
        if (holds(plan, shard, rank)) {
            shard->holders[listed++] = rank;
            shard->alive += !dead[rank];
        }
    return true;
}

enum emu_status emu_holders_find(const struct emu_plan *plan, enum emu_held what, const bool *dead,
                                 struct emu_holders *holders)
{
    struct emu_holders made = {.fewest = UINT32_MAX};
    bool good = true;
    bool exists = what == EMU_HELD_WEIGHTS || plan->moments > 0;
    for (uint32_t i = 0; exists && good && i < plan->tensor_count; i++)
        good = add_tensor(plan, what, i, &made);
    for (size_t i = 0; good && i < made.count; i++) {
        good = list_holders(plan, dead, &made.shards[i]);
        made.lost += made.shards[i].alive == 0;
        made.fewest = made.shards[i].alive < made.fewest ? made.shards[i].alive : made.fewest;
    }
    if (!good) {
        emu_holders_finish(&made);
        return EMU_ENOMEM;
    }
    if (made.count == 0)
        made.fewest = 0;
    *holders = made;
    return EMU_OK;
}

void emu_holders_finish(struct emu_holders *holders)
{
    for (size_t i = 0; i < holders->count; i++)
        free(holders->shards[i].holders);
    free(holders->shards);
    *holders = (struct emu_holders){0};
}
