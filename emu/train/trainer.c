#include "train/trainer.h"

#include "comm/rank.h"
#include "train/carve.h"

#include <stdlib.h>

/* The heap parts and all that measuring needs; the rank's part is left to emu_trainer_create. */
static enum emu_status prepare(const struct emu_plan *plan, uint32_t tp_index,
                               struct emu_trainer **trainer)
{
    struct emu_trainer *made = calloc(1, sizeof *made);
    if (!made)
        return EMU_ENOMEM;
    made->plan = plan;
    made->tp_index = tp_index;
    made->nn.kernels = emu_kernels_of(plan->dtype);
    made->nn.activation = plan->config->model.activation;
    made->nn.norm = plan->config->model.norm;
    made->parameters = calloc(plan->tensor_count, sizeof *made->parameters);
    made->layers = calloc(plan->config->model.layers, sizeof *made->layers);
    if (!made->parameters || !made->layers) {
        emu_trainer_destroy(made);
        return EMU_ENOMEM;
    }
    *trainer = made;
    return EMU_OK;
}

enum emu_status emu_trainer_bytes(const struct emu_plan *plan, uint32_t tp_index, uint64_t *bytes)
{
    struct emu_trainer *measured;
    enum emu_status status = prepare(plan, tp_index, &measured);
    if (status != EMU_OK)
        return status;
    struct emu_carver carver = {0};
    emu_trainer_carve(measured, &carver);
    emu_trainer_destroy(measured);
    if (carver.failed)
        return EMU_ERANGE;
    *bytes = carver.bytes;
    return EMU_OK;
}

static void draw(struct emu_trainer *trainer)
{
    const struct emu_kernels *kernels = trainer->nn.kernels;
    for (uint32_t i = 0; i < trainer->plan->tensor_count; i++) {
        struct emu_parameter *parameter = &trainer->parameters[i];
        const struct emu_block *block = &parameter->block;
        uint64_t columns = trainer->plan->tensors[i].columns;
        kernels->zero(parameter->weight, parameter->room);
        for (uint64_t e = 0; e < parameter->elements; e++) {
            uint64_t row = block->first_row + e / block->columns;
            uint64_t column = block->first_column + e % block->columns;
            kernels->set(parameter->weight, e,
                         emu_plan_draw(trainer->plan, i, row * columns + column));
        }
    }
}

/* Take the rank's arena and point everything into it. */
static enum emu_status settle(struct emu_trainer *trainer, struct emu_rank *rank)
{
    uint64_t bytes;
    enum emu_status status = emu_trainer_bytes(trainer->plan, trainer->tp_index, &bytes);
    if (status != EMU_OK)
        return status;
    trainer->base = emu_rank_alloc(rank, bytes);
    if (!trainer->base)
        return EMU_ENOMEM;
    emu_arena_init(&trainer->arena, trainer->base, bytes);
    struct emu_carver carver = {.arena = &trainer->arena};
    emu_trainer_carve(trainer, &carver);
    if (carver.failed)
        return EMU_EINTERNAL;
    emu_trainer_wire(trainer);
    draw(trainer);
    return EMU_OK;
}

static enum emu_status group_of(const struct emu_plan *plan, uint32_t family, uint32_t rank,
                                uint32_t *group)
{
    if (family == UINT32_MAX) {
        *group = EMU_GROUP_SELF;
        return EMU_OK;
    }
    return emu_roster_group_of(&plan->roster, family, rank, group);
}

enum emu_status emu_trainer_create(const struct emu_plan *plan, const struct emu_corpus *corpus,
                                   struct emu_rank *rank, struct emu_trainer **trainer)
{
    const struct emu_mesh *mesh = emu_rank_mesh(rank);
    uint32_t id = emu_rank_id(rank);
    struct emu_trainer *made;
    enum emu_status status = prepare(plan, emu_mesh_coord(mesh, id, "tp"), &made);
    if (status != EMU_OK)
        return status;
    made->corpus = corpus;
    made->rank = rank;
    made->nn.rank = rank;
    made->dp_index = emu_mesh_coord(mesh, id, "dp");
    status = group_of(plan, plan->tp_family, id, &made->nn.tp_group);
    if (status == EMU_OK)
        status = group_of(plan, plan->gradient_family, id, &made->gradient_group);
    if (status == EMU_OK)
        status = settle(made, rank);
    if (status != EMU_OK) {
        emu_trainer_destroy(made);
        return status;
    }
    *trainer = made;
    return EMU_OK;
}

void emu_trainer_destroy(struct emu_trainer *trainer)
{
    if (!trainer)
        return;
    free(trainer->parameters);
    free(trainer->layers);
    free(trainer);
}

static struct emu_bounded scalar(const struct emu_trainer *trainer, const void *x)
{
    const struct emu_kernels *kernels = trainer->nn.kernels;
    return (struct emu_bounded){kernels->get(x, 0), kernels->bound(x, 0)};
}

struct emu_bounded emu_trainer_loss(const struct emu_trainer *trainer)
{
    return scalar(trainer, trainer->loss);
}

struct emu_bounded emu_trainer_norm(const struct emu_trainer *trainer)
{
    return scalar(trainer, trainer->norm);
}
