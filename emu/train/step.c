#include "comm/rank.h"
#include "train/combine.h"
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

static enum emu_status count_tokens(struct emu_trainer *trainer)
{
    const struct emu_model_ops *ops = emu_model_ops_of(trainer->plan->config->model.kind);
    trainer->tokens = 0;
    for (uint32_t micro = 0; micro < trainer->plan->microbatches; micro++) {
        trainer->source_tokens[micro] = ops->count(trainer, trainer->source_offset + micro);
        trainer->tokens += trainer->source_tokens[micro];
    }
    return sum_tokens(trainer);
}

/* Forward and backward of one source; its loss joins the others in the order of the sources. */
static enum emu_status run_source(struct emu_trainer *trainer, uint32_t micro)
{
    const struct emu_model_ops *ops = emu_model_ops_of(trainer->plan->config->model.kind);
    const struct emu_kernels *kernels = trainer->nn.kernels;
    emu_rounding_at("forward and backward");
    kernels->zero(trainer->source_loss, 1);
    emu_combine_open(trainer, micro);
    ops->load(trainer, trainer->source_offset + micro, &trainer->batch_hash);
    enum emu_status status = ops->run(trainer);
    kernels->add_term(trainer->loss, trainer->source_loss, 1, emu_plan_sources(trainer->plan));
    return status == EMU_OK ? emu_combine_close(trainer, micro) : status;
}

/* Every source, combined as the recipe says, and the sum of the loss. */
static enum emu_status run_sources(struct emu_trainer *trainer)
{
    enum emu_status status = EMU_OK;
    trainer->batch_hash = (struct emu_hash){0};
    trainer->nn.kernels->zero(trainer->loss, 1);
    emu_rounding_begin();
    for (uint32_t micro = 0; status == EMU_OK && micro < trainer->plan->microbatches; micro++)
        if (emu_combine_goes_on(trainer))
            status = run_source(trainer, micro);
    trainer->local_loss = trainer->nn.kernels->get(trainer->loss, 0);
    if (status == EMU_OK && emu_combine_goes_on(trainer)) {
        emu_rounding_at("loss");
        status = sum_over(trainer, trainer->token_group, trainer->loss, 1, "loss");
    }
    if (status == EMU_OK && emu_combine_goes_on(trainer))
        status = emu_combine_reduce(trainer);
    trainer->rounding = emu_rounding_end();
    return status;
}

/* The last factor of the recipe; the loss is the mean over all valid tokens whatever the recipe. */
static void scale_results(struct emu_trainer *trainer)
{
    trainer->nn.kernels->scale(trainer->loss, 1, 1.0, (double)trainer->step_tokens);
    emu_combine_finish(trainer);
}

/* Global norm, each unique parameter once: replicated tensors count at tp 0 alone. */
static enum emu_status measure(struct emu_trainer *trainer)
{
    const struct emu_recipe_plan *recipe = &trainer->plan->recipe;
    const struct emu_kernels *kernels = trainer->nn.kernels;
    uint64_t terms = (uint64_t)trainer->plan->tensor_count * trainer->plan->split_most;
    kernels->zero(trainer->squares, 1);
    for (uint32_t i = 0; i < trainer->plan->tensor_count; i++) {
        const struct emu_parameter *parameter = &trainer->parameters[i];
        if (!emu_tensor_is_shard(trainer->plan, i) && trainer->tp_index != 0)
            continue;
        kernels->zero(trainer->tensor_squares, 1);
        kernels->sum_squares(trainer->tensor_squares, parameter->gradient, parameter->elements);
        kernels->add_term(trainer->squares, trainer->tensor_squares, 1, terms);
    }
    enum emu_status status =
        sum_over(trainer, trainer->nn.tp_group, trainer->squares, 1, "grad_norm");
    if (status == EMU_OK)
        kernels->clip(trainer->factor, trainer->norm, trainer->squares,
                      recipe->clipped ? recipe->max_norm : INFINITY);
    return status;
}

/* The gradient that the optimizer sees: clipped into the fresh buffer where the recipe clips. */
static const void *clipped(const struct emu_trainer *trainer, const struct emu_parameter *p)
{
    const struct emu_kernels *kernels = trainer->nn.kernels;
    if (!trainer->plan->recipe.clipped)
        return p->gradient;
    memcpy(p->fresh, p->gradient, p->elements * kernels->bytes);
    kernels->scale_by(p->fresh, p->elements, trainer->factor);
    return p->fresh;
}

static void update(struct emu_trainer *trainer)
{
    const struct emu_kernels *kernels = trainer->nn.kernels;
    const struct emu_optimizer_config *optimizer = &trainer->plan->config->optimizer;
    struct emu_adamw adamw = {optimizer->lr,      optimizer->beta1,        optimizer->beta2,
                              optimizer->epsilon, optimizer->weight_decay, trainer->step};
    for (uint32_t i = 0; i < trainer->plan->tensor_count; i++) {
        struct emu_parameter *p = &trainer->parameters[i];
        const void *gradient = clipped(trainer, p);
        switch (optimizer->kind) {
        case EMU_SGD:
            kernels->sgd(p->weight, gradient, p->elements, optimizer->lr);
            break;
        case EMU_MOMENTUM:
            kernels->momentum(p->weight, p->moment[0], gradient, p->elements, optimizer->lr,
                              optimizer->momentum);
            break;
        case EMU_ADAMW:
            kernels->adamw(p->weight, p->moment[0], p->moment[1], gradient, p->elements, &adamw);
            break;
        }
    }
}

enum emu_status emu_trainer_step(struct emu_trainer *trainer)
{
    emu_rank_set_step(trainer->rank, trainer->step + 1);
    emu_combine_begin(trainer);
    enum emu_status status = count_tokens(trainer);
    if (status == EMU_OK)
        status = run_sources(trainer);
    bool stopped = !emu_combine_goes_on(trainer);
    if (status == EMU_OK && !stopped) {
        scale_results(trainer);
        status = measure(trainer);
    }
    if (status != EMU_OK)
        return status;
    trainer->step++;
    if (!stopped)
        update(trainer);
    return EMU_OK;
}
