#include "plan/positions.h"

static bool balanced(const struct emu_plan *plan)
{
    return plan->config->model.cp_split == EMU_BALANCED && plan->shape.cp > 1;
}

uint32_t emu_runs(const struct emu_plan *plan)
{
    return balanced(plan) ? 2 * plan->shape.cp : plan->shape.cp;
}

struct emu_slice emu_run_positions(const struct emu_plan *plan, uint32_t run)
{
    return emu_slice_chunk(plan->config->data.sequence, emu_runs(plan), run);
}

uint32_t emu_run_owner(const struct emu_plan *plan, uint32_t run)
{
    return run < plan->shape.cp ? run : 2 * plan->shape.cp - 1 - run;
}

uint32_t emu_runs_of(const struct emu_plan *plan, uint32_t cp_index, uint32_t runs[2])
{
    runs[0] = cp_index;
    if (!balanced(plan))
        return 1;
    runs[1] = 2 * plan->shape.cp - 1 - cp_index;
    return 2;
}

uint64_t emu_positions_owned(const struct emu_plan *plan, uint32_t cp_index)
{
    uint32_t runs[2];
    uint32_t count = emu_runs_of(plan, cp_index, runs);
    uint64_t positions = 0;
    for (uint32_t i = 0; i < count; i++)
        positions += emu_run_positions(plan, runs[i]).count;
    return positions;
}

struct emu_slice emu_run_halo(const struct emu_plan *plan, uint32_t needed, uint32_t from)
{
    struct emu_slice own = emu_run_positions(plan, needed);
    struct emu_slice other = emu_run_positions(plan, from);
    uint64_t context = plan->config->model.context;
    uint64_t first = own.start > context ? own.start - context : 0;
    uint64_t end = other.start + other.count;
    if (own.count == 0 || other.count == 0 || end <= first || from >= needed)
        return (struct emu_slice){0};
    uint64_t start = other.start > first ? other.start : first;
    return (struct emu_slice){start, end - start};
}
