#include "run/oracle.h"

#include "check/evidence.h"
#include "comm/rank.h"
#include "nn/halt.h"
#include "run/halt_filter.h"
#include "train/trainer.h"
#include "train/weigh.h"

#include <stdlib.h>
#include <string.h>

/* A trainer on a mesh of one with all that it stands on. */
struct solo {
    struct emu_plan *plan;
    void *memory; /* the rank's arena and room to align it */
    struct emu_rank *rank;
    struct emu_trainer *trainer;
};

struct emu_oracle {
    struct solo bounded;
    struct solo twin;                  /* plain numbers, in exact arithmetic alone */
    const struct emu_bounded **arrays; /* 4 a tensor: weight, gradient, two moments */
    struct emu_bounded **sharp;        /* likewise, what the twin computed; owned */
    struct emu_bounded **start;        /* 1 a tensor: weights before the last step; owned */
    uint64_t start_step;
};

static enum emu_status settle(struct solo *solo, const struct emu_corpus *corpus)
{
    uint64_t bytes;
    enum emu_status status = emu_trainer_bytes(solo->plan, (struct emu_share){0}, &bytes);
    if (status != EMU_OK)
        return status;
    if (bytes > SIZE_MAX - EMU_ARENA_ALIGN)
        return EMU_ERANGE;
    solo->memory = calloc(1, bytes + EMU_ARENA_ALIGN);
    if (!solo->memory)
        return EMU_ENOMEM;
    uintptr_t start = (uintptr_t)solo->memory;
    uintptr_t lead = (EMU_ARENA_ALIGN - start % EMU_ARENA_ALIGN) % EMU_ARENA_ALIGN;
    unsigned char *arena = (unsigned char *)solo->memory + lead;
    status = emu_rank_create_self(&solo->plan->roster, arena, bytes, &solo->rank);
    if (status == EMU_OK)
        status = emu_halt_filter_push(solo->rank);
    if (status != EMU_OK)
        return status;
    return emu_trainer_create(solo->plan, corpus, solo->rank, &solo->trainer);
}

static void dismiss(struct solo *solo)
{
    emu_trainer_destroy(solo->trainer);
    if (solo->rank)
        emu_rank_destroy(solo->rank);
    free(solo->memory);
    emu_plan_destroy(solo->plan);
}

static enum emu_status engage(const struct emu_plan *plan, const struct emu_corpus *corpus,
                              bool bounded, struct solo *solo)
{
    enum emu_status status = emu_plan_create_oracle(plan, bounded, &solo->plan);
    return status == EMU_OK ? settle(solo, corpus) : status;
}

/* One array of pairs for each of `count` places, as long as the tensor of the place. */
static struct emu_bounded **pairs(const struct emu_plan *plan, size_t count)
{
    struct emu_bounded **arrays = calloc(count, sizeof *arrays);
    for (size_t i = 0; arrays && i < count; i++) {
        const struct emu_tensor_plan *tensor = &plan->tensors[i % plan->tensor_count];
        arrays[i] = calloc(tensor->rows * tensor->columns, sizeof **arrays);
    }
    return arrays;
}

static bool complete(struct emu_bounded *const *arrays, size_t count)
{
    for (size_t i = 0; arrays && i < count; i++)
        if (!arrays[i])
            return false;
    return arrays != NULL;
}

static void drop(struct emu_bounded **arrays, size_t count)
{
    for (size_t i = 0; arrays && i < count; i++)
        free(arrays[i]);
    free(arrays);
}

static enum emu_status build(struct emu_oracle *oracle, const struct emu_plan *plan,
                             const struct emu_corpus *corpus)
{
    size_t count = plan->tensor_count;
    oracle->arrays = calloc(4 * count, sizeof *oracle->arrays);
    oracle->start = pairs(plan, count);
    if (!oracle->arrays || !complete(oracle->start, count))
        return EMU_ENOMEM;
    enum emu_status status = engage(plan, corpus, true, &oracle->bounded);
    if (status != EMU_OK || plan->config->arithmetic != EMU_ARITH_EXACT)
        return status;
    oracle->sharp = pairs(plan, 4 * count);
    if (!complete(oracle->sharp, 4 * count))
        return EMU_ENOMEM;
    return engage(plan, corpus, false, &oracle->twin);
}

