/* Do ledger and values speak of the same gradient? value = sum of coefficient * source sum, always.
 */
#include "check/audit_parts.h"
#include "check/evidence.h"

#include <inttypes.h>
#include <math.h>

/* Index of the first element kept by this rank that its coefficients do not explain, or UINT64_MAX.
 * What another member of its shard group keeps was scaled by that one, so its ledger counts. */
static uint64_t first_unexplained(const struct emu_evidence *evidence, uint32_t rank,
                                  uint32_t tensor, const struct emu_bounded *want)
{
    uint64_t elements = emu_evidence_elements(emu_evidence_tensor(evidence, rank, tensor));
    for (uint64_t e = 0; e < elements; e++) {
        if (emu_evidence_keeper(evidence, rank, tensor, EMU_STATE_GRADIENT, e) != rank)
            continue;
        const struct emu_bounded *w = &want[emu_evidence_logical(evidence, rank, tensor, e)];
        double got = emu_evidence_value(evidence, rank, tensor, EMU_STATE_GRADIENT, e);
        if (!(fabs(got - w->value) <= 2 * w->bound))
            return e;
    }
    return UINT64_MAX;
}

bool emu_check_binding(const struct emu_evidence *evidence, uint32_t rank, uint32_t tensor,
                       const struct emu_bounded *want, struct emu_audit *audit)
{
    uint64_t at = first_unexplained(evidence, rank, tensor, want);
    if (at == UINT64_MAX)
        return true;
    const char *name = evidence->plan->tensors[tensor].name;
    struct emu_finding *finding = emu_findings_add(&audit->findings, EMU_CLASS_INTERNAL);
    if (!finding) {
        emu_audit_no_memory(audit, EMU_CHECK_LEDGER);
        return false;
    }
    emu_finding_culprit(finding, rank);
    emu_finding_parameter(finding, name);
    emu_finding_message(finding,
                        "step %" PRIu64 ": the ledger of %s on rank %" PRIu32
                        " does not give its value (local element %" PRIu64
                        "): ledger and values must agree",
                        evidence->step, name, rank, at);
    return false;
}
