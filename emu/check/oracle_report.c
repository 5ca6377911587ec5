#include "check/oracle_report.h"

#include "base/number.h"
#include "check/ratio.h"

#include <inttypes.h>
#include <math.h>

/* Of data, weights at the start, shards, or bytes that went elsewhere: everything computed from
 * them is wrong on every rank. */
#define CAUSES_EVERYWHERE                                                                          \
    (EMU_CLASS_BIT(INIT_MISMATCH) | EMU_CLASS_BIT(SHARD_TILING) | EMU_CLASS_BIT(DATA_OVERLAP) |    \
     EMU_CLASS_BIT(DATA_GAP) | EMU_CLASS_BIT(DATA_DIVERGENCE) | EMU_CLASS_BIT(NONFINITE) |         \
     EMU_CLASS_BIT(WRONG_SCALE) | EMU_CLASS_BIT(TRAFFIC_MISMATCH))

/* Gradients come first in a step; the rest follows from them. */
static const enum emu_state order[] = {EMU_STATE_GRADIENT, EMU_STATE_MOMENT_0, EMU_STATE_MOMENT_1,
                                       EMU_STATE_WEIGHT};

/* The first element of a block that is too far from the oracle's. */
struct place {
    enum emu_state state;
    uint32_t tensor, rank;
    uint64_t local;
};

static struct emu_bounded expected_at(const struct emu_evidence *evidence,
                                      const struct emu_oracle_step *oracle, struct place place)
{
    uint64_t logical = emu_evidence_logical(evidence, place.rank, place.tensor, place.local);
    return emu_oracle_array(oracle, place.state, place.tensor)[logical];
}

static double got_at(const struct emu_evidence *evidence, struct place place)
{
    return emu_evidence_value(evidence, place.rank, place.tensor, place.state, place.local);
}

static uint64_t elements_at(const struct emu_evidence *evidence, struct place place)
{
    return emu_evidence_elements(emu_evidence_tensor(evidence, place.rank, place.tensor));
}

/* Fill rank and local: the first rank of `ranks` with an element too far. false: none. */
static bool find_place(const struct emu_evidence *evidence, const struct emu_oracle_step *oracle,
                       const struct emu_marks *ranks, struct place *place)
{
    for (uint32_t rank = 0; rank < ranks->size; rank++) {
        place->rank = rank;
        if (!ranks->at[rank] || !emu_evidence_in_bounds(evidence, rank, place->tensor))
            continue;
        uint64_t count = elements_at(evidence, *place);
        for (place->local = 0; place->local < count; place->local++)
            if (emu_oracle_excess(got_at(evidence, *place), expected_at(evidence, oracle, *place)) >
                1.0)
                return true;
    }
    return false;
}

/* How far a quotient may be from a fraction: 1e-6, or what the error bound leaves open. */
static double tolerance_of(struct emu_bounded expected)
{
    double open = 2.0 * expected.bound / fabs(expected.value);
    if (!(open > 1e-6))
        return 1e-6;
    return open < 1e-3 ? open : 1e-3;
}

/* Is every element of the block the ratio times the oracle's, as far as the bounds tell? */
static bool ratio_holds(const struct emu_evidence *evidence, const struct emu_oracle_step *oracle,
                        struct place place, struct emu_ratio ratio)
{
    double factor = (double)ratio.top / (double)ratio.bottom;
    uint64_t count = elements_at(evidence, place);
    for (place.local = 0; place.local < count; place.local++) {
        struct emu_bounded expected = expected_at(evidence, oracle, place);
        double room =
            2.0 * expected.bound * fmax(1.0, fabs(factor)) + 1e-6 * fabs(factor * expected.value);
        if (!(fabs(got_at(evidence, place) - factor * expected.value) <= room))
            return false;
    }
    return true;
}

static void set_ratio(struct emu_finding *finding, const struct emu_plan *plan,
                      struct emu_ratio ratio, bool explain)
{
    struct emu_text text = {0};
    emu_ratio_text(&text, ratio);
    emu_finding_set_text(&finding->ratio, "%s", emu_text_get(&text));
    emu_text_finish(&text);
    if (explain)
        emu_ratio_explain(&text, plan, ratio);
    if (text.size > 0)
        emu_finding_set_text(&finding->explanation, "%s", emu_text_get(&text));
    emu_text_finish(&text);
}

static void set_values(struct emu_finding *finding, double got, struct emu_bounded expected)
{
    char number[EMU_NUMBER_MAX];
    emu_finding_set_text(&finding->expected, "%s", emu_number_f64(expected.value, number));
    emu_finding_set_text(&finding->got, "%s", emu_number_f64(got, number));
}

