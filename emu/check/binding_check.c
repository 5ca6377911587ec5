/* Do ledger and values speak of the same gradient? value = sum of coefficient * source sum, always.
 */
#include "check/audit_parts.h"

#include <inttypes.h>
#include <math.h>

/* Element of a rank's block, in the arithmetic of the run. */
static double element(const struct emu_evidence *evidence, uint32_t rank, uint64_t offset,
                      uint64_t index)
{
    const unsigned char *at = evidence->arenas[rank] + offset;
    if (evidence->plan->dtype == EMU_F32)
        return (double)((const float *)(const void *)at)[index];
    return ((const double *)(const void *)at)[index];
}

/* Index of the first local element that the coefficients do not explain, or UINT64_MAX. */
static uint64_t first_unexplained(const struct emu_evidence *evidence, uint32_t rank,
                                  uint32_t tensor, const struct emu_bounded *want)
{
    const struct emu_tensor_record *block = &evidence->records[rank]->tensors[tensor];
    uint64_t columns = evidence->plan->tensors[tensor].columns;
    for (uint64_t e = 0; e < block->rows * block->columns; e++) {
        uint64_t row = block->first_row + e / block->columns;
        uint64_t column = block->first_column + e % block->columns;
        const struct emu_bounded *w = &want[row * columns + column];
        double difference = fabs(element(evidence, rank, block->gradient, e) - w->value);
        if (!(difference <= 2 * w->bound))
            return e;
    }
    return UINT64_MAX;
}

bool emu_check_binding(const struct emu_evidence *evidence, uint32_t rank,
                       const struct emu_bounded *const *want, struct emu_audit *audit)
{
    for (uint32_t i = 0; i < evidence->plan->tensor_count; i++) {
        uint64_t at = first_unexplained(evidence, rank, i, want[i]);
        if (at == UINT64_MAX)
            continue;
        struct emu_finding *finding = emu_findings_add(&audit->findings, EMU_CLASS_INTERNAL);
        if (!finding) {
            emu_audit_no_memory(audit, EMU_CHECK_LEDGER);
            return false;
        }
        emu_finding_culprit(finding, rank);
        emu_finding_parameter(finding, evidence->plan->tensors[i].name);
        emu_finding_message(finding,
                            "step %" PRIu64 ": the ledger of %s on rank %" PRIu32
                            " does not give its value (local element %" PRIu64
                            "): ledger and values must agree",
                            evidence->step, evidence->plan->tensors[i].name, rank, at);
        return false;
    }
    return true;
}
