#include "base/number.h"
#include "check/audit_parts.h"
#include "check/evidence.h"
#include "check/gather_report.h"
#include "check/replica_case.h"
#include "check/split.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* One look at a step. */
struct look {
    const struct emu_evidence *evidence;
    struct emu_audit *audit;
    struct emu_divergences divergences;
    uint64_t compared, differed;
    bool failed; /* memory */
};

/* Before the first step only weights mean something. */
static void compare_tensors(struct look *look)
{
    const struct emu_plan *plan = look->evidence->plan;
    int states = look->evidence->step == 0 ? EMU_STATE_WEIGHT + 1 : EMU_STATE_COUNT;
    for (int state = 0; state < states; state++) {
        if (!emu_state_is_kept(plan, (enum emu_state)state))
            continue;
        for (uint32_t tensor = 0; tensor < plan->tensor_count && !look->failed; tensor++)
            look->failed =
                !emu_divergences_find(&look->divergences, look->evidence, (enum emu_state)state,
                                      tensor, &look->compared, &look->differed);
    }
}

/* The ranks where values that are not finite arose: those whose own loss is not, where other ranks'
 * loss is; otherwise all that hold such values. */
static void find_source(const struct emu_evidence *evidence, const struct emu_marks *holders,
                        struct emu_marks *source)
{
    size_t lost = 0;
    for (uint32_t rank = 0; rank < source->size; rank++) {
        source->at[rank] = !isfinite(evidence->records[rank]->loss_sum);
        lost += source->at[rank];
    }
    if (lost > 0 && lost < source->size)
        return;
    for (uint32_t rank = 0; rank < source->size; rank++)
        source->at[rank] = holders->at[rank];
}

/* Say where the first such element of this tensor is. */
static void describe_element(struct emu_finding *finding, const struct emu_evidence *evidence,
                             uint32_t rank, uint32_t tensor)
{
    const struct emu_tensor_record *record = emu_evidence_tensor(evidence, rank, tensor);
    char number[EMU_NUMBER_MAX];
    for (int state = EMU_STATE_GRADIENT; state >= EMU_STATE_WEIGHT; state--)
        for (uint64_t i = 0; i < emu_evidence_elements(record); i++) {
            double value = emu_evidence_value(evidence, rank, tensor, (enum emu_state)state, i);
            if (isfinite(value))
                continue;
            struct emu_element at = emu_evidence_element(record, i);
            emu_finding_set_text(&finding->got, "%s", emu_number_f64(value, number));
            emu_finding_message(finding,
                                "step %" PRIu64 ": the %s of %s is %s at row %" PRIu64
                                ", column %" PRIu64 " on rank %" PRIu32,
                                evidence->step, emu_state_word((enum emu_state)state),
                                evidence->plan->tensors[tensor].name, finding->got, at.row,
                                at.column, rank);
            return;
        }
}

static void report_nonfinite(struct look *look, const struct emu_marks *ranks,
                             const struct emu_marks *tensors, struct emu_marks *source)
{
    const struct emu_evidence *evidence = look->evidence;
    struct emu_finding *finding = emu_findings_add(&look->audit->findings, EMU_CLASS_NONFINITE);
    if (!finding)
        return;
    find_source(evidence, ranks, source);
    emu_finding_culprits(finding, source);
    emu_finding_parameters(finding, evidence->plan, tensors);
    uint32_t rank = 0, tensor = 0;
    while (!ranks->at[rank])
        rank++;
    emu_finding_message(finding,
                        "step %" PRIu64 ": the loss or the norm of the gradients is not finite",
                        evidence->step);
    while (tensor < tensors->size && emu_evidence_tensor(evidence, rank, tensor)->finite)
        tensor++;
    if (tensor < tensors->size)
        describe_element(finding, evidence, rank, tensor);
    struct emu_text words = {0};
    emu_marks_words(&words, ranks);
    emu_finding_consequence(finding, "values that are not finite are on %s", emu_text_get(&words));
    emu_text_finish(&words);
}

/* ranks: those with values that are not finite. */
static void check_finite(struct look *look, struct emu_marks *ranks)
{
    const struct emu_evidence *evidence = look->evidence;
    struct emu_marks tensors = {0}, source = {0};
    if (emu_marks_init(&tensors, evidence->plan->tensor_count) &&
        emu_marks_init(&source, ranks->size)) {
        for (uint32_t rank = 0; rank < ranks->size; rank++) {
            const struct emu_step_record *record = evidence->records[rank];
            for (uint32_t tensor = 0; tensor < tensors.size; tensor++)
                if (!record->tensors[tensor].finite)
                    tensors.at[tensor] = ranks->at[rank] = true;
            if (!isfinite(record->step_loss) || !isfinite(record->grad_norm))
                ranks->at[rank] = true;
        }
        size_t count = emu_marks_count(ranks);
        look->differed += count;
        if (count > 0)
            report_nonfinite(look, ranks, &tensors, &source);
    } else {
        look->failed = true;
    }
    emu_marks_finish(&tensors);
    emu_marks_finish(&source);
}

/* Differences that concern ranks with values that are not finite follow from these. */
static void explain_by_nonfinite(struct look *look, const struct emu_marks *ranks)
{
    for (size_t i = 0; i < look->divergences.count; i++) {
        struct emu_divergence *divergence = &look->divergences.items[i];
        for (uint32_t rank = 0; rank < ranks->size; rank++)
            if (ranks->at[rank] && emu_split_contains(&divergence->split, rank))
                divergence->explained = true;
    }
}

