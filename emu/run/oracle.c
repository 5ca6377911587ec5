#include "run/oracle.h"

#include "comm/rank.h"
#include "train/trainer.h"

#include <stdlib.h>

struct emu_oracle {
    struct emu_plan *plan; /* on a mesh of one */
    void *memory;          /* the rank's arena */
    struct emu_rank *rank;
    struct emu_trainer *trainer;
    const struct emu_bounded **arrays; /* 4 a tensor: weight, gradient, two moments */
};

static enum emu_status build(struct emu_oracle *oracle, const struct emu_corpus *corpus)
{
    uint64_t bytes;
    enum emu_status status = emu_trainer_bytes(oracle->plan, 0, &bytes);
    if (status != EMU_OK)
        return status;
    if (bytes > SIZE_MAX - EMU_ARENA_ALIGN)
        return EMU_ERANGE;
    oracle->memory = calloc(1, bytes + EMU_ARENA_ALIGN);
    oracle->arrays = calloc(4 * (size_t)oracle->plan->tensor_count, sizeof *oracle->arrays);
    if (!oracle->memory || !oracle->arrays)
        return EMU_ENOMEM;
    uintptr_t start = (uintptr_t)oracle->memory;
    uintptr_t lead = (EMU_ARENA_ALIGN - start % EMU_ARENA_ALIGN) % EMU_ARENA_ALIGN;
    unsigned char *arena = (unsigned char *)oracle->memory + lead;
    status = emu_rank_create_self(&oracle->plan->roster, arena, bytes, &oracle->rank);
    if (status != EMU_OK)
        return status;
    return emu_trainer_create(oracle->plan, corpus, oracle->rank, &oracle->trainer);
}

enum emu_status emu_oracle_create(const struct emu_plan *plan, const struct emu_corpus *corpus,
                                  struct emu_oracle **oracle)
{
    struct emu_oracle *made = calloc(1, sizeof *made);
    if (!made)
        return EMU_ENOMEM;
    enum emu_status status = emu_plan_create_oracle(plan, &made->plan);
    if (status == EMU_OK)
        status = build(made, corpus);
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
    emu_trainer_destroy(oracle->trainer);
    if (oracle->rank)
        emu_rank_destroy(oracle->rank);
    free(oracle->memory);
    free(oracle->arrays);
    emu_plan_destroy(oracle->plan);
    free(oracle);
}

/* Copy one block of a rank's arena into the whole tensor of the oracle. */
static void load_block(const struct emu_evidence *evidence, const unsigned char *from,
                       const struct emu_tensor_record *block, uint64_t columns,
                       struct emu_bounded *to)
{
    bool single = evidence->plan->dtype == EMU_F32;
    for (uint64_t i = 0; i < block->rows; i++) {
        for (uint64_t j = 0; j < block->columns; j++) {
            uint64_t local = i * block->columns + j;
            uint64_t whole = (block->first_row + i) * columns + block->first_column + j;
            to[whole].value =
                single ? (double)((const float *)from)[local] : ((const double *)from)[local];
            to[whole].bound = 0.0;
        }
    }
}

static void load_rank(struct emu_oracle *oracle, const struct emu_evidence *evidence, uint32_t rank)
{
    for (uint32_t i = 0; i < oracle->plan->tensor_count; i++) {
        const struct emu_tensor_record *block = &evidence->records[rank]->tensors[i];
        const struct emu_parameter *whole = &oracle->trainer->parameters[i];
        const unsigned char *arena = evidence->arenas[rank];
        uint64_t columns = oracle->plan->tensors[i].columns;
        load_block(evidence, arena + block->weight, block, columns, whole->weight);
        for (uint32_t m = 0; m < oracle->plan->moments; m++)
            load_block(evidence, arena + block->moment[m], block, columns, whole->moment[m]);
    }
}

void emu_oracle_load(struct emu_oracle *oracle, const struct emu_evidence *evidence)
{
    const struct emu_mesh *mesh = evidence->plan->roster.mesh;
    int tp = emu_mesh_find(mesh, "tp");
    for (uint32_t index = 0; index < evidence->plan->tp; index++) {
        uint32_t coords[EMU_MESH_MAX_AXES] = {0};
        if (tp >= 0)
            coords[tp] = index;
        load_rank(oracle, evidence, emu_mesh_rank(mesh, coords));
    }
    oracle->trainer->step = evidence->step;
}

enum emu_status emu_oracle_run(struct emu_oracle *oracle, struct emu_oracle_step *view)
{
    enum emu_status status = emu_trainer_step(oracle->trainer);
    if (status != EMU_OK)
        return status;
    uint32_t count = oracle->plan->tensor_count;
    const struct emu_bounded **arrays = oracle->arrays;
    for (uint32_t i = 0; i < count; i++) {
        const struct emu_parameter *parameter = &oracle->trainer->parameters[i];
        arrays[i] = parameter->weight;
        arrays[count + i] = parameter->gradient;
        arrays[2 * count + i] = parameter->moment[0];
        arrays[3 * count + i] = parameter->moment[1];
    }
    *view = (struct emu_oracle_step){.weight = arrays,
                                     .gradient = arrays + count,
                                     .moment = {arrays + 2 * count, arrays + 3 * count},
                                     .loss = emu_trainer_loss(oracle->trainer),
                                     .grad_norm = emu_trainer_norm(oracle->trainer),
                                     .tokens = oracle->trainer->step_tokens};
    return EMU_OK;
}
