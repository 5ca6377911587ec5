#include "check/gather_report.h"

#include <inttypes.h>
#include <string.h>

static struct emu_group group_of(const struct emu_evidence *evidence, uint32_t rank)
{
    return emu_group_of(emu_evidence_mesh(evidence), &evidence->plan->shard_axes, rank);
}

/* The first element of member `index`'s chunk that the rank holds otherwise than it; UINT64_MAX. */
static uint64_t stale_in_chunk(const struct emu_evidence *evidence, uint32_t rank, uint32_t tensor,
                               uint32_t index)
{
    struct emu_group group = group_of(evidence, rank);
    uint32_t keeper = emu_group_member(&group, index);
    uint64_t n = emu_evidence_elements(emu_evidence_tensor(evidence, rank, tensor));
    struct emu_slice chunk = emu_plan_chunk(evidence->plan, n, index);
    for (uint64_t e = chunk.start; e < chunk.start + chunk.count; e++) {
        double own = emu_evidence_value(evidence, rank, tensor, EMU_STATE_WEIGHT, e);
        double right = emu_evidence_value(evidence, keeper, tensor, EMU_STATE_WEIGHT, e);
        if (memcmp(&own, &right, sizeof own) != 0)
            return e;
    }
    return UINT64_MAX;
}

/* Likewise in any chunk. */
static uint64_t first_stale(const struct emu_evidence *evidence, uint32_t rank, uint32_t tensor,
                            uint32_t *keeper)
{
    struct emu_group group = group_of(evidence, rank);
    for (uint32_t i = 0; i < group.size; i++) {
        uint64_t element = stale_in_chunk(evidence, rank, tensor, i);
        *keeper = emu_group_member(&group, i);
        if (element != UINT64_MAX)
            return element;
    }
    return UINT64_MAX;
}

static bool blocks_agree(const struct emu_evidence *evidence, uint32_t rank, uint32_t tensor)
{
    struct emu_group group = group_of(evidence, rank);
    for (uint32_t i = 0; i < group.size; i++)
        if (!emu_evidence_same_block(
                emu_evidence_tensor(evidence, rank, tensor),
                emu_evidence_tensor(evidence, emu_group_member(&group, i), tensor)))
            return false;
    return true;
}

/* Can it be no single member whose own chunk changed after the others had gathered it? Such a
 * member is alone with that chunk, and with no other. */
static bool is_certain(const struct emu_evidence *evidence, uint32_t rank, uint32_t tensor)
{
    struct emu_group group = group_of(evidence, rank);
    uint32_t chunks = 0;
    for (uint32_t i = 0; i < group.size; i++) {
        uint32_t others = 0;
        for (uint32_t k = 0; k < group.size; k++)
            others +=
                stale_in_chunk(evidence, emu_group_member(&group, k), tensor, i) != UINT64_MAX;
        if (others > 0 && others + 1 < group.size)
            return true;
        chunks += others > 0;
    }
    return chunks > 1;
}

static bool any_certain(const struct emu_evidence *evidence, uint32_t tensor)
{
    for (uint32_t rank = 0; rank < emu_evidence_world(evidence); rank++)
        if (emu_plan_shard_index(evidence->plan, rank) == 0 &&
            emu_evidence_holds(evidence, rank, tensor) && blocks_agree(evidence, rank, tensor) &&
            is_certain(evidence, rank, tensor))
            return true;
    return false;
}

struct stale {
    struct emu_marks ranks, tensors;
    uint32_t rank, tensor, keeper; /* the first */
    uint64_t element;
};

static void find_stale(const struct emu_evidence *evidence, uint32_t tensor, struct stale *stale)
{
    for (uint32_t rank = 0; rank < emu_evidence_world(evidence); rank++) {
        uint32_t keeper = rank;
        if (!emu_evidence_holds(evidence, rank, tensor) || !blocks_agree(evidence, rank, tensor))
            continue;
        uint64_t element = first_stale(evidence, rank, tensor, &keeper);
        if (element == UINT64_MAX)
            continue;
        if (emu_marks_count(&stale->ranks) == 0) {
            stale->rank = rank;
            stale->tensor = tensor;
            stale->keeper = keeper;
            stale->element = element;
        }
        stale->ranks.at[rank] = true;
        stale->tensors.at[tensor] = true;
    }
}

