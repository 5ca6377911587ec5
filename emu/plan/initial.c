#include "plan/initial.h"

#include <string.h>

/* All axes but pp, and but tp where it shards; UINT32_MAX where the rank is the only copy. */
static enum emu_status copies(struct emu_plan *plan, bool sharded, uint32_t *family)
{
    const struct emu_mesh *mesh = plan->roster.mesh;
    struct emu_axes axes = {0};
    for (uint32_t i = 0; i < mesh->axis_count; i++) {
        const char *name = mesh->axes[i].name;
        if (strcmp(name, "pp") != 0 && !(sharded && strcmp(name, "tp") == 0))
            axes.index[axes.count++] = (uint8_t)i;
    }
    *family = UINT32_MAX;
    if (emu_axes_group_size(mesh, &axes) < 2)
        return EMU_OK;
    return emu_roster_add_axes(&plan->roster, &axes, family);
}

enum emu_status emu_initial_groups(struct emu_plan *plan)
{
    plan->copy_family[0] = plan->copy_family[1] = UINT32_MAX;
    if (plan->config->train.initial != EMU_INITIAL_BROADCAST)
        return EMU_OK;
    enum emu_status status = copies(plan, false, &plan->copy_family[0]);
    return status == EMU_OK ? copies(plan, true, &plan->copy_family[1]) : status;
}

uint32_t emu_initial_family(const struct emu_plan *plan, uint32_t tensor)
{
    return plan->copy_family[emu_tensor_is_shard(plan, tensor)];
}

bool emu_initial_group(const struct emu_plan *plan, uint32_t tensor, uint32_t rank, uint32_t *group)
{
    uint32_t family = emu_initial_family(plan, tensor);
    return family != UINT32_MAX &&
           emu_roster_group_of(&plan->roster, family, rank, group) == EMU_OK;
}

bool emu_initial_draws(const struct emu_plan *plan, uint32_t tensor, uint32_t rank)
{
    uint32_t id;
    if (!emu_initial_group(plan, tensor, rank, &id))
        return true;
    struct emu_group group = emu_roster_group(&plan->roster, id);
    return emu_group_member(&group, 0) == rank;
}

static uint32_t stage_of(const struct emu_plan *plan, uint32_t rank)
{
    return emu_mesh_coord(plan->roster.mesh, rank, "pp");
}

uint64_t emu_initial_calls(const struct emu_plan *plan, uint32_t rank)
{
    uint64_t calls = 0;
    for (uint32_t i = 0; i < plan->tensor_count; i++)
        calls += emu_tensor_held(plan, i, stage_of(plan, rank)) &&
                 emu_initial_family(plan, i) != UINT32_MAX;
    return calls;
}
