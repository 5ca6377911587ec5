#include "fault/fault_steps.h"

#include "fault/axis_kinds.h"
#include "plan/initial.h"

#include <assert.h>

/* Which question each kind answers, plus 1; the others answer none. */
static const int questions[EMU_FAULT_KIND_COUNT] = {
    [EMU_FAULT_SKIP_REDUCE] = 1 + EMU_DEVIATE_SKIP_REDUCE,
    [EMU_FAULT_DOUBLE_REDUCE] = 1 + EMU_DEVIATE_DOUBLE_REDUCE,
    [EMU_FAULT_REDUCE_WORLD] = 1 + EMU_DEVIATE_REDUCE_WORLD,
    [EMU_FAULT_WRONG_DIVISOR] = 1 + EMU_DEVIATE_DIVISOR,
    [EMU_FAULT_MEAN_OF_MEANS] = 1 + EMU_DEVIATE_MEAN_OF_MEANS,
    [EMU_FAULT_DROP_MICROBATCH] = 1 + EMU_DEVIATE_DROP_MICROBATCH,
    [EMU_FAULT_REPEAT_MICROBATCH] = 1 + EMU_DEVIATE_REPEAT_MICROBATCH,
    [EMU_FAULT_REDUCE_PARAMETER] = 1 + EMU_DEVIATE_REDUCE_PARAMETER,
    [EMU_FAULT_REDUCE_PART] = 1 + EMU_DEVIATE_REDUCE_PART,
    [EMU_FAULT_SKIP_TIED] = 1 + EMU_DEVIATE_SKIP_TIED,
    [EMU_FAULT_DOUBLE_TIED] = 1 + EMU_DEVIATE_DOUBLE_TIED,
    [EMU_FAULT_SKIP_SLICED] = 1 + EMU_DEVIATE_SKIP_SLICED,
    [EMU_FAULT_SLICE_DENOMINATOR] = 1 + EMU_DEVIATE_SLICE_DENOMINATOR,
    [EMU_FAULT_SKIP_SCALE] = 1 + EMU_DEVIATE_SKIP_SCALE,
    [EMU_FAULT_SKIP_NORM_SUM] = 1 + EMU_DEVIATE_SKIP_NORM_SUM,
    [EMU_FAULT_AVERAGE_NORM] = 1 + EMU_DEVIATE_AVERAGE_NORM,
    [EMU_FAULT_COUNT_PADDING] = 1 + EMU_DEVIATE_COUNT_PADDING,
    [EMU_FAULT_SEED_REPLICA] = 1 + EMU_DEVIATE_SEED,
    [EMU_FAULT_SAME_SEED_TP] = 1 + EMU_DEVIATE_SAME_SEED,
    [EMU_FAULT_SKIP_BROADCAST] = 1 + EMU_DEVIATE_SKIP_BROADCAST,
    [EMU_FAULT_WRONG_SHARD] = 1 + EMU_DEVIATE_SHARD,
    [EMU_FAULT_REPLICATE_SHARD] = 1 + EMU_DEVIATE_HOLD_WHOLE,
    [EMU_FAULT_SAME_DATA] = 1 + EMU_DEVIATE_READ,
    [EMU_FAULT_OTHER_DATA_TP] = 1 + EMU_DEVIATE_READ,
    [EMU_FAULT_TRANSPOSED_MESH] = 1 + EMU_DEVIATE_TRANSPOSED,
    [EMU_FAULT_SKIP_UPDATE] = 1 + EMU_DEVIATE_SKIP_UPDATE,
    [EMU_FAULT_WRONG_HALO] = 1 + EMU_DEVIATE_HALO,
    [EMU_FAULT_SWAP_MICROBATCHES] = 1 + EMU_DEVIATE_SWAP_MICROBATCHES,
    [EMU_FAULT_SHIFT_SHARD] = 1 + EMU_DEVIATE_CHUNK,
    [EMU_FAULT_SKIP_GATHER] = 1 + EMU_DEVIATE_SKIP_GATHER,
};

/* Ranks that read the same tokens: all else would be a second fault. */
static bool same_source(const struct emu_plan *plan, uint32_t a, uint32_t b)
{
    const struct emu_mesh *mesh = plan->roster.mesh;
    return emu_mesh_coord(mesh, a, "dp") == emu_mesh_coord(mesh, b, "dp") &&
           emu_mesh_coord(mesh, a, "cp") == emu_mesh_coord(mesh, b, "cp");
}

/* Copies of one block of the tensor: they synchronise, or none of them does. */
static bool same_copies(const struct emu_plan *plan, uint32_t tensor, uint32_t a, uint32_t b)
{
    uint32_t group, other;
    return emu_initial_group(plan, tensor, a, &group) &&
           emu_initial_group(plan, tensor, b, &other) && group == other;
}