static void describe(const struct emu_evidence *evidence, const struct stale *stale,
                     struct emu_finding *finding)
{
    const struct emu_plan *plan = evidence->plan;
    const struct emu_mesh *mesh = emu_evidence_mesh(evidence);
    struct emu_element at = emu_evidence_element(
        emu_evidence_tensor(evidence, stale->rank, stale->tensor), stale->element);
    struct emu_text names = {0}, rank = {0}, keeper = {0};
    emu_tensors_words(&names, plan, &stale->tensors);
    emu_rank_text(&rank, mesh, stale->rank);
    emu_rank_text(&keeper, mesh, stale->keeper);
    emu_finding_message(
        finding,
        "step %" PRIu64 ": replicas hold different bits for the weight of %s: %s "
        "has not what %s updated, first at row %" PRIu64 ", column %" PRIu64 " of %s",
        evidence->step, emu_text_get(&names), emu_text_get(&rank), emu_text_get(&keeper), at.row,
        at.column, plan->tensors[stale->tensor].name);
    emu_finding_set_text(&finding->explanation,
                         "the optimizer's state is divided over %s: each member updates its chunk, "
                         "and the others gather it",
                         plan->roster.families[plan->shard_family].name);
    emu_text_finish(&names);
    emu_text_finish(&rank);
    emu_text_finish(&keeper);
}

static void report(const struct emu_evidence *evidence, const struct stale *stale,
                   struct emu_audit *audit)
{
    const struct emu_plan *plan = evidence->plan;
    const struct emu_mesh *mesh = emu_evidence_mesh(evidence);
    uint32_t group;
    struct emu_finding *finding = emu_findings_add(&audit->findings, EMU_CLASS_REPLICA_DIVERGENCE);
    if (!finding)
        return;
    describe(evidence, stale, finding);
    if (emu_roster_group_of(&plan->roster, plan->shard_family, stale->rank, &group) == EMU_OK)
        emu_finding_group(finding, &plan->roster, group);
    for (uint32_t i = 0; i < plan->shard_axes.count; i++)
        emu_finding_axis(finding, mesh->axes[plan->shard_axes.index[i]].name);
    emu_finding_culprits(finding, &stale->ranks);
    emu_finding_parameters(finding, plan, &stale->tensors);
}

static bool is_open(const struct emu_divergence *one)
{
    return one->state == EMU_STATE_WEIGHT && !one->explained;
}

bool emu_gather_report(const struct emu_evidence *evidence, struct emu_divergences *divergences,
                       struct emu_audit *audit)
{
    struct stale stale = {0};
    bool certain = false;
    if (!emu_plan_shards_moments(evidence->plan) || evidence->step == 0)
        return true;
    for (size_t i = 0; i < divergences->count && !certain; i++)
        certain =
            is_open(&divergences->items[i]) && any_certain(evidence, divergences->items[i].tensor);
    if (!certain)
        return true;
    bool room = emu_marks_init(&stale.ranks, emu_evidence_world(evidence)) &&
                emu_marks_init(&stale.tensors, evidence->plan->tensor_count);
    for (size_t i = 0; room && i < divergences->count; i++)
        if (is_open(&divergences->items[i]) && !stale.tensors.at[divergences->items[i].tensor])
            find_stale(evidence, divergences->items[i].tensor, &stale);
    for (size_t i = 0; room && i < divergences->count; i++)
        if (is_open(&divergences->items[i]) && stale.tensors.at[divergences->items[i].tensor])
            divergences->items[i].explained = true;
    if (room)
        report(evidence, &stale, audit);
    emu_marks_finish(&stale.ranks);
    emu_marks_finish(&stale.tensors);
    return room;
}
