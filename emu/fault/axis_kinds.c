#include "fault/axis_kinds.h"

#include "plan/positions.h"

#include <string.h>

bool emu_axis_kind(enum emu_fault_kind kind)
{
    return (kind >= EMU_FAULT_REDUCE_PART && kind <= EMU_FAULT_COUNT_PADDING) ||
           (kind >= EMU_FAULT_WRONG_HALO && kind <= EMU_FAULT_SKIP_GATHER);
}

static uint32_t axis_bit(const struct emu_plan *plan, const char *name)
{
    int axis = emu_mesh_find(plan->roster.mesh, name);
    return axis < 0 ? 0 : UINT32_C(1) << axis;
}

/* Axes of size > 1. */
static uint32_t bits_of(const struct emu_plan *plan, const struct emu_axes *axes)
{
    uint32_t bits = 0;
    for (uint32_t i = 0; i < axes->count; i++)
        if (plan->roster.mesh->axes[axes->index[i]].size > 1)
            bits |= UINT32_C(1) << axes->index[i];
    return bits;
}

static uint32_t family_bits(const struct emu_plan *plan, uint32_t family)
{
    return family == UINT32_MAX ? 0 : bits_of(plan, &plan->roster.families[family].axes);
}

static uint32_t rank_of(const struct emu_fault *fault)
{
    return (uint32_t)fault->value[EMU_KEY_RANK].number;
}

/* Where gradients are divided their chunks are summed first. */
static uint32_t chunk_family(const struct emu_plan *plan)
{
    return emu_plan_shards_gradients(plan) ? plan->shard_family : UINT32_MAX;
}

uint32_t emu_fault_norm_family(const struct emu_fault *fault, const struct emu_plan *plan)
{
    uint32_t parts = family_bits(plan, plan->norm_family);
    uint32_t chunks = family_bits(plan, chunk_family(plan));
    if (!emu_fault_has(fault, EMU_KEY_OVER)) {
        if (parts)
            return plan->norm_family;
        return chunks ? plan->shard_family : UINT32_MAX;
    }
    uint32_t family = (uint32_t)fault->value[EMU_KEY_OVER].number;
    uint32_t bits = family_bits(plan, family);
    bool inside = bits && ((bits & ~parts) == 0 || (bits & ~chunks) == 0);
    return inside ? family : UINT32_MAX;
}

uint32_t emu_fault_part_family(const struct emu_fault *fault, const struct emu_plan *plan)
{
    uint32_t family;
    if (emu_fault_has(fault, EMU_KEY_OVER))
        return (uint32_t)fault->value[EMU_KEY_OVER].number;
    return emu_roster_find(&plan->roster, "dp", &family) == EMU_OK ? family : UINT32_MAX;
}

/* May a gradient of this tensor be 0 in places whatever the numbers? That of a byte which no
 * example holds, or of a unit that is not active. */
static bool has_zeros(const struct emu_plan *plan, uint32_t tensor)
{
    const struct emu_tensor_plan *one = &plan->tensors[tensor];
    bool of_units = strstr(one->name, ".up.") || strstr(one->name, ".down.weight");
    return emu_tensor_is_vocabulary(one) ||
           (of_units && plan->config->model.activation == EMU_RELU);
}

bool emu_fault_is_padded(const struct emu_plan *plan, uint32_t tensor)
{
    if (!emu_plan_shards_moments(plan) || has_zeros(plan, tensor))
        return false;
    for (uint32_t tp = 0; tp < plan->tp; tp++) {
        struct emu_block block = emu_tensor_block(plan, tensor, tp);
        if (block.rows * block.columns % plan->norm_parts != 0)
            return true;
    }
    return false;
}

/* Is another chunk than its own what a member of the shard group would take next? */
static bool shifts(const struct emu_fault *fault, const struct emu_plan *plan, uint32_t tensor)
{
    uint32_t rank = rank_of(fault);
    const struct emu_mesh *mesh = plan->roster.mesh;
    struct emu_block block = emu_tensor_block(plan, tensor, emu_mesh_coord(mesh, rank, "tp"));
    uint64_t n = block.rows * block.columns;
    uint32_t index = emu_plan_shard_index(plan, rank);
    struct emu_slice own = emu_plan_chunk(plan, n, index);
    struct emu_slice next = emu_plan_chunk(plan, n, (index + 1) % plan->shard_parts);
    return emu_tensor_held(plan, tensor, emu_mesh_coord(mesh, rank, "pp")) &&
           (own.start != next.start || own.count != next.count);
}

