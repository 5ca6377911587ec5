#include "comm/rank.h"
#include "plan/schedule.h"
#include "train/combine.h"
#include "train/deviate.h"
#include "train/model_state.h"
#include "train/trainer.h"
#include "train/update.h"

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
    uint32_t first = emu_trainer_source(trainer, 0);
    trainer->dp_read = first / (trainer->plan->shape.cp * trainer->plan->shape.microbatches);
    for (uint32_t micro = 0; micro < trainer->plan->microbatches; micro++) {
        trainer->source_tokens[micro] = ops->count(trainer, emu_trainer_source(trainer, micro));
        trainer->tokens += trainer->source_tokens[micro];
    }
    return sum_tokens(trainer);
}

/* Backward of one microbatch; its loss joins the others in the order of the sources. */
static enum emu_status run_backward(struct emu_trainer *trainer, uint32_t micro)
{
    const struct emu_model_ops *ops = emu_model_ops_of(trainer->plan->config->model.kind);
    const struct emu_kernels *kernels = trainer->nn.kernels;
    kernels->zero(trainer->source_loss, 1);
    emu_combine_open(trainer, micro);
    enum emu_status status = ops->backward(trainer, micro);
    kernels->add_term(trainer->loss, trainer->source_loss, 1, emu_plan_sources(trainer->plan));
    return status == EMU_OK ? emu_combine_close(trainer, micro) : status;
}

/* Every microbatch forward and backward, in the order of the schedule. */
static enum emu_status run_schedule(struct emu_trainer *trainer)
{
    const struct emu_model_ops *ops = emu_model_ops_of(trainer->plan->config->model.kind);
    for (uint32_t i = 0; i < 2 * trainer->plan->microbatches; i++) {
        struct emu_action action = emu_schedule_action(trainer->plan, trainer->stage, i);
        emu_rounding_at("forward and backward");
        enum emu_status status = action.backward ? run_backward(trainer, action.micro)
                                                 : ops->forward(trainer, action.micro);
        if (status != EMU_OK || !emu_combine_goes_on(trainer))
            return status;
    }
    return ops->settle(trainer);
}

/* Every source, combined as the recipe says, and the sum of the loss. */
static enum emu_status run_sources(struct emu_trainer *trainer)
{
    trainer->batch_hash = (struct emu_hash){0};
    trainer->nn.kernels->zero(trainer->loss, 1);
    emu_rounding_begin();
    enum emu_status status = run_schedule(trainer);
    trainer->local_loss = trainer->nn.kernels->get(trainer->loss, 0);
    if (status == EMU_OK && emu_combine_goes_on(trainer)) {
        emu_rounding_at("loss");
        status = sum_over(trainer, trainer->loss_group, trainer->loss, 1, "loss");
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

/* Does this rank count the tensor in the norm? Once each: copies at tp 0, a tied table on the first
 * stage; unless the recipe counts what each rank holds. */
static bool counts(const struct emu_trainer *trainer, uint32_t tensor)
{
    if (!trainer->parameters[tensor].held)
        return false;
    if (trainer->plan->recipe.norm != EMU_COUNT_UNIQUE)
        return true;
    bool copy = !emu_tensor_is_shard(trainer->plan, tensor) && trainer->tp_index != 0;
    bool second = emu_tensor_tied(trainer->plan, tensor) && trainer->stage > 0;
    return !copy && !second;
}

/* The group over which the squares are summed: unique over tp and stages, local over nobody,
 * replicas over all ranks. */
static uint32_t norm_group_of(const struct emu_trainer *trainer)
{
    switch (trainer->plan->recipe.norm) {
    case EMU_COUNT_LOCAL:
        return EMU_GROUP_SELF;
    case EMU_COUNT_REPLICAS:
        return 0; /* world */
    case EMU_COUNT_UNIQUE:
        break;
    }
    return trainer->norm_group;
}

/* Squares of one tensor into tensor_squares[i]: by the chunks of the optimizer's group, in order,
 * so that sharding changes no bit. A scattered gradient gives its own chunk alone. */
static void square(const struct emu_trainer *trainer, uint32_t i, void *out)
{
    const struct emu_kernels *kernels = trainer->nn.kernels;
    const struct emu_parameter *p = &trainer->parameters[i];
    uint32_t parts = trainer->plan->norm_parts;
    if (p->scattered) {
        kernels->sum_squares(out, p->gradient_chunk, p->chunk.count);
        return;
    }
    for (uint32_t part = 0; part < parts; part++) {
        struct emu_slice chunk = emu_slice_chunk(p->elements, parts, part);
        const unsigned char *x = (const unsigned char *)p->gradient + chunk.start * kernels->bytes;
        kernels->zero(trainer->norm, 1); /* free until the norm is known */
        kernels->sum_squares(trainer->norm, x, chunk.count);
        kernels->add_term(out, trainer->norm, 1, parts);
    }
}

static enum emu_status measure(struct emu_trainer *trainer)
{
    const struct emu_recipe_plan *recipe = &trainer->plan->recipe;
    const struct emu_kernels *kernels = trainer->nn.kernels;
    uint32_t count = trainer->plan->tensor_count;
    uint64_t terms = (uint64_t)count * trainer->plan->split_most;
    kernels->zero(trainer->tensor_squares, count);
    for (uint32_t i = 0; i < count; i++)
        if (counts(trainer, i))
            square(trainer, i, (unsigned char *)trainer->tensor_squares + i * kernels->bytes);
    enum emu_status status = EMU_OK;
    if (emu_plan_shards_gradients(trainer->plan) && recipe->norm != EMU_COUNT_LOCAL)
        status = sum_over(trainer, trainer->shard_group, trainer->tensor_squares, count,
                          "grad_norm.chunks");
    if (status != EMU_OK)
        return status;
    kernels->zero(trainer->squares, 1);
    for (uint32_t i = 0; i < count; i++)
        kernels->add_term(trainer->squares,
                          (unsigned char *)trainer->tensor_squares + i * kernels->bytes, 1, terms);
    status = sum_over(trainer, norm_group_of(trainer), trainer->squares, 1, "grad_norm");
    if (status == EMU_OK)
        kernels->clip(trainer->factor, trainer->norm, trainer->squares,
                      recipe->clipped ? recipe->max_norm : INFINITY);
    return status;
}

enum emu_status emu_trainer_step(struct emu_trainer *trainer)
{
    trainer->rank_step = trainer->step + 1;
    emu_rank_set_step(trainer->rank, trainer->rank_step);
    trainer->before = *emu_rank_wired(trainer->rank);
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
    return stopped ? EMU_OK : emu_trainer_update(trainer);
}