static void set_ranks(struct emu_finding *finding, const struct emu_plan *plan,
                      const struct emu_marks *ranks)
{
    emu_finding_culprits(finding, ranks);
    if (finding->culprit_count == ranks->size)
        emu_finding_group(finding, &plan->roster, 0);
    else
        emu_finding_ranks(finding, finding->culprits, finding->culprit_count);
}

/* The next part of an enumeration. */
static void put_part(struct emu_text *out, const char *part)
{
    emu_text_printf(out, "%s%s", out->size > 0 ? ", " : "", part);
}

static void put_scalars(struct emu_text *out, const struct emu_oracle_verdict *verdict)
{
    const struct {
        const struct emu_marks *ranks;
        const char *word;
    } scalars[] = {{&verdict->tokens, "the number of valid tokens"},
                   {&verdict->loss, "the loss"},
                   {&verdict->norm, "the norm of the gradients"}};
    for (size_t i = 0; i < sizeof scalars / sizeof *scalars; i++)
        if (emu_marks_count(scalars[i].ranks) > 0)
            put_part(out, scalars[i].word);
}

/* "gradient, first moment and weight of w", for each set of tensors once. */
static void put_states(struct emu_text *out, const struct emu_plan *plan,
                       const struct emu_oracle_verdict *verdict, int except)
{
    bool told[EMU_STATE_COUNT] = {0};
    for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
        const struct emu_marks *tensors = &verdict->tensors[order[i]];
        struct emu_text words = {0};
        for (size_t k = i; k < sizeof order / sizeof *order; k++) {
            if ((int)order[k] == except || told[order[k]] ||
                emu_marks_count(&verdict->tensors[order[k]]) == 0 ||
                !emu_marks_equal(tensors, &verdict->tensors[order[k]]))
                continue;
            emu_text_printf(&words, "%s%s", words.size > 0 ? " and " : "the ",
                            emu_state_word(order[k]));
            told[order[k]] = true;
        }
        if (words.size > 0) {
            emu_text_puts(&words, " of ");
            emu_tensors_words(&words, plan, tensors);
            put_part(out, emu_text_get(&words));
        }
        emu_text_finish(&words);
    }
}

/* All that differs beside `except`, in one line. */
static void add_consequence(struct emu_finding *finding, const struct emu_plan *plan,
                            const struct emu_oracle_verdict *verdict, int except)
{
    struct emu_text parts = {0};
    put_states(&parts, plan, verdict, except);
    put_scalars(&parts, verdict);
    if (parts.size > 0)
        emu_finding_consequence(finding, "not the oracle's: %s", emu_text_get(&parts));
    emu_text_finish(&parts);
}

/* The finding about parameters in one state. */
static bool report_state(const struct emu_evidence *evidence, const struct emu_oracle_step *oracle,
                         const struct emu_oracle_verdict *verdict, enum emu_state state,
                         struct emu_audit *audit)
{
    struct emu_finding *finding = emu_findings_add(&audit->findings, EMU_CLASS_ORACLE_MISMATCH);
    if (!finding)
        return false;
    const struct emu_plan *plan = evidence->plan;
    const struct emu_marks *tensors = &verdict->tensors[state];
    struct emu_text words = {0};
    emu_tensors_words(&words, plan, tensors);
    emu_finding_message(finding, "step %" PRIu64 ": the %s of %s is not the oracle's",
                        evidence->step, emu_state_word(state), emu_text_get(&words));
    emu_text_finish(&words);
    emu_finding_parameters(finding, plan, tensors);
    set_ranks(finding, plan, &verdict->ranks[state]);
    struct place place = {.state = state};
    while (place.tensor < tensors->size &&
           !(tensors->at[place.tensor] &&
             find_place(evidence, oracle, &verdict->ranks[state], &place)))
        place.tensor++;
    if (place.tensor < tensors->size) {
        struct emu_bounded expected = expected_at(evidence, oracle, place);
        struct emu_element at = emu_evidence_element(
            emu_evidence_tensor(evidence, place.rank, place.tensor), place.local);
        double got = got_at(evidence, place);
        char bound[EMU_NUMBER_MAX];
        struct emu_text more = {0};
        emu_text_printf(&more,
                        "%s: first at row %" PRIu64 ", column %" PRIu64 " of %s on rank %" PRIu32
                        ", %.3g apart where %s is allowed",
                        finding->message ? finding->message : "", at.row, at.column,
                        plan->tensors[place.tensor].name, place.rank, fabs(got - expected.value),
                        emu_number_f64(2.0 * expected.bound, bound));
        emu_finding_message(finding, "%s", emu_text_get(&more));
        emu_text_finish(&more);
        set_values(finding, got, expected);
        struct emu_ratio ratio;
        if (emu_ratio_near(got / expected.value, tolerance_of(expected), &ratio))
            set_ratio(finding, plan, ratio, ratio_holds(evidence, oracle, place, ratio));
    }
    add_consequence(finding, plan, verdict, (int)state);
    return true;
}