static bool same_stage(const struct emu_plan *plan, uint32_t a, uint32_t b)
{
    return emu_mesh_coord(plan->roster.mesh, a, "pp") == emu_mesh_coord(plan->roster.mesh, b, "pp");
}

static bool on_rank(const struct emu_fault_steps *steps, const struct emu_fault *fault,
                    const struct emu_deviation_place *place)
{
    uint32_t rank = place->rank;
    uint32_t meant = (uint32_t)fault->value[EMU_KEY_RANK].number;
    if (!emu_fault_has(fault, EMU_KEY_RANK))
        return true;
    switch (fault->kind) {
    case EMU_FAULT_SAME_DATA:
        return emu_mesh_coord(steps->plan->roster.mesh, meant, "dp") ==
               emu_mesh_coord(steps->plan->roster.mesh, rank, "dp");
    case EMU_FAULT_DROP_MICROBATCH:
    case EMU_FAULT_REPEAT_MICROBATCH:
        return same_source(steps->plan, meant, rank);
    case EMU_FAULT_SKIP_BROADCAST:
        return same_copies(steps->plan, place->tensor, meant, rank);
    case EMU_FAULT_SKIP_SCALE:
        return same_stage(steps->plan, meant, rank);
    case EMU_FAULT_SWAP_MICROBATCHES:
        return same_stage(steps->plan, meant, rank) && same_source(steps->plan, meant, rank);
    case EMU_FAULT_WRONG_HALO:
        return same_source(steps->plan, meant, place->about);
    default:
        return rank == meant;
    }
}

/* Can the tensor be held, drawn or reduced wrongly in this way at all? */
static bool concerns_tensor(const struct emu_fault_steps *steps, const struct emu_fault *fault,
                            const struct emu_deviation_place *place)
{
    const struct emu_plan *plan = steps->plan;
    const struct emu_tensor_plan *tensor = &plan->tensors[place->tensor];
    bool drawn = tensor->init == EMU_INIT_UNIFORM || plan->config->arithmetic == EMU_ARITH_EXACT;
    bool shard = emu_tensor_is_shard(plan, place->tensor);
    switch (fault->kind) {
    case EMU_FAULT_SEED_REPLICA:
        return drawn;
    case EMU_FAULT_SAME_SEED_TP:
        return shard && drawn && emu_mesh_coord(plan->roster.mesh, place->rank, "tp") > 0;
    case EMU_FAULT_WRONG_SHARD:
    case EMU_FAULT_REPLICATE_SHARD:
        return shard;
    default:
        return emu_axis_kind_concerns(fault, plan, place->tensor);
    }
}

static bool is_of_one_tensor(enum emu_fault_kind kind)
{
    switch (kind) {
    case EMU_FAULT_SKIP_REDUCE:
    case EMU_FAULT_DOUBLE_REDUCE:
    case EMU_FAULT_REDUCE_WORLD:
    case EMU_FAULT_REDUCE_PARAMETER:
    case EMU_FAULT_REDUCE_PART:
    case EMU_FAULT_SKIP_SLICED:
    case EMU_FAULT_COUNT_PADDING:
    case EMU_FAULT_SKIP_GATHER:
        return true;
    default:
        return false;
    }
}

static bool is_of_a_microbatch(enum emu_fault_kind kind)
{
    return kind == EMU_FAULT_DROP_MICROBATCH || kind == EMU_FAULT_REPEAT_MICROBATCH;
}

static bool at_tensor(const struct emu_fault_steps *steps, size_t i,
                      const struct emu_deviation_place *place)
{
    const struct emu_fault *fault = &steps->set->faults[i];
    if (!(emu_fault_row(fault->kind)->keys >> EMU_KEY_PARAM & 1))
        return true;
    if (!concerns_tensor(steps, fault, place))
        return false;
    if (emu_fault_has(fault, EMU_KEY_PARAM))
        return emu_glob_match(fault->value[EMU_KEY_PARAM].text,
                              steps->plan->tensors[place->tensor].name);
    return !is_of_one_tensor(fault->kind) || !steps->state[i].acted ||
           steps->state[i].tensor == place->tensor;
}

static bool acts(const struct emu_fault_steps *steps, size_t i,
                 const struct emu_deviation_place *place)
{
    const struct emu_fault *fault = &steps->set->faults[i];
    bool stepped = emu_fault_row(fault->kind)->keys >> EMU_KEY_STEP & 1;
    if (stepped && place->step != emu_fault_number(fault, EMU_KEY_STEP, 1))
        return false;
    if (is_of_a_microbatch(fault->kind) &&
        place->micro != emu_fault_number(fault, EMU_KEY_MICRO, 0))
        return false;
    return on_rank(steps, fault, place) && at_tensor(steps, i, place);
}

