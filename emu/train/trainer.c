#include "train/trainer.h"

#include "comm/rank.h"
#include "train/deviate.h"
#include "train/initial_state.h"
#include "train/model_state.h"

#include <stdlib.h>
#include <string.h>

static const struct emu_model_ops *ops_of(const struct emu_trainer *trainer)
{
    return emu_model_ops_of(trainer->plan->config->model.kind);
}

/* The heap parts and all that measuring needs; the rank's part is left to emu_trainer_create.
 * rank: NULL where there is none, and nobody to deviate. */
static enum emu_status prepare(const struct emu_plan *plan, struct emu_share share,
                               const struct emu_step_hooks *hooks, struct emu_rank *rank,
                               struct emu_trainer **trainer)
{
    struct emu_trainer *made = calloc(1, sizeof *made);
    if (!made)
        return EMU_ENOMEM;
    made->plan = plan;
    made->hooks = hooks;
    made->rank = rank;
    made->slice_tokens = UINT64_MAX;
    made->tp_index = share.tp_index;
    made->cp_index = share.cp_index;
    made->stage = share.stage;
    made->shard_index = share.shard_index;
    bool exact = plan->config->arithmetic == EMU_ARITH_EXACT && plan->dtype == EMU_F64;
    made->nn.kernels = exact ? emu_kernels_exact() : emu_kernels_of(plan->dtype);
    made->nn.activation = plan->config->model.activation;
    made->nn.norm = plan->config->model.norm;
    made->nn.sequence_parallel = plan->config->model.sequence_parallel;
    made->nn.tp_size = plan->tp;
    made->nn.tp_index = share.tp_index;
    made->nn.slice_terms = emu_plan_sources(plan) + plan->split_most;
    made->ledger = plan->keeps_ledger;
    made->parameters = calloc(plan->tensor_count, sizeof *made->parameters);
    enum emu_status status = made->parameters ? ops_of(made)->prepare(made) : EMU_ENOMEM;
    if (status != EMU_OK) {
        emu_trainer_destroy(made);
        return status;
    }
    *trainer = made;
    return EMU_OK;
}

static void carve_ledger(const struct emu_trainer *trainer, struct emu_carver *carver,
                         struct emu_parameter *parameter)
{
    if (!trainer->ledger)
        return;
    uint32_t lanes = emu_tensor_lanes(trainer->plan, (uint32_t)(parameter - trainer->parameters));
    uint64_t bytes = lanes * sizeof(uint64_t);
    parameter->value.sources = parameter->fresh_value.sources = lanes;
    parameter->value.coefficients = emu_carve_bytes(carver, EMU_BUFFERS, bytes);
    parameter->fresh_value.coefficients = parameter->value.coefficients;
    if (emu_plan_keeps_fresh(trainer->plan))
        parameter->fresh_value.coefficients = emu_carve_bytes(carver, EMU_BUFFERS, bytes);
}

/* Weights, gradients and optimizer state, whole or this rank's chunk of them (with padding: every
 * member of the shard group allocates as much as the first). What is whole for use alone is a
 * buffer. */
static void carve_values(const struct emu_trainer *trainer, struct emu_carver *carver,
                         struct emu_parameter *p)
{
    const struct emu_plan *plan = trainer->plan;
    bool shards = emu_plan_shards_moments(plan);
    uint64_t most = emu_plan_chunk(plan, p->room, 0).count;
    uint64_t member = trainer->shard_index;
    emu_deviates(trainer, EMU_DEVIATE_CHUNK, (uint32_t)(p - trainer->parameters), 0, &member);
    p->chunk = emu_plan_chunk(plan, p->elements, (uint32_t)member);
    if (emu_plan_shards_weights(plan))
        p->weight_chunk = emu_carve(carver, EMU_WEIGHT, 1, most);
    p->weight =
        emu_carve(carver, emu_plan_shards_weights(plan) ? EMU_BUFFERS : EMU_WEIGHT, 1, p->room);
    if (emu_plan_shards_gradients(plan))
        p->gradient_chunk = emu_carve(carver, EMU_GRADIENT, 1, most);
    p->gradient =
        emu_carve(carver, emu_plan_shards_gradients(plan) ? EMU_BUFFERS : EMU_GRADIENT, 1, p->room);
    p->fresh = p->gradient;
    if (emu_plan_keeps_fresh(plan))
        p->fresh = emu_carve(carver, EMU_BUFFERS, 1, p->room);
    for (uint32_t m = 0; m < plan->moments; m++)
        p->moment[m] = emu_carve(carver, EMU_MOMENTS, 1, shards ? most : p->room);
}