static void report_cases(struct look *look)
{
    struct emu_replica_cases cases = {0};
    look->failed =
        look->failed || !emu_gather_report(look->evidence, &look->divergences, look->audit);
    look->failed = look->failed || !emu_divergences_sort(&look->divergences,
                                                         emu_evidence_mesh(look->evidence), &cases);
    for (size_t i = 0; i < cases.count && !look->failed; i++)
        look->failed =
            !emu_replica_case_report(&look->divergences, &cases, i, look->evidence, look->audit);
    emu_replica_cases_finish(&cases);
}

/* What every rank computed for the whole mesh. */
enum scalar { SCALAR_LOSS, SCALAR_NORM, SCALAR_TOKENS, SCALAR_COUNT };

static const char *const scalar_words[SCALAR_COUNT] = {"loss of the step", "norm of the gradients",
                                                       "number of valid tokens"};

struct scalar_context {
    const struct emu_evidence *evidence;
    enum scalar scalar;
};

static bool same_scalar(const void *context, uint32_t a, uint32_t b)
{
    const struct scalar_context *with = context;
    const struct emu_step_record *p = with->evidence->records[a], *q = with->evidence->records[b];
    switch (with->scalar) {
    case SCALAR_LOSS:
        return memcmp(&p->step_loss, &q->step_loss, sizeof p->step_loss) == 0;
    case SCALAR_NORM:
        return memcmp(&p->grad_norm, &q->grad_norm, sizeof p->grad_norm) == 0;
    default:
        return p->step_tokens == q->step_tokens;
    }
}

static void scalar_text(char **text, const struct scalar_context *with, uint32_t rank)
{
    const struct emu_step_record *record = with->evidence->records[rank];
    char number[EMU_NUMBER_MAX];
    if (with->scalar == SCALAR_TOKENS)
        emu_finding_set_text(text, "%" PRIu64, record->step_tokens);
    else
        emu_finding_set_text(
            text, "%s",
            emu_number_f64(with->scalar == SCALAR_LOSS ? record->step_loss : record->grad_norm,
                           number));
}

static void report_scalar(struct look *look, const struct scalar_context *with,
                          const struct emu_split *split)
{
    struct emu_finding *finding =
        emu_findings_add(&look->audit->findings, EMU_CLASS_REPLICA_DIVERGENCE);
    if (!finding)
        return;
    const struct emu_mesh *mesh = emu_evidence_mesh(look->evidence);
    emu_finding_message(finding,
                        "step %" PRIu64 ": the %s is not the same on all ranks, though all "
                        "parameters are",
                        look->evidence->step, scalar_words[with->scalar]);
    emu_finding_group(finding, &look->evidence->plan->roster, 0);
    for (uint32_t i = 0; i < mesh->axis_count; i++)
        if (split->axes >> i & 1)
            emu_finding_axis(finding, mesh->axes[i].name);
    for (uint32_t rank = 0; rank < split->world; rank++) {
        char *value = NULL;
        scalar_text(&value, with, rank);
        emu_finding_member(finding, rank, value ? value : "", NULL);
        if (emu_split_is_odd(split, rank)) {
            emu_finding_culprit(finding, rank);
            scalar_text(&finding->got, with, rank);
        }
        free(value);
    }
    finding->undecided = split->tie;
    if (!split->tie)
        scalar_text(&finding->expected, with, emu_split_first(split, split->usual));
}

/* Loss, norm and token count, which all ranks must agree on. */
static void check_scalars(struct look *look)
{
    const uint64_t causes = EMU_CLASS_BIT(NONFINITE) | EMU_CLASS_BIT(REPLICA_DIVERGENCE) |
                            EMU_CLASS_BIT(DATA_DIVERGENCE) | EMU_CLASS_BIT(WRONG_SCALE);
    uint32_t world = emu_evidence_world(look->evidence);
    for (int scalar = 0; scalar < SCALAR_COUNT; scalar++) {
        struct scalar_context with = {look->evidence, (enum scalar)scalar};
        uint32_t odd = 1;
        while (odd < world && same_scalar(&with, 0, odd))
            odd++;
        look->compared += world - 1;
        if (odd >= world)
            continue;
        look->differed++;
        struct emu_finding *cause = emu_audit_fault(look->audit, causes);
        struct emu_split split;
        struct emu_split_params params = {
            .mesh = emu_evidence_mesh(look->evidence), .same = same_scalar, .context = &with};
        if (cause) {
            emu_finding_consequence(cause, "the %s is not the same on all ranks",
                                    scalar_words[scalar]);
        } else if (emu_split_init(&split, &params) == EMU_OK) {
            report_scalar(look, &with, &split);
            emu_split_finish(&split);
        } else {
            look->failed = true;
        }
    }
}

void emu_check_replicas(const struct emu_evidence *evidence, struct emu_audit *audit)
{
    size_t before = audit->findings.count;
    struct look look = {.evidence = evidence, .audit = audit};
    struct emu_marks nonfinite = {0};
    struct emu_finding *init = emu_audit_fault(audit, EMU_CLASS_BIT(INIT_MISMATCH));
    look.failed = !emu_marks_init(&nonfinite, emu_evidence_world(evidence));
    if (!look.failed)
        compare_tensors(&look);
    if (!look.failed && evidence->step > 0) {
        check_finite(&look, &nonfinite);
        explain_by_nonfinite(&look, &nonfinite);
    }
    if (init && look.divergences.count > 0)
        emu_finding_consequence(init, "replicas hold different bits");
    else if (look.divergences.count > 0)
        report_cases(&look);
    if (!look.failed && evidence->step > 0 && !init)
        check_scalars(&look);
    if (look.failed)
        emu_audit_no_memory(audit, EMU_CHECK_REPLICAS);
    else
        emu_audit_count(audit, EMU_CHECK_REPLICAS, look.compared, look.differed);
    emu_audit_fold(audit, before, evidence->step);
    emu_divergences_finish(&look.divergences);
    emu_marks_finish(&nonfinite);
}
