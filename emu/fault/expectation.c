#include "fault/expectation.h"

#include "fault/axis_kinds.h"
#include "plan/initial.h"
#include "seg/board.h"

#include <string.h>

#define CLASS(name) (UINT64_C(1) << EMU_CLASS_##name)

/* Without coefficients what goes wrong shows in the values, and in the books. */
#define WRONG_VALUES                                                                               \
    (CLASS(REPLICA_DIVERGENCE) | CLASS(ORACLE_MISMATCH) | CLASS(WRONG_NORM) |                      \
     CLASS(TRAFFIC_MISMATCH))

/* Sums over two axes in the wrong order: what was added to what tells, and nobody can say by whose
 * fault. */
#define ALIKE_SUMS                                                                                 \
    (CLASS(MISSING_REDUCTION) | CLASS(TIED_UNSYNCED) | CLASS(DOUBLE_REDUCTION) |                   \
     CLASS(TOKEN_WEIGHT) | CLASS(WRONG_SCALE))

static uint32_t sources_combined(const struct emu_plan *plan)
{
    return plan->dp * plan->cp;
}

/* The parameter that an algebraic fault names, or the first one. */
static uint32_t tensor_of(const struct emu_fault *fault, const struct emu_plan *plan)
{
    for (uint32_t i = 0; i < plan->tensor_count; i++)
        if (emu_fault_has(fault, EMU_KEY_PARAM) &&
            emu_glob_match(fault->value[EMU_KEY_PARAM].text, plan->tensors[i].name))
            return i;
    return 0;
}

static bool any_shard(const struct emu_fault *fault, const struct emu_plan *plan)
{
    for (uint32_t i = 0; i < plan->tensor_count; i++)
        if (emu_tensor_is_shard(plan, i) &&
            (!emu_fault_has(fault, EMU_KEY_PARAM) ||
             emu_glob_match(fault->value[EMU_KEY_PARAM].text, plan->tensors[i].name)))
            return plan->tp > 1;
    return false;
}

static uint32_t rank_of(const struct emu_fault *fault)
{
    return (uint32_t)fault->value[EMU_KEY_RANK].number;
}

/* Does the rank draw a parameter of those meant, with numbers that a seed decides? */
static bool draws(const struct emu_fault *fault, const struct emu_plan *plan)
{
    bool exact = plan->config->arithmetic == EMU_ARITH_EXACT;
    uint32_t stage = emu_mesh_coord(plan->roster.mesh, rank_of(fault), "pp");
    for (uint32_t i = 0; i < plan->tensor_count; i++)
        if (emu_tensor_held(plan, i, stage) && emu_initial_draws(plan, i, rank_of(fault)) &&
            (exact || plan->tensors[i].init == EMU_INIT_UNIFORM) &&
            (!emu_fault_has(fault, EMU_KEY_PARAM) ||
             emu_glob_match(fault->value[EMU_KEY_PARAM].text, plan->tensors[i].name)))
            return true;
    return false;
}

/* Does the rank wait for a parameter that is not all zeros? */
static bool gets_copies(const struct emu_fault *fault, const struct emu_plan *plan)
{
    bool exact = plan->config->arithmetic == EMU_ARITH_EXACT;
    uint32_t stage = emu_mesh_coord(plan->roster.mesh, rank_of(fault), "pp");
    for (uint32_t i = 0; i < plan->tensor_count; i++)
        if (emu_tensor_held(plan, i, stage) && !emu_initial_draws(plan, i, rank_of(fault)) &&
            (exact || plan->tensors[i].init != EMU_INIT_ZEROS))
            return true;
    return false;
}

/* A gradient that is summed whole, over more ranks than divide it: all but the rank's own chunk of
 * the result is dropped. */