static void carve_parameter(struct emu_trainer *trainer, struct emu_carver *carver, uint32_t i)
{
    const struct emu_plan *plan = trainer->plan;
    struct emu_parameter *parameter = &trainer->parameters[i];
    parameter->held = emu_tensor_held(plan, i, trainer->stage);
    if (!parameter->held)
        return;
    uint64_t tp_index = trainer->tp_index;
    emu_deviates(trainer, EMU_DEVIATE_SHARD, i, 0, &tp_index);
    parameter->block = emu_tensor_block(plan, i, (uint32_t)tp_index);
    parameter->elements = parameter->block.rows * parameter->block.columns;
    parameter->room =
        emu_tensor_room(plan, i, tp_index == trainer->tp_index ? trainer->tp_index : 0);
    if (emu_deviates(trainer, EMU_DEVIATE_HOLD_WHOLE, i, 0, NULL)) {
        const struct emu_tensor_plan *tensor = &plan->tensors[i];
        parameter->block = (struct emu_block){0, tensor->rows, 0, tensor->columns};
        parameter->elements = tensor->rows * tensor->columns;
        parameter->room = emu_tensor_room(plan, i, 0) * plan->tp;
    }
    carve_values(trainer, carver, parameter);
    carve_ledger(trainer, carver, parameter);
}

/* The one list. */
static void carve(struct emu_trainer *trainer, struct emu_carver *carver)
{
    carver->element = trainer->nn.kernels->bytes;
    for (uint32_t i = 0; i < trainer->plan->tensor_count; i++)
        carve_parameter(trainer, carver, i);
    trainer->source_tokens =
        emu_carve_bytes(carver, EMU_BUFFERS, trainer->plan->microbatches * sizeof(uint64_t));
    trainer->loss = emu_carve(carver, EMU_BUFFERS, 1, 1);
    trainer->source_loss = emu_carve(carver, EMU_BUFFERS, 1, 1);
    trainer->tensor_squares = emu_carve(carver, EMU_BUFFERS, 1, trainer->plan->tensor_count);
    trainer->squares = emu_carve(carver, EMU_BUFFERS, 1, 1);
    trainer->norm = emu_carve(carver, EMU_BUFFERS, 1, 1);
    trainer->factor = emu_carve(carver, EMU_BUFFERS, 1, 1);
    ops_of(trainer)->carve(trainer, carver);
}

static enum emu_status measure(const struct emu_plan *plan, struct emu_share share,
                               const struct emu_step_hooks *hooks, struct emu_rank *rank,
                               uint64_t *bytes)
{
    struct emu_trainer *measured;
    enum emu_status status = prepare(plan, share, hooks, rank, &measured);
    if (status != EMU_OK)
        return status;
    struct emu_carver carver = {0};
    carve(measured, &carver);
    emu_trainer_destroy(measured);
    if (carver.failed)
        return EMU_ERANGE;
    *bytes = carver.bytes;
    return EMU_OK;
}

enum emu_status emu_trainer_bytes(const struct emu_plan *plan, struct emu_share share,
                                  uint64_t *bytes)
{
    return measure(plan, share, NULL, NULL, bytes);
}

