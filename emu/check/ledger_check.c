/* The ledger check: judge every parameter, one finding for each cause. */
#include "check/ledger_report.h"
#include "check/ledger_stage.h"
#include "ledger/value.h"

#include <string.h>

static bool same_judgement(const struct emu_ledger_judgement *a,
                           const struct emu_ledger_judgement *b)
{
    return a->class_id == b->class_id && a->uniform == b->uniform && a->law == b->law &&
           (!a->uniform || emu_rational_equal(a->ratio, b->ratio)) &&
           a->lost_source == b->lost_source;
}

/* What the path of a tensor says: sums, not averages, that met whole values. */
static struct emu_ledger_path path_of(const struct emu_evidence *evidence, uint32_t tensor)
{
    struct emu_ledger_path path = {0};
    for (uint32_t rank = 0; rank < evidence->plan->roster.mesh->world; rank++) {
        const struct emu_step_record *record = evidence->records[rank];
        uint32_t kept =
            record->event_count < EMU_RECORD_EVENTS ? record->event_count : EMU_RECORD_EVENTS;
        for (uint32_t i = 0; i < kept; i++) {
            const struct emu_record_event *event = &record->events[i];
            if (event->tensor != tensor || event->averaged)
                continue;
            path.summed_again = path.summed_again || event->kind == EMU_VALUE_AGAIN;
            path.summed_replicated = path.summed_replicated || event->kind == EMU_VALUE_REPLICATED;
        }
    }
    return path;
}

static struct emu_ledger_judgement judge(const struct emu_evidence *evidence,
                                         struct emu_ledger_evidence *ledger, uint32_t tensor)
{
    emu_ledger_gather(evidence, tensor, ledger);
    ledger->sources.uses = emu_tensor_uses(evidence->plan, tensor);
    ledger->sources.tied = emu_tensor_tied(evidence->plan, tensor);
    struct emu_ledger_rows rows = {ledger->rows, ledger->row_count};
    struct emu_ledger_path path = path_of(evidence, tensor);
    struct emu_ledger_judgement judgement;
    emu_ledger_judge(&ledger->sources, &rows, &path, &judgement);
    judgement.worst_row = ledger->holders[judgement.worst_row]; /* a rank from here on */
    return judgement;
}

static void tell_neutral(const struct emu_plan *plan, const struct emu_record_event *event,
                         struct emu_finding *finding)
{
    const struct emu_reduction_plan *reduction = &plan->recipe.reductions[event->reduction];
    const char *axis = plan->roster.mesh->axes[event->axis].name;
    const char *parameter = plan->tensors[event->tensor].name;
    struct emu_text place = {0};
    emu_reduction_place(reduction, plan->config->name, &place);
    finding->note = true;
    emu_finding_axis(finding, axis);
    emu_finding_parameter(finding, parameter);
    emu_finding_message(finding,
                        "%s over %s met %s, whole over %s already (%s); the final coefficients "
                        "are right all the same",
                        event->averaged ? "an average" : "a sum", reduction->over, parameter, axis,
                        emu_text_get(&place));
    emu_text_finish(&place);
}

/* Sums over whole values that changed nothing in the end are told as notes, once a call and axis.
 */
static void note_neutral(const struct emu_evidence *evidence, const struct emu_marks *wrong,
                         struct emu_audit *audit)
{
    const struct emu_step_record *record = evidence->records[0];
    const struct emu_plan *plan = evidence->plan;
    uint32_t kept =
        record->event_count < EMU_RECORD_EVENTS ? record->event_count : EMU_RECORD_EVENTS;
    for (uint32_t i = 0; i < kept; i++) {
        const struct emu_record_event *event = &record->events[i];
        bool told = false;
        for (uint32_t k = 0; k < i && !told; k++)
            told = record->events[k].reduction == event->reduction &&
                   record->events[k].axis == event->axis;
        if (told || wrong->at[event->tensor])
            continue;
        struct emu_finding *finding = emu_findings_add(
            &audit->findings, event->kind == EMU_VALUE_AGAIN ? EMU_CLASS_DOUBLE_REDUCTION
                                                             : EMU_CLASS_REDUCED_REPLICATED);
        if (!finding)
            return;
        tell_neutral(plan, event, finding);
    }
}

/* All tensors that share the case's cause: an equal judgement; or, where one pipeline stage alone
 * has a wrong factor, any. Of these one with a single ratio speaks for all. */
static void gather(struct emu_ledger_case *c, struct emu_ledger_evidence *ledger, bool one_stage)
{
    for (uint32_t k = c->tensor; k < c->tensors.size; k++) {
        struct emu_ledger_judgement other = judge(c->evidence, ledger, k);
        bool of_stage = one_stage && c->judgement.class_id == EMU_CLASS_WRONG_SCALE &&
                        other.class_id == EMU_CLASS_WRONG_SCALE;
        c->tensors.at[k] = !other.right && (of_stage || same_judgement(&c->judgement, &other));
        if (!c->tensors.at[k] || c->judgement.uniform || !other.uniform)
            continue;
        c->judgement = other;
        c->tensor = k;
    }
}

/* Judge all tensors; equal judgements are one case. */
static uint64_t judge_all(const struct emu_evidence *evidence, struct emu_ledger_evidence *ledger,
                          struct emu_marks *wrong, struct emu_audit *audit)
{
    uint32_t count = evidence->plan->tensor_count, stage = 0;
    uint64_t differed = 0;
    bool one_stage = emu_ledger_one_stage(evidence, ledger, &stage);
    for (uint32_t i = 0; i < count; i++) {
        struct emu_ledger_case c = {.evidence = evidence, .ledger = ledger, .tensor = i};
        if (wrong->at[i])
            continue;
        c.judgement = judge(evidence, ledger, i);
        if (c.judgement.right)
            continue;
        if (!emu_marks_init(&c.tensors, count)) {
            emu_audit_no_memory(audit, EMU_CHECK_LEDGER);
            return differed;
        }
        gather(&c, ledger, one_stage);
        differed += emu_marks_count(&c.tensors);
        emu_marks_add(wrong, &c.tensors);
        emu_ledger_report(&c, audit);
        emu_marks_finish(&c.tensors);
    }
    return differed;
}

void emu_check_ledger(const struct emu_evidence *evidence, struct emu_audit *audit)
{
    uint32_t count = evidence->plan->tensor_count;
    struct emu_ledger_evidence ledger;
    struct emu_marks wrong;
    size_t before = audit->findings.count;
    if (!emu_ledger_evidence_init(evidence, &ledger)) {
        emu_audit_no_memory(audit, EMU_CHECK_LEDGER);
        return;
    }
    if (emu_marks_init(&wrong, count)) {
        uint64_t differed = judge_all(evidence, &ledger, &wrong, audit);
        note_neutral(evidence, &wrong, audit);
        uint64_t compared =
            (uint64_t)emu_plan_sources(evidence->plan) * count * evidence->plan->roster.mesh->world;
        emu_audit_count(audit, EMU_CHECK_LEDGER, compared, differed);
        emu_audit_fold(audit, before, evidence->step);
    } else {
        emu_audit_no_memory(audit, EMU_CHECK_LEDGER);
    }
    emu_marks_finish(&wrong);
    emu_ledger_evidence_finish(&ledger);
}
