#include "comm/rank.h"
#include "train/combine.h"
#include "train/deviate.h"
#include "train/model_state.h"
#include "train/norm.h"
#include "train/trainer.h"
#include "train/update.h"

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

/* This rank's valid tokens summed over a group. */
static enum emu_status sum_tokens(const struct emu_trainer *trainer, uint32_t group,
                                  const char *label, uint64_t *out)
{
    int64_t tokens = (int64_t)trainer->tokens;
    struct emu_call call = {.kind = EMU_ALL_REDUCE,
                            .group = group,
                            .count = 1,
                            .dtype = EMU_I64,
                            .op = EMU_SUM,
                            .input = &tokens,
                            .output = &tokens,
                            .label = label,
                            .file = __FILE__,
                            .line = __LINE__};
    enum emu_status status = emu_run_call(trainer->rank, &call);
    if (status == EMU_OK)
        *out = (uint64_t)tokens;
    return status;
}

/* A step that divides by the tokens of its own slice of the sequences adds these up. */
static enum emu_status sum_slice(struct emu_trainer *trainer)
{
    const struct emu_roster *roster = &trainer->plan->roster;
    uint32_t family, group = EMU_GROUP_SELF;
    trainer->slice_tokens = UINT64_MAX;
    if (!emu_deviates(trainer, EMU_DEVIATE_SLICE_DENOMINATOR, 0, 0, NULL))
        return EMU_OK;
    enum emu_status status = EMU_OK;
    if (emu_roster_find(roster, "dp", &family) == EMU_OK)
        status = emu_roster_group_of(roster, family, emu_rank_id(trainer->rank), &group);
    if (status == EMU_OK)
        status = sum_tokens(trainer, group, "tokens.slice", &trainer->slice_tokens);
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
    enum emu_status status =
        sum_tokens(trainer, trainer->token_group, "tokens", &trainer->step_tokens);
    return status == EMU_OK ? sum_slice(trainer) : status;
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
        struct emu_action action = emu_trainer_action(trainer, i);
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
        status = emu_norm_measure(trainer);
    }
    if (status != EMU_OK)
        return status;
    trainer->step++;
    return stopped ? EMU_OK : emu_trainer_update(trainer);
}