enum emu_status emu_oracle_create(const struct emu_plan *plan, const struct emu_corpus *corpus,
                                  struct emu_oracle **oracle)
{
    struct emu_oracle *made = calloc(1, sizeof *made);
    if (!made)
        return EMU_ENOMEM;
    enum emu_status status = build(made, plan, corpus);
    if (status != EMU_OK) {
        emu_oracle_destroy(made);
        return status;
    }
    *oracle = made;
    return EMU_OK;
}

void emu_oracle_destroy(struct emu_oracle *oracle)
{
    if (!oracle)
        return;
    size_t count = oracle->bounded.plan ? oracle->bounded.plan->tensor_count : 0;
    drop(oracle->start, count);
    drop(oracle->sharp, 4 * count);
    dismiss(&oracle->bounded);
    dismiss(&oracle->twin);
    free(oracle->arrays);
    free(oracle);
}

/* Any rank that holds part `tp_index` of the tensor: 0 on all axes but tp and pp. */
static uint32_t holder_of(const struct emu_evidence *evidence, uint32_t tensor, uint32_t tp_index)
{
    const struct emu_mesh *mesh = emu_evidence_mesh(evidence);
    uint32_t coords[EMU_MESH_MAX_AXES] = {0};
    int tp = emu_mesh_find(mesh, "tp");
    int pp = emu_mesh_find(mesh, "pp");
    if (tp >= 0)
        coords[tp] = tp_index;
    if (pp >= 0)
        coords[pp] = evidence->plan->tensors[tensor].stage;
    return emu_mesh_rank(mesh, coords);
}

/* Copy one block of the mesh's state into a whole tensor. */
static void load_block(const struct emu_evidence *evidence, uint32_t rank, uint32_t tensor,
                       enum emu_state state, const struct emu_kernels *kernels, void *to)
{
    uint64_t n = emu_evidence_elements(emu_evidence_tensor(evidence, rank, tensor));
    for (uint64_t e = 0; e < n; e++)
        kernels->set(to, emu_evidence_logical(evidence, rank, tensor, e),
                     emu_evidence_value(evidence, rank, tensor, state, e));
}

static void load_tensor(struct solo *solo, const struct emu_evidence *evidence, uint32_t tensor)
{
    const struct emu_kernels *kernels = solo->trainer->nn.kernels;
    const struct emu_parameter *whole = &solo->trainer->parameters[tensor];
    for (uint32_t index = 0; index < evidence->plan->tp; index++) {
        uint32_t rank = holder_of(evidence, tensor, index);
        load_block(evidence, rank, tensor, EMU_STATE_WEIGHT, kernels, whole->weight);
        for (uint32_t m = 0; m < solo->plan->moments; m++)
            load_block(evidence, rank, tensor, (enum emu_state)(EMU_STATE_MOMENT_0 + m), kernels,
                       whole->moment[m]);
    }
}

static void load_solo(struct solo *solo, const struct emu_evidence *evidence)
{
    for (uint32_t i = 0; i < solo->plan->tensor_count; i++)
        load_tensor(solo, evidence, i);
    solo->trainer->step = evidence->step;
}

static uint64_t bytes_of(const struct emu_oracle *oracle, uint32_t tensor)
{
    return oracle->bounded.trainer->parameters[tensor].elements * sizeof(struct emu_bounded);
}

void emu_oracle_load(struct emu_oracle *oracle, const struct emu_evidence *evidence)
{
    load_solo(&oracle->bounded, evidence);
    if (oracle->twin.trainer)
        load_solo(&oracle->twin, evidence);
    for (uint32_t i = 0; i < oracle->bounded.plan->tensor_count; i++)
        memcpy(oracle->start[i], oracle->bounded.trainer->parameters[i].weight,
               bytes_of(oracle, i));
    oracle->start_step = evidence->step;
}

