#include "check/chunk_tiling.h"

#include "check/audit_parts.h"
#include "check/evidence.h"

#include <inttypes.h>

static struct emu_slice planned(const struct emu_evidence *evidence, uint32_t rank, uint32_t tensor,
                                uint32_t index)
{
    uint64_t n = emu_evidence_elements(emu_evidence_tensor(evidence, rank, tensor));
    return emu_plan_chunk(evidence->plan, n, index);
}

static bool same(struct emu_slice a, struct emu_slice b)
{
    return a.count == b.count && (a.count == 0 || a.start == b.start);
}

/* Is what the rank keeps of this tensor the chunk that is its own? */
static bool keeps_own(const struct emu_evidence *evidence, uint32_t rank, uint32_t tensor)
{
    const struct emu_plan *plan = evidence->plan;
    const struct emu_tensor_record *record = emu_evidence_tensor(evidence, rank, tensor);
    struct emu_slice own = planned(evidence, rank, tensor, emu_plan_shard_index(plan, rank));
    return same(record->moment_part, own) &&
           (!emu_plan_shards_gradients(plan) || same(record->gradient_part, own));
}

static void put_elements(struct emu_text *out, struct emu_slice part)
{
    if (part.count == 0)
        emu_text_puts(out, "no element");
    else if (part.count == 1)
        emu_text_printf(out, "element %" PRIu64, part.start);
    else
        emu_text_printf(out, "elements %" PRIu64 " to %" PRIu64, part.start,
                        part.start + part.count - 1);
}

/* "..., which are those of rank 2 (dp=1,tp=0)". */
static void put_owner(const struct emu_evidence *evidence, uint32_t rank, uint32_t tensor,
                      struct emu_slice part, struct emu_text *out)
{
    const struct emu_plan *plan = evidence->plan;
    struct emu_group group = emu_group_of(emu_evidence_mesh(evidence), &plan->shard_axes, rank);
    for (uint32_t i = 0; i < group.size; i++) {
        if (part.count == 0 || !same(planned(evidence, rank, tensor, i), part))
            continue;
        emu_text_puts(out, ", the part of ");
        emu_rank_text(out, emu_evidence_mesh(evidence), emu_group_member(&group, i));
        return;
    }
}

static void report(const struct emu_evidence *evidence, uint32_t rank, uint32_t tensor,
                   struct emu_finding *finding)
{
    const struct emu_plan *plan = evidence->plan;
    struct emu_slice part = emu_evidence_tensor(evidence, rank, tensor)->moment_part;
    struct emu_text text = {0};
    emu_rank_text(&text, emu_evidence_mesh(evidence), rank);
    emu_text_printf(&text, " keeps optimizer state for ");
    put_elements(&text, part);
    emu_text_printf(&text, " of its block of %s", plan->tensors[tensor].name);
    put_owner(evidence, rank, tensor, part, &text);
    emu_text_puts(&text, "; its own ");
    struct emu_slice own = planned(evidence, rank, tensor, emu_plan_shard_index(plan, rank));
    emu_text_puts(&text, own.count == 1 ? "is " : "are ");
    put_elements(&text, own);
    emu_finding_message(finding, "%s", emu_text_get(&text));
    emu_text_finish(&text);
    uint32_t group;
    if (emu_roster_group_of(&plan->roster, plan->shard_family, rank, &group) == EMU_OK)
        emu_finding_group(finding, &plan->roster, group);
    for (uint32_t i = 0; i < plan->shard_axes.count; i++)
        emu_finding_axis(finding,
                         emu_evidence_mesh(evidence)->axes[plan->shard_axes.index[i]].name);
}

uint64_t emu_check_chunks(const struct emu_evidence *evidence, struct emu_audit *audit,
                          uint64_t *compared)
{
    uint64_t wrong = 0;
    struct emu_finding *finding = NULL;
    if (!emu_plan_shards_moments(evidence->plan))
        return 0;
    for (uint32_t rank = 0; rank < emu_evidence_world(evidence); rank++)
        for (uint32_t tensor = 0; tensor < evidence->plan->tensor_count; tensor++) {
            if (!emu_evidence_holds(evidence, rank, tensor))
                continue;
            ++*compared;
            if (keeps_own(evidence, rank, tensor))
                continue;
            if (wrong++ == 0) {
                finding = emu_findings_add(&audit->findings, EMU_CLASS_SHARD_TILING);
                if (finding)
                    report(evidence, rank, tensor, finding);
            }
            if (finding) {
                emu_finding_culprit(finding, rank);
                emu_finding_parameter(finding, evidence->plan->tensors[tensor].name);
            }
        }
    return wrong;
}