/* Take the rank's arena and point everything into it. */
static enum emu_status settle(struct emu_trainer *trainer, struct emu_rank *rank)
{
    uint64_t bytes;
    struct emu_share share = {trainer->tp_index, trainer->cp_index, trainer->stage,
                              trainer->shard_index};
    enum emu_status status = measure(trainer->plan, share, trainer->hooks, rank, &bytes);
    if (status != EMU_OK)
        return status;
    trainer->base = emu_rank_alloc(rank, bytes);
    if (!trainer->base)
        return EMU_ENOMEM;
    emu_arena_init(&trainer->arena, trainer->base, bytes);
    struct emu_carver carver = {.arena = &trainer->arena};
    carve(trainer, &carver);
    if (carver.failed)
        return EMU_EINTERNAL;
    ops_of(trainer)->wire(trainer);
    return emu_trainer_initialise(trainer);
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

/* Where this rank sits, and with whom it combines. */
static enum emu_status place(struct emu_trainer *trainer, struct emu_rank *rank)
{
    const struct emu_plan *plan = trainer->plan;
    const struct emu_mesh *mesh = emu_rank_mesh(rank);
    uint32_t id = emu_rank_id(rank);
    trainer->nn.rank = rank;
    trainer->all_axes = emu_axes_all(mesh);
    trainer->dp_index = emu_mesh_coord(mesh, id, "dp");
    if (emu_deviates(trainer, EMU_DEVIATE_TRANSPOSED, 0, 0, NULL))
        trainer->dp_index = emu_mesh_coord(mesh, id, "tp") % plan->dp;
    trainer->dp_read = trainer->dp_index;
    trainer->source_offset = emu_plan_source(plan, trainer->dp_index, trainer->cp_index, 0);
    enum emu_status status = group_of(plan, plan->tp_family, id, &trainer->nn.tp_group);
    if (status == EMU_OK)
        status = group_of(plan, plan->gradient_family, id, &trainer->token_group);
    if (status == EMU_OK)
        status = group_of(plan, plan->loss_family, id, &trainer->loss_group);
    if (status == EMU_OK)
        status = group_of(plan, plan->shard_family, id, &trainer->shard_group);
    return status;
}

static struct emu_share share_of(const struct emu_plan *plan, const struct emu_rank *rank,
                                 const struct emu_step_hooks *hooks)
{
    const struct emu_mesh *mesh = emu_rank_mesh(rank);
    uint32_t id = emu_rank_id(rank);
    struct emu_deviation_place place = {.rank = id};
    struct emu_share share = {emu_mesh_coord(mesh, id, "tp"), emu_mesh_coord(mesh, id, "cp"),
                              emu_mesh_coord(mesh, id, "pp"), emu_plan_shard_index(plan, id)};
    uint64_t ignored;
    if (hooks && hooks->deviates(hooks->user, EMU_DEVIATE_TRANSPOSED, &place, &ignored))
        share.tp_index = emu_mesh_coord(mesh, id, "dp") % plan->tp;
    return share;
}

enum emu_status emu_trainer_create(const struct emu_plan *plan, const struct emu_corpus *corpus,
                                   struct emu_rank *rank, struct emu_trainer **trainer)
{
    return emu_trainer_create_hooked(plan, corpus, rank, NULL, trainer);
}

enum emu_status emu_trainer_create_hooked(const struct emu_plan *plan,
                                          const struct emu_corpus *corpus, struct emu_rank *rank,
                                          const struct emu_step_hooks *hooks,
                                          struct emu_trainer **trainer)
{
    struct emu_trainer *made;
    struct emu_share share = share_of(plan, rank, hooks);
    enum emu_status status = prepare(plan, share, hooks, rank, &made);
    if (status != EMU_OK)
        return status;
    made->corpus = corpus;
    status = place(made, rank);
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
    ops_of(trainer)->finish(trainer);
    free(trainer->parameters);
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

uint32_t emu_trainer_neighbour(const struct emu_trainer *trainer, int by)
{
    const struct emu_mesh *mesh = emu_rank_mesh(trainer->rank);
    uint32_t id = emu_rank_id(trainer->rank);
    int64_t stage = (int64_t)trainer->stage + by;
    int axis = emu_mesh_find(mesh, "pp");
    uint32_t coords[EMU_MESH_MAX_AXES];
    if (axis < 0 || stage < 0 || stage >= trainer->plan->pp)
        return id;
    emu_mesh_coords(mesh, id, coords);
    coords[axis] = (uint32_t)stage;
    return emu_mesh_rank(mesh, coords);
}
