#include "comm/rank.h"
#include "train/model_state.h"
#include "train/trainer.h"

#include <math.h>
#include <string.h>

/* x summed over a group, in place. */
static enum emu_status sum_over(const struct emu_trainer *trainer, uint32_t group, void *x,
                                uint64_t n, const char *label)
{
    struct emu_call call = {.kind = EMU_ALL_REDUCE,
                            .group = group,
                            .count = n,
                            .dtype = trainer->nn.kernels->dtype,
                            .op = EMU_SUM,
                            .input = x,
                            .output = x,
                            .label = label,
                            .file = __FILE__,
                            .line = __LINE__};
    return emu_run_call(trainer->rank, &call);
}

static enum emu_status sum_tokens(struct emu_trainer *trainer)
{
    int64_t tokens = (int64_t)trainer->tokens;
    struct emu_call call = {.kind = EMU_ALL_REDUCE,
                            .group = trainer->token_group,
                            .count = 1,
                            .dtype = EMU_I64,
                            .op = EMU_SUM,
                            .input = &tokens,
                            .output = &tokens,
                            .label = "tokens",
                            .file = __FILE__,
                            .line = __LINE__};
    enum emu_status status = emu_run_call(trainer->rank, &call);
    if (status == EMU_OK)
        trainer->step_tokens = (uint64_t)tokens;
    return status;
}

static void clear(struct emu_trainer *trainer)
{
    const struct emu_kernels *kernels = trainer->nn.kernels;
    for (uint32_t i = 0; i < trainer->plan->tensor_count; i++)
        kernels->zero(trainer->parameters[i].gradient, trainer->parameters[i].room);
    kernels->zero(trainer->loss, 1);
    trainer->tokens = 0;
    trainer->batch_hash = (struct emu_hash){0};
}

/* Forward and backward of one source into the fresh gradients, then into the accumulated ones. */
static enum emu_status run_source(struct emu_trainer *trainer, uint32_t source)
{
    const struct emu_kernels *kernels = trainer->nn.kernels;
    const struct emu_model_ops *ops = emu_model_ops_of(trainer->plan->config->model.kind);
    bool apart = trainer->plan->microbatches > 1;
    for (uint32_t i = 0; apart && i < trainer->plan->tensor_count; i++)
        kernels->zero(trainer->parameters[i].fresh, trainer->parameters[i].room);
    ops->load(trainer, source, &trainer->batch_hash);
    enum emu_status status = ops->run(trainer);
    if (status != EMU_OK)
        return status;
    for (uint32_t i = 0; apart && i < trainer->plan->tensor_count; i++)
        kernels->add(trainer->parameters[i].gradient, trainer->parameters[i].fresh,
                     trainer->parameters[i].elements);
    return EMU_OK;
}

static enum emu_status count_tokens(struct emu_trainer *trainer)
{
    const struct emu_model_ops *ops = emu_model_ops_of(trainer->plan->config->model.kind);
    trainer->tokens = 0;
    for (uint32_t micro = 0; micro < trainer->plan->microbatches; micro++)
        trainer->tokens += ops->count(trainer, trainer->source_offset + micro);
    return sum_tokens(trainer);
}

/* Gradients and loss: sum over the ranks that saw other tokens, then the one division. */
static enum emu_status reduce(struct emu_trainer *trainer)
{
    const struct emu_kernels *kernels = trainer->nn.kernels;
    trainer->local_loss = kernels->get(trainer->loss, 0);
    enum emu_status status = sum_over(trainer, trainer->token_group, trainer->loss, 1, "loss");
    if (status != EMU_OK)
        return status;
    double tokens = (double)trainer->step_tokens;
    kernels->scale(trainer->loss, 1, 1.0, tokens);
    for (uint32_t i = 0; i < trainer->plan->tensor_count; i++) {
        struct emu_parameter *parameter = &trainer->parameters[i];
        status = sum_over(trainer, trainer->token_group, parameter->gradient, parameter->elements,
                          trainer->plan->tensors[i].name);
        if (status != EMU_OK)
            return status;
        kernels->scale(parameter->gradient, parameter->elements, 1.0, tokens);
    }
    return EMU_OK;
}

/* Global norm, each unique parameter once: replicated tensors count at tp 0 alone. */
static enum emu_status measure(struct emu_trainer *trainer)
{
    const struct emu_kernels *kernels = trainer->nn.kernels;
    kernels->zero(trainer->squares, 1);
    for (uint32_t i = 0; i < trainer->plan->tensor_count; i++) {
        const struct emu_parameter *parameter = &trainer->parameters[i];
        bool shard = emu_tensor_is_shard(trainer->plan, i);
        if (shard || trainer->tp_index == 0)
            kernels->sum_squares(trainer->squares, parameter->gradient, parameter->elements);
    }
    enum emu_status status =
        sum_over(trainer, trainer->nn.tp_group, trainer->squares, 1, "grad_norm");
    if (status == EMU_OK)
        kernels->clip(trainer->factor, trainer->norm, trainer->squares, INFINITY);
    return status;
}

static void update(struct emu_trainer *trainer)
{
    const struct emu_kernels *kernels = trainer->nn.kernels;
    const struct emu_optimizer_config *optimizer = &trainer->plan->config->optimizer;
    struct emu_adamw adamw = {optimizer->lr,      optimizer->beta1,        optimizer->beta2,
                              optimizer->epsilon, optimizer->weight_decay, trainer->step};
    for (uint32_t i = 0; i < trainer->plan->tensor_count; i++) {
        struct emu_parameter *p = &trainer->parameters[i];
        switch (optimizer->kind) {
        case EMU_SGD:
            kernels->sgd(p->weight, p->gradient, p->elements, optimizer->lr);
            break;
        case EMU_MOMENTUM:
            kernels->momentum(p->weight, p->moment[0], p->gradient, p->elements, optimizer->lr,
                              optimizer->momentum);
            break;
        case EMU_ADAMW:
            kernels->adamw(p->weight, p->moment[0], p->moment[1], p->gradient, p->elements, &adamw);
            break;
        }
    }
}

enum emu_status emu_trainer_step(struct emu_trainer *trainer)
{
    emu_rank_set_step(trainer->rank, trainer->step + 1);
    clear(trainer);
    enum emu_status status = count_tokens(trainer);
    for (uint32_t micro = 0; status == EMU_OK && micro < trainer->plan->microbatches; micro++)
        status = run_source(trainer, trainer->source_offset + micro);
    if (status == EMU_OK)
        status = reduce(trainer);
    if (status == EMU_OK)
        status = measure(trainer);
    if (status != EMU_OK)
        return status;
    trainer->step++;
    update(trainer);
    return EMU_OK;
}
