/* Did a rank meet something in the recipe that it could not do? */
#include "check/audit_parts.h"

#include <inttypes.h>

static bool nonfinite(enum emu_trouble_kind kind)
{
    return kind == EMU_TROUBLE_NO_TOKENS || kind == EMU_TROUBLE_DIVISION;
}

/* "scale_loss", "the scale of reduction 2 (config.yaml:7)", "scale_grad". */
static void put_place(const struct emu_plan *plan, const struct emu_trouble *trouble,
                      struct emu_text *out)
{
    const struct emu_reduction_plan *reduction = &plan->recipe.reductions[trouble->reduction];
    if (trouble->place == EMU_PLACE_REDUCTION)
        emu_text_printf(out, "the reduction over %s (%s:%" PRIu32 ")", reduction->over,
                        plan->config->name, reduction->line);
    else
        emu_text_puts(out, trouble->place == EMU_PLACE_LOSS ? "scale_loss" : "scale_grad");
}

static void tell(const struct emu_plan *plan, const struct emu_trouble *trouble,
                 struct emu_finding *finding)
{
    struct emu_text source = {0};
    struct emu_text place = {0};
    emu_source_name(plan, trouble->source, &source);
    put_place(plan, trouble, &place);
    switch (trouble->kind) {
    case EMU_TROUBLE_NO_TOKENS:
        emu_finding_message(finding, "%s has no valid token: its mean is 0/0",
                            emu_text_get(&source));
        break;
    case EMU_TROUBLE_DIVISION:
        emu_finding_message(finding, "%s divides by zero at %s", emu_text_get(&place),
                            emu_text_get(&source));
        break;
    case EMU_TROUBLE_RANGE:
        emu_finding_message(finding, "%s has a value that does not fit in 64 bits",
                            emu_text_get(&place));
        break;
    case EMU_TROUBLE_SHARD:
    case EMU_TROUBLE_NONE:
        emu_finding_message(finding,
                            "%s would add unrelated elements: %s is sharded over %s; nothing was "
                            "moved",
                            emu_text_get(&place), plan->tensors[trouble->tensor].name,
                            plan->roster.mesh->axes[trouble->axis].name);
        emu_finding_axis(finding, plan->roster.mesh->axes[trouble->axis].name);
        emu_finding_parameter(finding, plan->tensors[trouble->tensor].name);
        break;
    }
    emu_text_finish(&source);
    emu_text_finish(&place);
}

static enum emu_class class_of(enum emu_trouble_kind kind)
{
    if (nonfinite(kind))
        return EMU_CLASS_NONFINITE;
    return kind == EMU_TROUBLE_SHARD ? EMU_CLASS_SHARD_TILING : EMU_CLASS_INVALID_ARGUMENT;
}

bool emu_check_trouble(const struct emu_evidence *evidence, struct emu_audit *audit)
{
    struct emu_finding *finding = NULL;
    enum emu_trouble_kind first = EMU_TROUBLE_NONE;
    for (uint32_t rank = 0; rank < evidence->plan->roster.mesh->world; rank++) {
        const struct emu_trouble *trouble = &evidence->records[rank]->trouble;
        if (trouble->kind == EMU_TROUBLE_NONE)
            continue;
        if (!finding) {
            first = trouble->kind;
            finding = emu_findings_add(&audit->findings, class_of(first));
            if (!finding) {
                emu_audit_no_memory(audit, EMU_CHECK_LEDGER);
                return true;
            }
            tell(evidence->plan, trouble, finding);
        }
        emu_finding_culprit(finding, rank);
    }
    if (finding)
        emu_audit_count(audit, EMU_CHECK_LEDGER, 0, 1);
    return finding != NULL;
}