static bool keeps_part(const struct emu_fault *fault, const struct emu_plan *plan)
{
    bool names_parameter = false;
    for (uint32_t i = 0; i < plan->tensor_count; i++)
        names_parameter =
            names_parameter || !strcmp(fault->value[EMU_KEY_LABEL].text, plan->tensors[i].name);
    return names_parameter && emu_plan_shards_gradients(plan) &&
           plan->gradient_family != plan->shard_family;
}

static const char *skip_of_call(const struct emu_fault *fault, const struct emu_plan *plan)
{
    const struct emu_mesh *mesh = plan->roster.mesh;
    uint32_t company = 0; /* axes with more than one rank */
    bool inside = emu_fault_number(fault, EMU_KEY_PHASE, EMU_PHASE_BEFORE) != EMU_PHASE_BEFORE;
    for (uint32_t a = 0; a < mesh->axis_count; a++)
        company += mesh->axes[a].size > 1;
    switch (fault->kind) {
    case EMU_FAULT_WRONG_ROOT:
        return emu_initial_calls(plan, rank_of(fault)) == 0
                   ? "no call has a root: see train.initial"
                   : NULL;
    case EMU_FAULT_WRONG_AXIS:
        return company < 2 ? "the mesh has one axis with more than one rank" : NULL;
    case EMU_FAULT_CRASH:
    case EMU_FAULT_EXIT:
    case EMU_FAULT_STOP:
    case EMU_FAULT_DELAY:
        return company == 0 && inside ? "calls of one rank alone have no phases" : NULL;
    case EMU_FAULT_FLIP_RESULT:
        return keeps_part(fault, plan) ? "the rank keeps but a part of that result" : NULL;
    case EMU_FAULT_FLIP_DEPOSIT:
        if (!plan->config->checks.checksums)
            return "checks.checksums is off";
        return company == 0 ? "nobody calls anybody on a mesh of one rank" : NULL;
    case EMU_FAULT_FLIP_INPUT:
        if (company > 0 && !plan->config->checks.oracle)
            return "only the oracle can see it, and checks.oracle is off";
        /* fall through */
    default:
        return company == 0 ? "nobody calls anybody on a mesh of one rank" : NULL;
    }
}

static const char *skip_of_reduction(const struct emu_fault *fault, const struct emu_plan *plan)
{
    uint32_t tensor = tensor_of(fault, plan);
    if (sources_combined(plan) == 1 && !emu_tensor_tied(plan, tensor))
        return "the mesh combines no gradients";
    if (fault->kind != EMU_FAULT_SKIP_REDUCE && emu_plan_shards_gradients(plan))
        return "gradients are scattered: the second call has other members' parts";
    if (fault->kind == EMU_FAULT_REDUCE_WORLD && (plan->pp > 1 || plan->tp == 1))
        return "it needs a tp axis, and no pp axis";
    return NULL;
}

static const char *skip_of_algebra(const struct emu_fault *fault, const struct emu_plan *plan)
{
    bool local =
        emu_fault_number(fault, EMU_KEY_BY, EMU_DIVIDE_BY_WORLD) == EMU_DIVIDE_BY_LOCAL_TOKENS;
    if (!plan->keeps_ledger && !plan->config->checks.oracle)
        return "checks.ledger and checks.oracle are off";
    switch (fault->kind) {
    case EMU_FAULT_WRONG_DIVISOR:
        return local && sources_combined(plan) == 1 ? "all tokens are local" : NULL;
    case EMU_FAULT_MEAN_OF_MEANS:
        return emu_plan_sources(plan) == 1 ? "one source has one mean" : NULL;
    case EMU_FAULT_DROP_MICROBATCH:
    case EMU_FAULT_REPEAT_MICROBATCH:
        return NULL;
    default:
        return skip_of_reduction(fault, plan);
    }
}

