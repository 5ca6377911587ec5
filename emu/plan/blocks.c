/* Which part of each tensor does a tp rank hold, and what does it hold at the start? */
#include "base/philox.h"
#include "plan/plan.h"

#include <string.h>

bool emu_tensor_is_vocabulary(const struct emu_tensor_plan *tensor)
{
    return tensor->rows == EMU_VOCAB && tensor->over_tp.kind == EMU_SHARD &&
           (!strcmp(tensor->name, "embed.weight") || !strcmp(tensor->name, "head.weight"));
}

struct emu_block emu_tensor_block(const struct emu_plan *plan, uint32_t tensor, uint32_t tp_index)
{
    const struct emu_tensor_plan *t = &plan->tensors[tensor];
    struct emu_block block = {0, t->rows, 0, t->columns};
    if (t->over_tp.kind != EMU_SHARD)
        return block;
    bool by_rows = t->over_tp.dimension == 0;
    struct emu_slice part = emu_slice_chunk(by_rows ? t->rows : t->columns, plan->tp, tp_index);
    if (by_rows) {
        block.first_row = part.start;
        block.rows = part.count;
    } else {
        block.first_column = part.start;
        block.columns = part.count;
    }
    return block;
}

uint64_t emu_tensor_room(const struct emu_plan *plan, uint32_t tensor, uint32_t tp_index)
{
    const struct emu_tensor_plan *t = &plan->tensors[tensor];
    struct emu_block block = emu_tensor_block(plan, tensor, tp_index);
    if (emu_tensor_is_vocabulary(t))
        block.rows = (t->rows + plan->tp - 1) / plan->tp;
    return block.rows * block.columns;
}

double emu_plan_draw(const struct emu_plan *plan, uint32_t tensor, uint64_t element)
{
    const struct emu_tensor_plan *t = &plan->tensors[tensor];
    if (t->init == EMU_INIT_ONES)
        return 1.0;
    uint64_t seed = plan->config->train.seed;
    if (plan->config->arithmetic == EMU_ARITH_EXACT)
        return emu_random_ternary(seed, tensor, element);
    if (t->init == EMU_INIT_ZEROS)
        return 0.0;
    double value = emu_random_symmetric(seed, tensor, element) * t->init_scale;
    return plan->config->arithmetic == EMU_ARITH_F32 ? (double)(float)value : value;
}

int64_t emu_plan_tensor(const struct emu_plan *plan, const char *name)
{
    for (uint32_t i = 0; i < plan->tensor_count; i++)
        if (!strcmp(plan->tensors[i].name, name))
            return i;
    return -1;
}

bool emu_tensor_is_shard(const struct emu_plan *plan, uint32_t tensor)
{
    return plan->tensors[tensor].over_tp.kind == EMU_SHARD;
}
