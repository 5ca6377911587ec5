#include "train/update.h"

#include "train/deviate.h"

#include <string.h>

static void *at(const struct emu_trainer *trainer, void *x, uint64_t element)
{
    return (unsigned char *)x + element * trainer->nn.kernels->bytes;
}

/* The weights that this rank updates: its chunk. */
static void *own_weights(const struct emu_trainer *trainer, const struct emu_parameter *p)
{
    return p->weight_chunk ? p->weight_chunk : at(trainer, p->weight, p->chunk.start);
}

/* The gradient that the optimizer sees: clipped into the fresh buffer where the recipe clips. */
static const void *own_gradient(const struct emu_trainer *trainer, const struct emu_parameter *p)
{
    const struct emu_kernels *kernels = trainer->nn.kernels;
    void *gradient = p->scattered ? p->gradient_chunk : at(trainer, p->gradient, p->chunk.start);
    if (!trainer->plan->recipe.clipped || p->chunk.count == 0)
        return gradient;
    memcpy(p->fresh, gradient, p->chunk.count * kernels->bytes);
    kernels->scale_by(p->fresh, p->chunk.count, trainer->factor);
    return p->fresh;
}

static void update_one(const struct emu_trainer *trainer, const struct emu_parameter *p)
{
    const struct emu_kernels *kernels = trainer->nn.kernels;
    const struct emu_optimizer_config *optimizer = &trainer->plan->config->optimizer;
    struct emu_adamw adamw = {optimizer->lr,      optimizer->beta1,        optimizer->beta2,
                              optimizer->epsilon, optimizer->weight_decay, trainer->step};
    const void *gradient = own_gradient(trainer, p);
    void *weight = own_weights(trainer, p);
    uint64_t n = p->chunk.count;
    switch (optimizer->kind) {
    case EMU_SGD:
        kernels->sgd(weight, gradient, n, optimizer->lr);
        break;
    case EMU_MOMENTUM:
        kernels->momentum(weight, p->moment[0], gradient, n, optimizer->lr, optimizer->momentum);
        break;
    case EMU_ADAMW:
        kernels->adamw(weight, p->moment[0], p->moment[1], gradient, n, &adamw);
        break;
    }
}

/* The chunks of the shard group become the whole block again. */
static enum emu_status gather(struct emu_trainer *trainer, uint32_t tensor)
{
    const struct emu_parameter *p = &trainer->parameters[tensor];
    if (emu_deviates(trainer, EMU_DEVIATE_SKIP_GATHER, tensor, 0, NULL))
        return EMU_OK;
    const void *own = p->weight_chunk;
    if (!own) { /* the chunk lies inside the output: a copy goes out */
        if (p->chunk.count)
            memcpy(p->fresh, own_weights(trainer, p), p->chunk.count * trainer->nn.kernels->bytes);
        own = p->fresh;
    }
    struct emu_call call = {.kind = EMU_ALL_GATHER,
                            .group = trainer->shard_group,
                            .count = p->elements,
                            .dtype = trainer->nn.kernels->dtype,
                            .layout = EMU_LAYOUT_CHUNKS,
                            .input = own,
                            .output = p->weight,
                            .label = trainer->plan->tensors[tensor].name,
                            .file = __FILE__,
                            .line = __LINE__};
    return emu_run_call(trainer->rank, &call);
}

enum emu_status emu_trainer_update(struct emu_trainer *trainer)
{
    bool shards = emu_plan_shards_moments(trainer->plan);
    bool stays = emu_deviates(trainer, EMU_DEVIATE_SKIP_UPDATE, 0, 0, NULL);
    for (uint32_t i = 0; i < trainer->plan->tensor_count; i++) {
        const struct emu_parameter *p = &trainer->parameters[i];
        if (!p->held)
            continue;
        if (!stays)
            update_one(trainer, p);
        enum emu_status status = shards ? gather(trainer, i) : EMU_OK;
        if (status != EMU_OK)
            return status;
    }
    return EMU_OK;
}
