/* Which finding of an audit is the cause of another? Declared in audit.h. */
#include "check/audit.h"
#include "check/finding_build.h"

/* What the coefficients already explain is told as their consequence: copies that differ because a
 * source is missing in some, values that differ from the oracle because the coefficients do. */
static bool follows(enum emu_class cause, enum emu_class other)
{
    switch (other) {
    case EMU_CLASS_REPLICA_DIVERGENCE:
    case EMU_CLASS_ORACLE_MISMATCH:
    case EMU_CLASS_TRAFFIC_MISMATCH: /* a reduction too many or too few */
        return true;
    case EMU_CLASS_MEMORY_MISMATCH: /* another block than its own is of another size */
        return cause == EMU_CLASS_SHARD_TILING;
    case EMU_CLASS_WRONG_NORM:
        return cause == EMU_CLASS_WRONG_NORM || cause == EMU_CLASS_DATA_DIVERGENCE;
    case EMU_CLASS_WRONG_SCALE: /* other examples, another number of valid tokens */
        return cause == EMU_CLASS_DATA_DIVERGENCE;
    default:
        return false;
    }
}

void emu_audit_subordinate(struct emu_audit *audit, size_t cause, size_t from)
{
    struct emu_findings *findings = &audit->findings;
    size_t kept = from;
    for (size_t i = from; i < findings->count; i++) {
        struct emu_finding *finding = &findings->items[i];
        if (!follows(findings->items[cause].class_id, finding->class_id)) {
            findings->items[kept++] = *finding;
            continue;
        }
        emu_finding_consequence(&findings->items[cause], "%s: %s",
                                emu_class_name(finding->class_id),
                                finding->message ? finding->message : "");
        emu_finding_finish(finding);
    }
    findings->count = kept;
}

size_t emu_audit_first_fault(const struct emu_audit *audit, size_t from)
{
    size_t i = from;
    while (i < audit->findings.count && audit->findings.items[i].note)
        i++;
    return i;
}
