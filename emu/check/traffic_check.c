/* Did every rank send what the plan predicts, group by group and axis by axis? */
#include "check/audit_parts.h"
#include "check/evidence.h"
#include "plan/traffic.h"

#include <inttypes.h>

/* One line of the books that differs. */
struct difference {
    const char *name; /* family, or axis of messages; NULL: all agree */
    bool messages;
    uint64_t expected, got;
};

static struct difference first_difference(const struct emu_evidence *evidence, uint32_t rank)
{
    const struct emu_plan *plan = evidence->plan;
    const struct emu_step_record *record = evidence->records[rank];
    struct emu_traffic_plan want =
        evidence->step == 0 ? emu_initial_traffic(plan, rank) : emu_plan_traffic(plan, rank);
    for (uint32_t i = 0; i < plan->roster.family_count; i++)
        if (record->family_bytes[i] != want.family[i])
            return (struct difference){plan->roster.families[i].name, false, want.family[i],
                                       record->family_bytes[i]};
    for (uint32_t i = 0; i < plan->roster.mesh->axis_count; i++)
        if (record->message_bytes[i] != want.messages[i])
            return (struct difference){plan->roster.mesh->axes[i].name, true, want.messages[i],
                                       record->message_bytes[i]};
    return (struct difference){0};
}

static void report(const struct emu_evidence *evidence, uint32_t rank,
                   const struct difference *difference, struct emu_finding *finding)
{
    struct emu_text where = {0};
    if (evidence->step == 0)
        emu_text_puts(&where, "before the first step: ");
    else
        emu_text_printf(&where, "step %" PRIu64 ": ", evidence->step);
    emu_rank_text(&where, emu_evidence_mesh(evidence), rank);
    emu_finding_message(finding, "%s sent %" PRIu64 " bytes %s %s where the plan predicts %" PRIu64,
                        emu_text_get(&where), difference->got,
                        difference->messages ? "of messages along" : "in collectives over",
                        difference->name, difference->expected);
    emu_text_finish(&where);
    emu_finding_set_text(&finding->expected, "%" PRIu64, difference->expected);
    emu_finding_set_text(&finding->got, "%" PRIu64, difference->got);
    emu_finding_axis(finding, difference->name);
}

void emu_check_traffic(const struct emu_evidence *evidence, struct emu_audit *audit)
{
    size_t before = audit->findings.count;
    uint32_t world = emu_evidence_world(evidence);
    uint64_t differed = 0;
    struct emu_finding *finding = NULL;
    for (uint32_t rank = 0; rank < world; rank++) {
        struct difference difference = first_difference(evidence, rank);
        if (!difference.name)
            continue;
        differed++;
        if (!finding) {
            finding = emu_findings_add(&audit->findings, EMU_CLASS_TRAFFIC_MISMATCH);
            if (finding)
                report(evidence, rank, &difference, finding);
        }
        if (finding)
            emu_finding_culprit(finding, rank);
    }
    uint64_t lines =
        evidence->plan->roster.family_count + (uint64_t)evidence->plan->roster.mesh->axis_count;
    emu_audit_count(audit, EMU_CHECK_TRAFFIC, world * lines, differed);
    emu_audit_fold(audit, before, evidence->step);
}
