/* Does every rank hold the bytes that the plan predicts, category by category? */
#include "check/audit_parts.h"
#include "check/evidence.h"
#include "plan/memory.h"

#include <inttypes.h>

/* The first category that differs on a rank, or EMU_CATEGORY_COUNT. */
static int first_wrong(const struct emu_evidence *evidence, uint32_t rank,
                       const struct emu_memory_plan *plan)
{
    int category = 0;
    while (category < EMU_CATEGORY_COUNT &&
           evidence->records[rank]->requested[category] == plan->bytes[category])
        category++;
    return category;
}

static void report(const struct emu_evidence *evidence, uint32_t rank, int category,
                   const struct emu_memory_plan *plan, struct emu_finding *finding)
{
    uint64_t got = evidence->records[rank]->requested[category];
    struct emu_text where = {0};
    emu_rank_text(&where, emu_evidence_mesh(evidence), rank);
    emu_finding_message(finding,
                        "%s holds %" PRIu64 " bytes of %s where the plan predicts %" PRIu64,
                        emu_text_get(&where), got, emu_category_name((enum emu_category)category),
                        plan->bytes[category]);
    emu_text_finish(&where);
    emu_finding_set_text(&finding->expected, "%" PRIu64, plan->bytes[category]);
    emu_finding_set_text(&finding->got, "%" PRIu64, got);
}

void emu_check_memory(const struct emu_evidence *evidence, struct emu_audit *audit)
{
    size_t before = audit->findings.count;
    uint64_t differed = 0;
    struct emu_finding *finding = NULL;
    uint32_t world = emu_evidence_world(evidence);
    for (uint32_t rank = 0; rank < world; rank++) {
        struct emu_memory_plan plan = emu_plan_memory(evidence->plan, rank);
        int category = first_wrong(evidence, rank, &plan);
        if (category == EMU_CATEGORY_COUNT)
            continue;
        differed++;
        if (!finding) {
            finding = emu_findings_add(&audit->findings, EMU_CLASS_MEMORY_MISMATCH);
            if (finding)
                report(evidence, rank, category, &plan, finding);
        }
        if (finding)
            emu_finding_culprit(finding, rank);
    }
    emu_audit_count(audit, EMU_CHECK_MEMORY, (uint64_t)world * EMU_CATEGORY_COUNT, differed);
    emu_audit_fold(audit, before, evidence->step);
}