bool emu_axis_kind_concerns(const struct emu_fault *fault, const struct emu_plan *plan,
                            uint32_t tensor)
{
    if (emu_fault_has(fault, EMU_KEY_PARAM) &&
        !emu_glob_match(fault->value[EMU_KEY_PARAM].text, plan->tensors[tensor].name))
        return false;
    switch (fault->kind) {
    case EMU_FAULT_SKIP_TIED:
    case EMU_FAULT_DOUBLE_TIED:
        return emu_tensor_tied(plan, tensor);
    case EMU_FAULT_SKIP_SLICED:
        return emu_tensor_sliced(plan, tensor);
    case EMU_FAULT_COUNT_PADDING:
        return emu_fault_is_padded(plan, tensor);
    case EMU_FAULT_SHIFT_SHARD:
        return plan->shard_parts > 1 && shifts(fault, plan, tensor);
    case EMU_FAULT_SKIP_GATHER:
        return !emu_fault_has(fault, EMU_KEY_RANK) ||
               emu_tensor_held(plan, tensor,
                               emu_mesh_coord(plan->roster.mesh, rank_of(fault), "pp"));
    default:
        return true;
    }
}

static bool concerns_any(const struct emu_fault *fault, const struct emu_plan *plan)
{
    for (uint32_t i = 0; i < plan->tensor_count; i++)
        if (emu_axis_kind_concerns(fault, plan, i))
            return true;
    return false;
}

/* Axes of the reductions of the concerned tensors that hold all of `bits`; 0: there is none. */
static uint32_t axes_around(const struct emu_fault *fault, const struct emu_plan *plan,
                            uint32_t bits, bool *averages)
{
    uint32_t found = 0;
    for (uint32_t i = 0; i < plan->tensor_count; i++)
        for (uint32_t r = 0; r < plan->recipe.reduction_count; r++) {
            const struct emu_reduction_plan *reduction = &plan->recipe.reductions[r];
            uint32_t family;
            uint32_t axes = bits_of(plan, emu_reduction_axes(plan, reduction, i, &family));
            if (!emu_axis_kind_concerns(fault, plan, i) || (axes & bits) != bits ||
                !emu_reduction_covers(reduction, plan->tensors[i].name))
                continue;
            found |= axes;
            *averages = *averages || reduction->avg;
        }
    return found;
}

static const char *skip_of_part(const struct emu_fault *fault, const struct emu_plan *plan)
{
    bool averages = false;
    uint32_t part = family_bits(plan, emu_fault_part_family(fault, plan));
    uint32_t all = part ? axes_around(fault, plan, part, &averages) : 0;
    return all & ~part ? NULL : "no gradient is reduced over that axis and another one";
}

static const char *skip_of_tied(const struct emu_fault *fault, const struct emu_plan *plan)
{
    bool averages = false;
    if (!concerns_any(fault, plan))
        return "no table lies on two stages";
    if (!axes_around(fault, plan, axis_bit(plan, "pp"), &averages))
        return "the recipe does not sum the ends of the tied table";
    return averages ? "the recipe averages over the ends" : NULL;
}

static const char *skip_of_sliced(const struct emu_fault *fault, const struct emu_plan *plan)
{
    bool averages = false;
    if (!concerns_any(fault, plan))
        return "sequence parallelism leaves no such gradient in parts";
    return axes_around(fault, plan, axis_bit(plan, "tp"), &averages)
               ? NULL
               : "the recipe does not sum it over tp";
}

/* Do gradients come to the last factor as the plain sum over all tokens? */
static bool sums_plainly(const struct emu_recipe_plan *recipe)
{
    bool plain = recipe->loss == EMU_LOSS_SUM && recipe->accumulate == EMU_ACC_SUM &&
                 !strcmp(recipe->scale_loss_text, "1");
    for (uint32_t r = 0; r < recipe->reduction_count; r++)
        plain = plain && !recipe->reductions[r].avg && !recipe->reductions[r].scale_text;
    return plain;
}

static const char *skip_of_norm(const struct emu_fault *fault, const struct emu_plan *plan)
{
    if (plan->recipe.norm != EMU_COUNT_UNIQUE)
        return "the recipe's norm is not that of each unique parameter once";
    if (fault->kind == EMU_FAULT_COUNT_PADDING)
        return concerns_any(fault, plan) ? NULL
                                         : "no optimizer shard of such a parameter is padded";
    return emu_fault_norm_family(fault, plan) != UINT32_MAX ? NULL
                                                            : "the norm is not summed over that";
}

