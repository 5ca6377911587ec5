#include "check/audit_parts.h"
#include "check/evidence.h"
#include "check/oracle_report.h"

#include <math.h>
#include <stdlib.h>

const struct emu_bounded *emu_oracle_array(const struct emu_oracle_step *oracle,
                                           enum emu_state state, uint32_t tensor)
{
    if (state == EMU_STATE_WEIGHT)
        return oracle->weight[tensor];
    if (state == EMU_STATE_GRADIENT)
        return oracle->gradient[tensor];
    return oracle->moment[state - EMU_STATE_MOMENT_0][tensor];
}

double emu_oracle_excess(double value, struct emu_bounded expected)
{
    double difference = fabs(value - expected.value);
    double allowed = 2.0 * expected.bound;
    if (isnan(difference) || isnan(allowed))
        return INFINITY;
    if (difference == 0.0 || isinf(allowed))
        return isinf(value) && !isinf(expected.value) ? INFINITY : 0.0;
    return difference / allowed;
}

/* One value of the mesh against the oracle's; the figures keep the largest of everything. */
static bool value_agrees(struct emu_check_figures *figures, double value,
                         struct emu_bounded expected)
{
    double excess = emu_oracle_excess(value, expected);
    double difference = fabs(value - expected.value);
    if (excess > figures->worst)
        figures->worst = excess;
    if (difference > figures->largest_difference)
        figures->largest_difference = difference;
    if (expected.bound > figures->largest_bound)
        figures->largest_bound = expected.bound;
    figures->examined++;
    figures->loose += expected.bound > 0.0 && !(2.0 * expected.bound <= fabs(expected.value));
    return excess <= 1.0;
}

struct look {
    const struct emu_evidence *evidence;
    const struct emu_oracle_step *oracle;
    struct emu_audit *audit;
    struct emu_oracle_verdict verdict;
    uint64_t compared, differed;
};

/* Elements of the rank's block that are too far from the oracle's. */
static uint64_t compare_block(struct look *look, enum emu_state state, uint32_t tensor,
                              uint32_t rank)
{
    const struct emu_tensor_record *record = emu_evidence_tensor(look->evidence, rank, tensor);
    const struct emu_bounded *expected = emu_oracle_array(look->oracle, state, tensor);
    struct emu_check_figures *figures = &look->audit->figures[EMU_CHECK_ORACLE];
    uint64_t pitch = look->evidence->plan->tensors[tensor].columns, wrong = 0;
    for (uint64_t row = 0; row < record->rows; row++)
        for (uint64_t column = 0; column < record->columns; column++) {
            uint64_t logical = (record->first_row + row) * pitch + record->first_column + column;
            double value = emu_evidence_value(look->evidence, rank, tensor, state,
                                              row * record->columns + column);
            wrong += !value_agrees(figures, value, expected[logical]);
        }
    return wrong;
}

/* Blocks with equal hashes are compared once. wrong: of the references, by rank. */
static void compare_tensor(struct look *look, enum emu_state state, uint32_t tensor,
                           uint64_t *wrong, bool references)
{
    const struct emu_evidence *evidence = look->evidence;
    for (uint32_t rank = 0; rank < emu_evidence_world(evidence); rank++) {
        uint32_t reference = emu_evidence_holder(evidence, rank, tensor);
        if ((rank == reference) != references || !emu_evidence_holds(evidence, rank, tensor) ||
            !emu_evidence_in_bounds(evidence, rank, tensor))
            continue;
        const struct emu_tensor_record *mine = emu_evidence_tensor(evidence, rank, tensor);
        const struct emu_tensor_record *other = emu_evidence_tensor(evidence, reference, tensor);
        bool copy = !references && emu_evidence_same_block(mine, other) &&
                    emu_evidence_same(evidence, rank, reference, tensor, state);
        wrong[rank] = copy ? wrong[reference] : compare_block(look, state, tensor, rank);
        look->compared += emu_evidence_elements(mine);
        look->differed += wrong[rank];
        if (wrong[rank] > 0) {
            look->verdict.tensors[state].at[tensor] = true;
            look->verdict.ranks[state].at[rank] = true;
        }
    }
}

/* false: memory. */
static bool compare_tensors(struct look *look)
{
    const struct emu_plan *plan = look->evidence->plan;
    uint64_t *wrong = calloc(emu_evidence_world(look->evidence), sizeof *wrong);
    for (int state = 0; wrong && state < EMU_STATE_COUNT; state++) {
        if (!emu_state_is_kept(plan, (enum emu_state)state))
            continue;
        for (uint32_t tensor = 0; tensor < plan->tensor_count; tensor++) {
            compare_tensor(look, (enum emu_state)state, tensor, wrong, true);
            compare_tensor(look, (enum emu_state)state, tensor, wrong, false);
        }
    }
    free(wrong);
    return wrong != NULL;
}

/* Loss, norm and tokens, as each rank computed them. */
static void compare_scalars(struct look *look)
{
    struct emu_check_figures *figures = &look->audit->figures[EMU_CHECK_ORACLE];
    struct emu_oracle_verdict *verdict = &look->verdict;
    for (uint32_t rank = 0; rank < emu_evidence_world(look->evidence); rank++) {
        const struct emu_step_record *record = look->evidence->records[rank];
        verdict->loss.at[rank] = !value_agrees(figures, record->step_loss, look->oracle->loss);
        verdict->norm.at[rank] = !value_agrees(figures, record->grad_norm, look->oracle->grad_norm);
        verdict->tokens.at[rank] = record->step_tokens != look->oracle->tokens;
        look->differed += (uint64_t)verdict->loss.at[rank] + (uint64_t)verdict->norm.at[rank] +
                          (uint64_t)verdict->tokens.at[rank];
        look->compared += 3;
    }
}

static bool verdict_init(struct emu_oracle_verdict *verdict, const struct emu_evidence *evidence)
{
    uint32_t world = emu_evidence_world(evidence);
    bool room = emu_marks_init(&verdict->loss, world) && emu_marks_init(&verdict->norm, world) &&
                emu_marks_init(&verdict->tokens, world);
    for (int state = 0; state < EMU_STATE_COUNT && room; state++)
        room = emu_marks_init(&verdict->ranks[state], world) &&
               emu_marks_init(&verdict->tensors[state], evidence->plan->tensor_count);
    return room;
}

static void verdict_finish(struct emu_oracle_verdict *verdict)
{
    emu_marks_finish(&verdict->loss);
    emu_marks_finish(&verdict->norm);
    emu_marks_finish(&verdict->tokens);
    for (int state = 0; state < EMU_STATE_COUNT; state++) {
        emu_marks_finish(&verdict->ranks[state]);
        emu_marks_finish(&verdict->tensors[state]);
    }
}

void emu_check_oracle(const struct emu_evidence *evidence, const struct emu_oracle_step *oracle,
                      struct emu_audit *audit)
{
    size_t before = audit->findings.count;
    struct look look = {.evidence = evidence, .oracle = oracle, .audit = audit};
    bool done = verdict_init(&look.verdict, evidence) && compare_tensors(&look);
    if (done) {
        compare_scalars(&look);
        if (look.differed > 0)
            done = emu_oracle_report(evidence, oracle, &look.verdict, audit);
    }
    if (done)
        emu_audit_count(audit, EMU_CHECK_ORACLE, look.compared, look.differed);
    else
        emu_audit_no_memory(audit, EMU_CHECK_ORACLE);
    emu_audit_fold(audit, before, evidence->step);
    verdict_finish(&look.verdict);
}
