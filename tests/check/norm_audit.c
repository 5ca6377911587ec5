#include "evidence_maker.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#define SQUARES_AT 32 /* elements behind those of the smallest tensor's second moment */

static double squares_of(const struct made *made, uint32_t rank, uint32_t tensor)
{
    double sum = 0.0;
    const struct emu_tensor_record *record = &made->records[rank]->tensors[tensor];
    for (uint64_t e = 0; e < emu_evidence_elements(record); e++) {
        double value = emu_evidence_value(&made->evidence, rank, tensor, EMU_STATE_GRADIENT, e);
        sum += value * value;
    }
    return sum;
}

/* A tensor that every tp rank holds is counted at tp 0. */
static bool counts(const struct made *made, uint32_t rank, uint32_t tensor)
{
    return tensor != MADE_NORM || emu_mesh_coord(&made->mesh, rank, "tp") == 0;
}

static double *squares_at(struct made *made, uint32_t rank)
{
    struct emu_step_record *record = made->records[rank];
    record->squares = record->tensors[MADE_NORM].moment[1] + SQUARES_AT * (uint64_t)sizeof(double);
    return (double *)(void *)(made->arenas[rank] + record->squares);
}

/* A step on dp=2,tp=2 whose norms are right; returns the norm. */
static double set_up(struct made *made)
{
    double sum = 0.0;
    made_init(made, "dp=2,tp=2", 1, EMU_F64);
    made->plan.pp = 1;
    made->plan.norm_family = made->plan.tp_family;
    made->plan.shard_family = UINT32_MAX;
    made->plan.recipe.norm = EMU_COUNT_UNIQUE;
    for (uint32_t rank = 0; rank < made->mesh.world; rank++)
        for (uint32_t i = 0; i < MADE_TENSORS; i++) {
            struct emu_tensor_record *record = &made->records[rank]->tensors[i];
            record->gradient_part = (struct emu_slice){0, emu_evidence_elements(record)};
            double squares = counts(made, rank, i) ? squares_of(made, rank, i) : 0.0;
            squares_at(made, rank)[i] = squares;
            sum += squares / 2; /* dp holds all of it twice */
        }
    for (uint32_t rank = 0; rank < made->mesh.world; rank++)
        made->records[rank]->grad_norm = sqrt(sum);
    return sqrt(sum);
}

static const struct emu_finding *check(struct made *made)
{
    cr_assert(emu_check_norm(&made->evidence, &made->audit));
    return made_finding(made, EMU_CLASS_WRONG_NORM);
}

Test(check_norm, each_unique_parameter_once_is_right)
{
    struct made made;
    set_up(&made);
    cr_expect_not(emu_check_norm(&made.evidence, &made.audit));
    cr_expect_eq(made.audit.findings.count, 0);
    made_finish(&made);
}

Test(check_norm, a_sum_that_was_left_out_is_named_by_its_axis)
{
    struct made made;
    set_up(&made);
    for (uint32_t rank = 0; rank < made.mesh.world; rank++) {
        double sum = 0.0;
        for (uint32_t i = 0; i < MADE_TENSORS; i++)
            sum += counts(&made, rank, i) ? squares_of(&made, rank, i) : 0.0;
        made.records[rank]->grad_norm = sqrt(sum);
    }
    const struct emu_finding *finding = check(&made);
    cr_assert_eq(finding->axis_count, 1);
    cr_expect_str_eq(finding->axes[0], "tp");
    cr_expect(strstr(finding->explanation, "not summed over tp"), "%s", finding->explanation);
    made_finish(&made);
}

Test(check_norm, an_average_is_told_from_a_sum)
{
    struct made made;
    double norm = set_up(&made);
    for (uint32_t rank = 0; rank < made.mesh.world; rank++)
        made.records[rank]->grad_norm = norm / sqrt(2.0);
    const struct emu_finding *finding = check(&made);
    cr_assert_eq(finding->axis_count, 1);
    cr_expect_str_eq(finding->axes[0], "tp");
    cr_expect(strstr(finding->explanation, "averaged"), "%s", finding->explanation);
    made_finish(&made);
}

Test(check_norm, other_squares_than_a_rank_holds_are_named_by_parameter_and_rank)
{
    struct made made;
    double norm = set_up(&made);
    squares_at(&made, 2)[MADE_UP] += 1.0;
    for (uint32_t rank = 2; rank < 4; rank++)
        made.records[rank]->grad_norm = sqrt(norm * norm + 1.0);
    const struct emu_finding *finding = check(&made);
    made_culprits(finding, "2,3");
    cr_expect_str_eq(finding->parameter, "layers.0.up.weight");
    cr_expect_eq(finding->axis_count, 0);
    cr_expect(strstr(finding->explanation, "rank 2 counted"), "%s", finding->explanation);
    made_finish(&made);
}
