/* The parameters before the first step: drawn in place, or by the first copy and broadcast.
 * Declared in initial_state.h; plan/initial.h says who draws what. */
#include "train/initial_state.h"

#include "comm/rank.h"
#include "plan/initial.h"
#include "train/deviate.h"

#include <stdio.h>
#include <string.h>

static void draw_tensor(struct emu_trainer *trainer, uint32_t i)
{
    const struct emu_kernels *kernels = trainer->nn.kernels;
    struct emu_parameter *parameter = &trainer->parameters[i];
    const struct emu_block *block = &parameter->block;
    const struct emu_tensor_plan *tensor = &trainer->plan->tensors[i];
    uint64_t columns = tensor->columns;
    struct emu_block drawn = *block;
    if (emu_deviates(trainer, EMU_DEVIATE_SAME_SEED, i, 0, NULL))
        drawn = emu_tensor_block(trainer->plan, i, 0);
    /* another seed: numbers that no element of the tensor has */
    bool strange = emu_deviates(trainer, EMU_DEVIATE_SEED, i, 0, NULL);
    uint64_t offset = strange ? tensor->rows * columns : 0;
    for (uint64_t e = 0; e < parameter->elements; e++) {
        uint64_t row = drawn.first_row + e / block->columns;
        uint64_t column = drawn.first_column + e % block->columns;
        kernels->set(parameter->weight, e,
                     emu_plan_draw(trainer->plan, i, offset + row * columns + column));
    }
}

static enum emu_status broadcast(struct emu_trainer *trainer, uint32_t i)
{
    const struct emu_parameter *parameter = &trainer->parameters[i];
    char label[EMU_TENSOR_NAME_MAX + sizeof "initial."];
    uint32_t group;
    if (!parameter->held ||
        !emu_initial_group(trainer->plan, i, emu_rank_id(trainer->rank), &group) ||
        emu_deviates(trainer, EMU_DEVIATE_SKIP_BROADCAST, i, 0, NULL))
        return EMU_OK;
    snprintf(label, sizeof label, "initial.%s", trainer->plan->tensors[i].name);
    struct emu_call call = {.kind = EMU_BROADCAST,
                            .group = group,
                            .count = parameter->elements,
                            .dtype = trainer->nn.kernels->dtype,
                            .input = parameter->weight,
                            .output = parameter->weight,
                            .label = label,
                            .file = __FILE__,
                            .line = __LINE__};
    return emu_run_call(trainer->rank, &call);
}

/* zero3: what this rank owns of the parameters. */
static void keep_chunk(const struct emu_trainer *trainer, struct emu_parameter *p)
{
    uint64_t bytes = trainer->nn.kernels->bytes;
    if (p->held && p->weight_chunk && p->chunk.count)
        memcpy(p->weight_chunk, (unsigned char *)p->weight + p->chunk.start * bytes,
               p->chunk.count * bytes);
}

enum emu_status emu_trainer_initialise(struct emu_trainer *trainer)
{
    enum emu_status status = EMU_OK;
    for (uint32_t i = 0; i < trainer->plan->tensor_count; i++) {
        struct emu_parameter *parameter = &trainer->parameters[i];
        if (!parameter->held)
            continue;
        trainer->nn.kernels->zero(parameter->weight, parameter->room);
        if (emu_initial_draws(trainer->plan, i, emu_rank_id(trainer->rank)))
            draw_tensor(trainer, i);
    }
    for (uint32_t i = 0; i < trainer->plan->tensor_count && status == EMU_OK; i++) {
        status = broadcast(trainer, i);
        keep_chunk(trainer, &trainer->parameters[i]);
    }
    return status;
}
