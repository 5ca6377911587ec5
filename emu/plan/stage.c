/* Which part of a model does a pipeline stage hold, and who combines what of it? */
#include "plan/plan.h"

static bool stages_given(const struct emu_plan *plan)
{
    return plan->pp > 1 && plan->config->model.stages;
}

struct emu_slice emu_plan_layers(const struct emu_plan *plan, uint32_t stage)
{
    const struct emu_model_config *model = &plan->config->model;
    if (!stages_given(plan))
        return emu_slice_even(model->layers, plan->pp, stage);
    struct emu_slice layers = {0, model->stages[stage]};
    for (uint32_t i = 0; i < stage; i++)
        layers.start += model->stages[i];
    return layers;
}

bool emu_tensor_tied(const struct emu_plan *plan, uint32_t tensor)
{
    return plan->tensors[tensor].tied && plan->pp > 1;
}

bool emu_tensor_held(const struct emu_plan *plan, uint32_t tensor, uint32_t stage)
{
    if (plan->pp == 1 || plan->tensors[tensor].stage == stage)
        return true;
    return emu_tensor_tied(plan, tensor) && stage == plan->pp - 1;
}

bool emu_tensor_sliced(const struct emu_plan *plan, uint32_t tensor)
{
    return plan->tensors[tensor].sliced && plan->tp > 1;
}

uint32_t emu_tensor_uses(const struct emu_plan *plan, uint32_t tensor)
{
    if (emu_tensor_tied(plan, tensor))
        return 2;
    return emu_tensor_sliced(plan, tensor) ? plan->tp : 1;
}

uint32_t emu_tensor_lanes(const struct emu_plan *plan, uint32_t tensor)
{
    return emu_plan_sources(plan) * emu_tensor_uses(plan, tensor);
}

const struct emu_axes *emu_reduction_axes(const struct emu_plan *plan,
                                          const struct emu_reduction_plan *reduction,
                                          uint32_t tensor, uint32_t *family)
{
    bool tied = emu_tensor_tied(plan, tensor);
    *family = tied ? reduction->tied_family : reduction->family;
    return tied ? &reduction->tied_axes : &reduction->axes;
}

uint32_t emu_plan_stage_of(const struct emu_plan *plan, uint64_t layer)
{
    uint32_t stage = 0;
    struct emu_slice layers = emu_plan_layers(plan, 0);
    while (layer >= layers.start + layers.count)
        layers = emu_plan_layers(plan, ++stage);
    return stage;
}

struct emu_slice emu_plan_chunk(const struct emu_plan *plan, uint64_t n, uint32_t index)
{
    return emu_slice_chunk(n, plan->shard_parts, index);
}

bool emu_plan_shards_moments(const struct emu_plan *plan)
{
    return plan->shard_family != UINT32_MAX && plan->shard >= EMU_ZERO1;
}

bool emu_plan_shards_gradients(const struct emu_plan *plan)
{
    return plan->shard_family != UINT32_MAX && plan->shard >= EMU_ZERO2;
}

bool emu_plan_shards_weights(const struct emu_plan *plan)
{
    return plan->shard_family != UINT32_MAX && plan->shard >= EMU_ZERO3;
}

uint32_t emu_plan_shard_index(const struct emu_plan *plan, uint32_t rank)
{
    if (plan->shard_family == UINT32_MAX)
        return 0;
    struct emu_group group = emu_group_of(plan->roster.mesh, &plan->shard_axes, rank);
    return (uint32_t)emu_group_index(&group, rank);
}