static uint64_t divisor_of(const struct emu_fault_steps *steps, const struct emu_fault *fault,
                           const struct emu_deviation_place *place)
{
    switch (emu_fault_number(fault, EMU_KEY_BY, EMU_DIVIDE_BY_WORLD)) {
    case EMU_DIVIDE_BY_DP:
        return steps->plan->dp;
    case EMU_DIVIDE_BY_LOCAL_TOKENS:
        return place->local_tokens;
    default:
        return steps->plan->roster.mesh->world;
    }
}

/* Another dp coordinate's examples for the same microbatch; where there is none the next
 * microbatch's. */
static uint64_t source_read(const struct emu_fault_steps *steps,
                            const struct emu_deviation_place *place)
{
    const struct emu_plan *plan = steps->plan;
    const struct emu_mesh *mesh = plan->roster.mesh;
    uint32_t dp = emu_mesh_coord(mesh, place->rank, "dp");
    uint32_t cp = emu_mesh_coord(mesh, place->rank, "cp");
    if (plan->dp > 1)
        return emu_plan_source(plan, (dp + 1) % plan->dp, cp, place->micro);
    return emu_plan_source(plan, dp, cp, (place->micro + 1) % plan->microbatches);
}

static uint64_t number_of(const struct emu_fault_steps *steps, const struct emu_fault *fault,
                          const struct emu_deviation_place *place)
{
    uint32_t tp = emu_mesh_coord(steps->plan->roster.mesh, place->rank, "tp");
    switch (fault->kind) {
    case EMU_FAULT_WRONG_DIVISOR:
        return divisor_of(steps, fault, place);
    case EMU_FAULT_SAME_DATA:
    case EMU_FAULT_OTHER_DATA_TP:
        return source_read(steps, place);
    case EMU_FAULT_WRONG_SHARD:
        return (tp + 1) % steps->plan->tp;
    case EMU_FAULT_REDUCE_PART:
        return emu_fault_part_family(fault, steps->plan);
    case EMU_FAULT_SKIP_NORM_SUM:
    case EMU_FAULT_AVERAGE_NORM:
        return emu_fault_norm_family(fault, steps->plan);
    case EMU_FAULT_SHIFT_SHARD:
        return (emu_plan_shard_index(steps->plan, place->rank) + 1) % steps->plan->shard_parts;
    default:
        return 0;
    }
}

/* Does the question ask for a number? */
static bool has_number(enum emu_deviation kind)
{
    switch (kind) {
    case EMU_DEVIATE_DIVISOR:
    case EMU_DEVIATE_READ:
    case EMU_DEVIATE_SHARD:
    case EMU_DEVIATE_CHUNK:
    case EMU_DEVIATE_REDUCE_PART:
    case EMU_DEVIATE_SKIP_NORM_SUM:
    case EMU_DEVIATE_AVERAGE_NORM:
        return true;
    default:
        return false;
    }
}

/* Is the number a family, of which UINT32_MAX is none? */
static bool is_family(enum emu_deviation kind)
{
    return kind == EMU_DEVIATE_REDUCE_PART || kind == EMU_DEVIATE_SKIP_NORM_SUM ||
           kind == EMU_DEVIATE_AVERAGE_NORM;
}

static bool deviates(void *user, enum emu_deviation kind, const struct emu_deviation_place *place,
                     uint64_t *number)
{
    struct emu_fault_steps *steps = user;
    for (size_t i = 0; i < steps->set->count; i++) {
        const struct emu_fault *fault = &steps->set->faults[i];
        if (questions[fault->kind] != 1 + (int)kind || !acts(steps, i, place))
            continue;
        uint64_t found = has_number(kind) ? number_of(steps, fault, place) : 0;
        if (is_family(kind) && found == UINT32_MAX)
            continue; /* the step has no such sum */
        if (!steps->state[i].acted) {
            steps->state[i].acted = true;
            steps->state[i].tensor = place->tensor;
            emu_fault_set_fire(steps->set, i, place->rank);
        }
        if (has_number(kind))
            *number = found;
        return true;
    }
    return false;
}

void emu_fault_steps_init(struct emu_fault_steps *steps, const struct emu_fault_set *set,
                          const struct emu_plan *plan)
{
    assert(set->count <= EMU_FAULTS_MAX);
    *steps = (struct emu_fault_steps){.set = set, .plan = plan};
    steps->hooks = (struct emu_step_hooks){deviates, steps};
}

bool emu_fault_holds_whole(const struct emu_fault_set *set)
{
    for (size_t i = 0; i < set->count; i++)
        if (set->faults[i].kind == EMU_FAULT_REPLICATE_SHARD)
            return true;
    return false;
}