static const char *skip_of_state(const struct emu_fault *fault, const struct emu_plan *plan)
{
    switch (fault->kind) {
    case EMU_FAULT_SEED_REPLICA:
        return draws(fault, plan) ? NULL : "the rank draws no such parameter: it gets a copy";
    case EMU_FAULT_SKIP_BROADCAST:
        if (plan->config->train.initial != EMU_INITIAL_BROADCAST)
            return "every rank draws its parameters in place: see train.initial";
        return gets_copies(fault, plan) ? NULL : "the rank gets no copy: it draws its parameters";
    case EMU_FAULT_SAME_SEED_TP:
    case EMU_FAULT_WRONG_SHARD:
    case EMU_FAULT_REPLICATE_SHARD:
        return any_shard(fault, plan) ? NULL : "tp shards no such parameter";
    case EMU_FAULT_SAME_DATA:
        return plan->dp > 1 ? NULL : "there is one dp coordinate";
    case EMU_FAULT_OTHER_DATA_TP:
        if (plan->tp == 1)
            return "there is one tp coordinate";
        return plan->dp > 1 || plan->microbatches > 1 ? NULL : "there are no other examples";
    case EMU_FAULT_SKIP_UPDATE: /* where it is divided the other members gather what was left */
        return !emu_plan_shards_moments(plan) || plan->config->checks.oracle
                   ? NULL
                   : "only the oracle can see it, and checks.oracle is off";
    case EMU_FAULT_TRANSPOSED_MESH:
        return plan->dp > 1 && plan->dp == plan->tp ? NULL : "dp and tp are not of one size";
    default:
        return NULL;
    }
}

static const char *skip_of(const struct emu_fault *fault, const struct emu_plan *plan)
{
    if (emu_axis_kind(fault->kind))
        return emu_axis_kind_skip(fault, plan);
    switch (emu_fault_row(fault->kind)->means) {
    case EMU_FAULT_BY_ALGEBRA:
        return skip_of_algebra(fault, plan);
    case EMU_FAULT_BY_STATE:
        return skip_of_state(fault, plan);
    default:
        return skip_of_call(fault, plan);
    }
}

/* Is a gradient summed over one axis and then over another, by two calls that look alike? */
static bool summed_twice(const struct emu_plan *plan)
{
    for (uint32_t i = 0; i < plan->tensor_count; i++) {
        uint32_t sums = 0;
        for (uint32_t r = 0; r < plan->recipe.reduction_count; r++) {
            uint32_t family;
            emu_reduction_axes(plan, &plan->recipe.reductions[r], i, &family);
            sums += family != UINT32_MAX && plan->roster.families[family].group_size > 1 &&
                    emu_reduction_covers(&plan->recipe.reductions[r], plan->tensors[i].name);
        }
        if (sums > 1)
            return true;
    }
    return false;
}