/* Parameters agree, but not what was computed from them. */
static bool report_scalar(const struct emu_evidence *evidence, const struct emu_oracle_step *oracle,
                          const struct emu_oracle_verdict *verdict, struct emu_audit *audit)
{
    bool tokens = emu_marks_count(&verdict->tokens) > 0;
    bool loss = !tokens && emu_marks_count(&verdict->loss) > 0;
    const struct emu_marks *ranks =
        tokens ? &verdict->tokens : (loss ? &verdict->loss : &verdict->norm);
    bool norm = !tokens && !loss;
    struct emu_finding *finding =
        emu_findings_add(&audit->findings, norm ? EMU_CLASS_WRONG_NORM : EMU_CLASS_ORACLE_MISMATCH);
    if (!finding)
        return false;
    uint32_t rank = 0;
    while (!ranks->at[rank])
        rank++;
    const struct emu_step_record *record = evidence->records[rank];
    struct emu_bounded expected = tokens ? (struct emu_bounded){.value = (double)oracle->tokens}
                                  : loss ? oracle->loss
                                         : oracle->grad_norm;
    double got =
        tokens ? (double)record->step_tokens : (loss ? record->step_loss : record->grad_norm);
    emu_finding_message(
        finding, "step %" PRIu64 ": the %s is not the oracle's, though all parameters are",
        evidence->step,
        tokens ? "number of valid tokens" : (loss ? "loss" : "norm of the gradients"));
    set_values(finding, got, expected);
    struct emu_ratio ratio;
    if (emu_ratio_near(got / expected.value, tolerance_of(expected), &ratio))
        set_ratio(finding, evidence->plan, ratio, true);
    set_ranks(finding, evidence->plan, ranks);
    return true;
}

/* All ranks with a parameter that differs. */
static void collect_ranks(const struct emu_oracle_verdict *verdict, struct emu_marks *ranks)
{
    for (int state = 0; state < EMU_STATE_COUNT; state++)
        emu_marks_add(ranks, &verdict->ranks[state]);
}

/* Tied replicas: those that the oracle agrees with are right. true: the tie is decided. */
static bool decide_tie(struct emu_finding *finding, const struct emu_marks *wrong)
{
    size_t members = 0;
    for (size_t i = 0; i < finding->group_size; i++)
        members += wrong->at[finding->group[i]];
    if (!finding->undecided || members == 0 || members == finding->group_size)
        return false;
    for (size_t i = 0; i < finding->group_size; i++)
        if (wrong->at[finding->group[i]])
            emu_finding_culprit(finding, finding->group[i]);
    finding->undecided = false;
    emu_finding_consequence(finding, "the oracle agrees with the other ranks of the group");
    return true;
}

/* Does this divergence of replicas account for all that is wrong? */
static bool accounts_for(const struct emu_finding *finding, const struct emu_marks *wrong)
{
    const uint32_t *ranks = finding->undecided ? finding->group : finding->culprits;
    size_t count = finding->undecided ? finding->group_size : finding->culprit_count;
    size_t found = 0;
    for (size_t i = 0; i < count; i++)
        found += wrong->at[ranks[i]];
    return found == emu_marks_count(wrong);
}

/* A fault found before this one that explains the difference, or NULL. */
static struct emu_finding *find_cause(struct emu_audit *audit, const struct emu_marks *wrong)
{
    struct emu_finding *cause = emu_audit_fault(audit, CAUSES_EVERYWHERE);
    for (size_t i = 0; i < audit->findings.count && !cause; i++) {
        struct emu_finding *finding = &audit->findings.items[i];
        if (finding->note || finding->class_id != EMU_CLASS_REPLICA_DIVERGENCE)
            continue;
        decide_tie(finding, wrong);
        if (accounts_for(finding, wrong))
            cause = finding;
    }
    return cause;
}

bool emu_oracle_report(const struct emu_evidence *evidence, const struct emu_oracle_step *oracle,
                       struct emu_oracle_verdict *verdict, struct emu_audit *audit)
{
    struct emu_marks wrong;
    if (!emu_marks_init(&wrong, emu_evidence_world(evidence)))
        return false;
    collect_ranks(verdict, &wrong);
    struct emu_finding *cause = find_cause(audit, &wrong);
    emu_marks_finish(&wrong);
    if (cause) {
        add_consequence(cause, evidence->plan, verdict, -1);
        return true;
    }
    for (size_t i = 0; i < sizeof order / sizeof *order; i++)
        if (emu_marks_count(&verdict->tensors[order[i]]) > 0)
            return report_state(evidence, oracle, verdict, order[i], audit);
    return report_scalar(evidence, oracle, verdict, audit);
}