enum emu_status emu_oracle_run(struct emu_oracle *oracle, struct emu_oracle_step *view)
{
    struct emu_trainer *trainer = oracle->bounded.trainer;
    enum emu_status status = emu_trainer_step(trainer);
    if (status == EMU_OK && oracle->twin.trainer)
        status = emu_trainer_step(oracle->twin.trainer);
    if (status == EMU_OK && emu_halt_asked())
        status = EMU_EABORTED;
    if (status != EMU_OK)
        return status;
    uint32_t count = oracle->bounded.plan->tensor_count;
    const struct emu_bounded **arrays = oracle->arrays;
    for (uint32_t i = 0; i < count; i++) {
        const struct emu_parameter *parameter = &trainer->parameters[i];
        arrays[i] = parameter->weight;
        arrays[count + i] = parameter->gradient;
        arrays[2 * count + i] = parameter->moment[0];
        arrays[3 * count + i] = parameter->moment[1];
    }
    *view = (struct emu_oracle_step){.weight = arrays,
                                     .gradient = arrays + count,
                                     .moment = {arrays + 2 * count, arrays + 3 * count},
                                     .loss = emu_trainer_loss(trainer),
                                     .grad_norm = emu_trainer_norm(trainer),
                                     .tokens = trainer->step_tokens};
    return EMU_OK;
}

static void copy_sharp(const struct emu_trainer *trainer, const void *from, uint64_t elements,
                       struct emu_bounded *to)
{
    for (uint64_t e = 0; from && e < elements; e++)
        to[e] = (struct emu_bounded){trainer->nn.kernels->get(from, e), 0.0};
}

/* Did (or might) the step clip? The norm is a rounded root of a sum that no two meshes add in one
 * order, and so is the factor that it gives; a factor of 1 changes nothing. */
static bool may_have_clipped(const struct emu_trainer *twin)
{
    const struct emu_recipe_plan *recipe = &twin->plan->recipe;
    return recipe->clipped && !(emu_trainer_norm(twin).value < recipe->max_norm * (1.0 - 1e-9));
}

bool emu_oracle_sharpen(struct emu_oracle *oracle, struct emu_oracle_step *view)
{
    const struct emu_trainer *twin = oracle->twin.trainer;
    if (!twin || twin->rounding.rounded)
        return false;
    uint32_t count = oracle->twin.plan->tensor_count;
    bool clipped = may_have_clipped(twin);
    for (uint32_t i = 0; i < count; i++) {
        const struct emu_parameter *p = &twin->parameters[i];
        const void *from[] = {p->weight, p->gradient, p->moment[0], p->moment[1]};
        for (uint32_t k = 0; k < 4; k++) {
            if (clipped && k != 1) /* gradients are those before clipping */
                continue;
            copy_sharp(twin, from[k], p->elements, oracle->sharp[k * count + i]);
            oracle->arrays[k * count + i] = from[k] ? oracle->sharp[k * count + i] : NULL;
        }
    }
    view->loss = emu_trainer_loss(twin);
    return true;
}

enum emu_status emu_oracle_weigh(struct emu_oracle *oracle, const struct emu_rational *weights,
                                 uint64_t terms, const struct emu_bounded *const **gradient)
{
    struct emu_trainer *trainer = oracle->bounded.trainer;
    uint32_t count = oracle->bounded.plan->tensor_count;
    for (uint32_t i = 0; i < count; i++)
        memcpy(trainer->parameters[i].weight, oracle->start[i], bytes_of(oracle, i));
    trainer->step = oracle->start_step;
    enum emu_status status = emu_trainer_weigh(trainer, weights, terms);
    trainer->step = oracle->start_step + 1;
    if (status == EMU_OK && emu_halt_asked())
        status = EMU_EABORTED;
    if (status != EMU_OK)
        return status;
    for (uint32_t i = 0; i < count; i++)
        oracle->arrays[count + i] = trainer->parameters[i].gradient;
    *gradient = oracle->arrays + count;
    return EMU_OK;
}