static uint64_t classes_of(const struct emu_fault *fault, const struct emu_plan *plan)
{
    uint64_t classes = emu_fault_row(fault->kind)->classes;
    if (emu_fault_row(fault->kind)->means == EMU_FAULT_BY_ALGEBRA && !plan->keeps_ledger &&
        classes != CLASS(WRONG_NORM))
        return WRONG_VALUES | (classes & CLASS(SHARD_TILING));
    bool shard = plan->tp > 1 && emu_tensor_is_shard(plan, tensor_of(fault, plan));
    switch (fault->kind) {
    case EMU_FAULT_REDUCE_WORLD:
        if (emu_tensor_sliced(plan, tensor_of(fault, plan))) /* over tp, and over the others */
            return CLASS(DOUBLE_REDUCTION);
        return shard ? CLASS(SHARD_TILING) : CLASS(REDUCED_REPLICATED);
    case EMU_FAULT_SKIP_GATHER: /* of all: no call is missed, each goes on with its own chunk */
        if (emu_fault_has(fault, EMU_KEY_RANK))
            return classes & ~(CLASS(REPLICA_DIVERGENCE) | CLASS(TRAFFIC_MISMATCH));
        return emu_plan_shards_weights(plan) ? CLASS(TRAFFIC_MISMATCH) : CLASS(REPLICA_DIVERGENCE);
    case EMU_FAULT_SWAP_CALLS: /* two alike sums over two axes meet alike calls */
        return summed_twice(plan) ? classes | ALIKE_SUMS : classes;
    case EMU_FAULT_DROP_MICROBATCH: /* of all owners: lost; of one: its tokens weigh nothing */
        return emu_fault_has(fault, EMU_KEY_RANK) && sources_combined(plan) > 1
                   ? CLASS(LOST_MICROBATCH) | CLASS(TOKEN_WEIGHT)
                   : CLASS(LOST_MICROBATCH);
    case EMU_FAULT_OTHER_DATA_TP: /* of other examples there may be more, or fewer */
        return plan->batch % ((uint64_t)plan->dp * plan->microbatches)
                   ? classes | CLASS(COUNT_MISMATCH)
                   : classes;
    case EMU_FAULT_FLIP_RESULT:
    case EMU_FAULT_FLIP_INPUT:
    case EMU_FAULT_NAN: /* it may be the initial broadcast that is meant */
        return plan->config->train.initial == EMU_INITIAL_BROADCAST &&
                       !emu_fault_has(fault, EMU_KEY_STEP)
                   ? classes | CLASS(INIT_MISMATCH)
                   : classes;
    case EMU_FAULT_WRONG_SHARD: /* a copy of another block, or of another size */
    case EMU_FAULT_REPLICATE_SHARD:
    case EMU_FAULT_TRANSPOSED_MESH:
        return plan->config->train.initial == EMU_INITIAL_BROADCAST
                   ? classes | CLASS(INIT_MISMATCH) | CLASS(COUNT_MISMATCH)
                   : classes;
    default:
        return classes;
    }
}

static bool names_rank(const struct emu_fault *fault)
{
    switch (fault->kind) {
    case EMU_FAULT_FLIP_INPUT: /* the result is one for all: nobody knows whose bit it was */
    case EMU_FAULT_DROP_MICROBATCH:
    case EMU_FAULT_REPEAT_MICROBATCH:
        return false;
    default:
        return emu_fault_has(fault, EMU_KEY_RANK);
    }
}

static bool is_quiet(const struct emu_fault *fault)
{
    return fault->kind == EMU_FAULT_DELAY ||
           (fault->kind == EMU_FAULT_STOP && emu_fault_has(fault, EMU_KEY_CONT_AFTER));
}

void emu_fault_expect(const struct emu_fault *fault, const struct emu_plan *plan,
                      struct emu_fault_expectation *expectation)
{
    const struct emu_mesh *mesh = plan->roster.mesh;
    bool one_source =
        fault->kind == EMU_FAULT_DROP_MICROBATCH || fault->kind == EMU_FAULT_REPEAT_MICROBATCH;
    struct emu_fault_expectation made = {
        .skip = skip_of(fault, plan),
        .quiet = is_quiet(fault),
        .classes = classes_of(fault, plan),
        .names_rank = names_rank(fault),
        .rank = (uint32_t)fault->value[EMU_KEY_RANK].number,
        .nameless = fault->kind == EMU_FAULT_SWAP_CALLS ? ALIKE_SUMS : 0,
        .any_of_source = fault->kind == EMU_FAULT_NAN || fault->kind == EMU_FAULT_WRONG_HALO,
    };
    if (plan->keeps_ledger || made.classes == CLASS(WRONG_NORM))
        made.axes = emu_axis_kind_axes(fault, plan);
    if (emu_fault_has(fault, EMU_KEY_PARAM))
        made.parameter = fault->value[EMU_KEY_PARAM].text;
    if (one_source && emu_fault_has(fault, EMU_KEY_RANK)) {
        made.names_source = emu_plan_sources(plan) > 1;
        made.source = emu_plan_source(plan, emu_mesh_coord(mesh, made.rank, "dp"),
                                      emu_mesh_coord(mesh, made.rank, "cp"),
                                      (uint32_t)emu_fault_number(fault, EMU_KEY_MICRO, 0));
    }
    *expectation = made;
}
