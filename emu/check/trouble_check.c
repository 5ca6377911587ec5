/* Did a rank meet something in the recipe that it could not do? */
#include "check/audit_parts.h"
#include "check/source_words.h"

#include <stdlib.h>

static bool nonfinite(enum emu_trouble_kind kind)
{
    return kind == EMU_TROUBLE_NO_TOKENS || kind == EMU_TROUBLE_DIVISION;
}

/* "scale_loss", "the scale of reduction 2 (config.yaml:7)", "scale_grad". */
static void put_place(const struct emu_plan *plan, const struct emu_trouble *trouble,
                      struct emu_text *out)
{
    const struct emu_reduction_plan *reduction = &plan->recipe.reductions[trouble->reduction];
    if (trouble->place != EMU_PLACE_REDUCTION) {
        emu_text_puts(out, trouble->place == EMU_PLACE_LOSS ? "scale_loss" : "scale_grad");
        return;
    }
    emu_text_printf(out, "the reduction over %s (", reduction->over);
    emu_reduction_place(reduction, plan->config->name, out);
    emu_text_putc(out, ')');
}

/* "dp=4 to 7": all sources at which ranks met this kind of trouble. */
static void put_sources(const struct emu_evidence *evidence, enum emu_trouble_kind kind,
                        struct emu_text *out)
{
    uint32_t count = emu_plan_sources(evidence->plan);
    bool *in = calloc(count, sizeof *in);
    uint64_t *counted = calloc(count, sizeof *counted);
    for (uint32_t rank = 0; in && counted && rank < evidence->plan->roster.mesh->world; rank++)
        if (evidence->records[rank]->trouble.kind == kind)
            in[evidence->records[rank]->trouble.source] = true;
    for (uint32_t s = 0; counted && s < count; s++)
        counted[s] = 1; /* here a source is named because it has no token */
    if (in && counted)
        emu_sources_words(out, evidence->plan, in, counted);
    free(in);
    free(counted);
}

static void put_all_parameters(const struct emu_plan *plan, struct emu_finding *finding)
{
    for (uint32_t i = 0; i < plan->tensor_count; i++)
        emu_finding_parameter(finding, plan->tensors[i].name);
}

static const char *expression_at(const struct emu_plan *plan, const struct emu_trouble *trouble)
{
    const char *text = trouble->place == EMU_PLACE_LOSS ? plan->recipe.scale_loss_text
                       : trouble->place == EMU_PLACE_GRAD
                           ? plan->recipe.scale_grad_text
                           : plan->recipe.reductions[trouble->reduction].scale_text;
    return text ? text : "1";
}

static void tell_shard(const struct emu_plan *plan, const struct emu_trouble *trouble,
                       const char *place, struct emu_finding *finding)
{
    const char *axis = plan->roster.mesh->axes[trouble->axis].name;
    const char *tensor = plan->tensors[trouble->tensor].name;
    emu_finding_message(finding,
                        "%s would add unrelated elements: %s is sharded over %s; nothing was moved",
                        place, tensor, axis);
    emu_finding_set_text(
        &finding->explanation,
        "each rank of %s holds other rows or columns of %s: leave %s out of `over`, "
        "or the parameter out of `params`",
        axis, tensor, axis);
    emu_finding_axis(finding, axis);
    emu_finding_parameter(finding, tensor);
}

static void tell(const struct emu_evidence *evidence, const struct emu_trouble *trouble,
                 struct emu_finding *finding)
{
    const struct emu_plan *plan = evidence->plan;
    struct emu_text sources = {0};
    struct emu_text place = {0};
    put_sources(evidence, trouble->kind, &sources);
    put_place(plan, trouble, &place);
    switch (trouble->kind) {
    case EMU_TROUBLE_NO_TOKENS:
        emu_finding_message(finding, "no valid token in %s: the mean there is 0/0",
                            emu_text_get(&sources));
        emu_finding_set_text(&finding->explanation,
                             "loss: mean divides by its 0 valid tokens; use loss: sum with "
                             "scale_grad: 1/tokens");
        put_all_parameters(plan, finding);
        break;
    case EMU_TROUBLE_DIVISION:
        emu_finding_message(finding, "%s divides by zero in %s", emu_text_get(&place),
                            emu_text_get(&sources));
        emu_finding_set_text(&finding->explanation,
                             "%s has no value there; a count that can be 0 needs max(1, ...), and "
                             "`tokens`, the valid tokens of the whole mesh, is not local",
                             expression_at(plan, trouble));
        put_all_parameters(plan, finding);
        break;
    case EMU_TROUBLE_RANGE:
        emu_finding_message(finding, "%s has a value that does not fit in 64 bits",
                            emu_text_get(&place));
        emu_finding_set_text(&finding->explanation,
                             "%s is exact or nothing: products of its sizes on the way must stay "
                             "below 2^63",
                             expression_at(plan, trouble));
        break;
    case EMU_TROUBLE_SHARD:
    case EMU_TROUBLE_NONE:
        tell_shard(plan, trouble, emu_text_get(&place), finding);
        break;
    }
    emu_text_finish(&sources);
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
            tell(evidence, trouble, finding);
        }
        emu_finding_culprit(finding, rank);
    }
    if (finding)
        emu_audit_count(audit, EMU_CHECK_LEDGER, 0, 1);
    return finding != NULL;
}