/* Does this cp slice (all: any) take something from before it? */
static const char *skip_of_halo(const struct emu_fault *fault, const struct emu_plan *plan)
{
    const struct emu_mesh *mesh = plan->roster.mesh;
    uint32_t runs = plan->cp > 1 ? emu_runs(plan) : 0;
    bool found = false;
    if (!plan->config->checks.oracle)
        return "only the oracle can see it, and checks.oracle is off";
    for (uint32_t needed = 1; needed < runs; needed++) {
        uint32_t owner = emu_run_owner(plan, needed);
        if (emu_fault_has(fault, EMU_KEY_RANK) &&
            owner != emu_mesh_coord(mesh, rank_of(fault), "cp"))
            continue;
        for (uint32_t from = 0; from < needed; from++)
            found = found || emu_run_halo(plan, needed, from).count > 0;
    }
    return found ? NULL : "no context crosses into such a slice";
}

static const char *skip_of_scale(const struct emu_plan *plan)
{
    if (plan->pp == 1)
        return "there is one pipeline stage";
    return strcmp(plan->recipe.scale_grad_text, "1") ? NULL : "the recipe has no scale_grad";
}

static const char *skip_of_slices(const struct emu_plan *plan)
{
    if (plan->cp == 1)
        return "there is one cp coordinate";
    return sums_plainly(&plan->recipe) ? NULL : "the recipe does more than sum";
}

/* Is it coefficients, or values alone, that tell? */
static bool needs_values(enum emu_fault_kind kind)
{
    return kind >= EMU_FAULT_REDUCE_PART && kind <= EMU_FAULT_SKIP_SCALE;
}

const char *emu_axis_kind_skip(const struct emu_fault *fault, const struct emu_plan *plan)
{
    if (needs_values(fault->kind) && !plan->keeps_ledger && !plan->config->checks.oracle)
        return "checks.ledger and checks.oracle are off";
    switch (fault->kind) {
    case EMU_FAULT_REDUCE_PART:
        return skip_of_part(fault, plan);
    case EMU_FAULT_SKIP_TIED:
    case EMU_FAULT_DOUBLE_TIED:
        return skip_of_tied(fault, plan);
    case EMU_FAULT_SKIP_SLICED:
        return skip_of_sliced(fault, plan);
    case EMU_FAULT_SLICE_DENOMINATOR:
        return skip_of_slices(plan);
    case EMU_FAULT_SKIP_SCALE:
        return skip_of_scale(plan);
    case EMU_FAULT_SKIP_NORM_SUM:
    case EMU_FAULT_AVERAGE_NORM:
    case EMU_FAULT_COUNT_PADDING:
        return skip_of_norm(fault, plan);
    case EMU_FAULT_WRONG_HALO:
        return skip_of_halo(fault, plan);
    case EMU_FAULT_SWAP_MICROBATCHES:
        if (plan->pp == 1)
            return "there is one pipeline stage";
        return plan->microbatches > 1 ? NULL : "there is one microbatch";
    case EMU_FAULT_SHIFT_SHARD:
    case EMU_FAULT_SKIP_GATHER:
        if (!emu_plan_shards_moments(plan) || plan->shard_parts == 1)
            return "no optimizer state is divided";
        return concerns_any(fault, plan) ? NULL : "the rank has no such shard";
    default:
        return NULL;
    }
}

uint32_t emu_axis_kind_axes(const struct emu_fault *fault, const struct emu_plan *plan)
{
    bool averages = false;
    uint32_t bits;
    switch (fault->kind) {
    case EMU_FAULT_REDUCE_PART:
        bits = family_bits(plan, emu_fault_part_family(fault, plan));
        return axes_around(fault, plan, bits, &averages) & ~bits;
    case EMU_FAULT_SKIP_TIED:
    case EMU_FAULT_DOUBLE_TIED:
    case EMU_FAULT_SKIP_SCALE:
        return axis_bit(plan, "pp");
    case EMU_FAULT_SKIP_SLICED:
        return axis_bit(plan, "tp");
    case EMU_FAULT_SLICE_DENOMINATOR:
        return axis_bit(plan, "cp");
    case EMU_FAULT_SKIP_NORM_SUM:
    case EMU_FAULT_AVERAGE_NORM:
        return family_bits(plan, emu_fault_norm_family(fault, plan));
    default:
        return 0;
    }
}
