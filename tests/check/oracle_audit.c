#include "evidence_maker.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

static void scale_all(struct made *made, enum emu_state state, double factor)
{
    for (uint32_t rank = 0; rank < made->mesh.world; rank++)
        for (int tensor = 0; tensor < MADE_TENSORS; tensor++)
            made_scale(made, rank, (enum made_tensor)tensor, state, factor);
}

Test(check_oracle, gradients_summed_twice_over_tp_are_explained)
{
    struct made made;
    made_init(&made, "dp=4,tp=2", 1, EMU_F64);
    scale_all(&made, EMU_STATE_GRADIENT, 2.0);
    scale_all(&made, EMU_STATE_MOMENT_0, 1.5);
    made_check(&made);
    const struct emu_finding *finding = made_finding(&made, EMU_CLASS_ORACLE_MISMATCH);
    made_culprits(finding, "0,1,2,3,4,5,6,7");
    cr_expect_str_eq(finding->parameter, "embed.weight");
    cr_expect_eq(finding->parameter_count, MADE_TENSORS);
    cr_expect_str_eq(finding->ratio, "2");
    cr_expect_str_eq(finding->explanation, "2 = size of tp");
    cr_expect_str_eq(finding->group_name, "world");
    cr_expect_not_null(strstr(finding->message, "gradient of embed.weight and 3 more"));
    cr_expect_not_null(strstr(finding->message, "row 0, column 0 of embed.weight on rank 0"));
    cr_assert_geq(finding->consequence_count, 1);
    cr_expect_not_null(strstr(finding->consequences[0], "first moment"));
    cr_expect_gt(made.audit.figures[EMU_CHECK_ORACLE].worst, 1.0);
    made_finish(&made);
}

Test(check_oracle, a_mean_of_means_is_a_fraction)
{
    struct made made;
    made_init(&made, "dp=4,tp=2", 1, EMU_F64);
    scale_all(&made, EMU_STATE_GRADIENT, 1.0 / 3.0);
    emu_check_oracle(&made.evidence, &made.oracle, &made.audit);
    const struct emu_finding *finding = made_finding(&made, EMU_CLASS_ORACLE_MISMATCH);
    cr_expect_str_eq(finding->ratio, "1/3");
    cr_expect_str_eq(finding->explanation, "1/3 = 1 / microbatches");
    made_finish(&made);
}

Test(check_oracle, one_element_is_named_with_row_and_column)
{
    struct made made;
    made_init(&made, "dp=2,tp=2", 1, EMU_F64);
    for (uint32_t rank = 1; rank < 4; rank += 2)
        made_add(&made, rank, MADE_DOWN, EMU_STATE_WEIGHT, 5, 1e-9);
    made_check(&made);
    const struct emu_finding *finding = made_finding(&made, EMU_CLASS_ORACLE_MISMATCH);
    made_culprits(finding, "1,3");
    cr_expect_str_eq(finding->parameter, "layers.0.down.weight");
    cr_expect_not_null(strstr(finding->message, "row 1, column 5"), "%s", finding->message);
    cr_expect_not_null(finding->expected);
    cr_expect_null(finding->explanation, "one element is no factor");
    cr_expect_eq(made.audit.figures[EMU_CHECK_ORACLE].differed, 2);
    made_finish(&made);
}

Test(check_oracle, a_ratio_of_one_element_alone_explains_nothing)
{
    struct made made;
    made_init(&made, "dp=4,tp=2", 1, EMU_F64);
    for (uint32_t rank = 0; rank < 8; rank++) {
        double value = emu_evidence_value(&made.evidence, rank, MADE_NORM, EMU_STATE_GRADIENT, 2);
        made_set(&made, rank, MADE_NORM, EMU_STATE_GRADIENT, 2, 2.0 * value);
    }
    emu_check_oracle(&made.evidence, &made.oracle, &made.audit);
    const struct emu_finding *finding = made_finding(&made, EMU_CLASS_ORACLE_MISMATCH);
    cr_expect_str_eq(finding->ratio, "2");
    cr_expect_null(finding->explanation);
    made_finish(&made);
}

Test(check_oracle, a_difference_within_the_bound_passes_and_is_measured)
{
    struct made made;
    made_init(&made, "dp=2", 1, EMU_F64);
    made.expected[EMU_STATE_GRADIENT][MADE_NORM][2].bound = 0.125;
    for (uint32_t rank = 0; rank < 2; rank++)
        made_add(&made, rank, MADE_NORM, EMU_STATE_GRADIENT, 2, 0.0625);
    made_check(&made);
    cr_expect_eq(made.audit.findings.count, 0);
    cr_expect_eq(made.audit.figures[EMU_CHECK_ORACLE].worst, 0.25);
    cr_expect_eq(made.audit.figures[EMU_CHECK_ORACLE].largest_difference, 0.0625);
    cr_expect_eq(made.audit.figures[EMU_CHECK_ORACLE].largest_bound, 0.125);
    made_finish(&made);
}

Test(check_oracle, a_bound_of_zero_wants_equal_values)
{
    struct made made;
    made_init(&made, "dp=2", 1, EMU_F64);
    made.expected[EMU_STATE_GRADIENT][MADE_NORM][2].bound = 0.0;
    emu_check_oracle(&made.evidence, &made.oracle, &made.audit);
    cr_expect_eq(made.audit.findings.count, 0);
    double value = emu_evidence_value(&made.evidence, 0, MADE_NORM, EMU_STATE_GRADIENT, 2);
    for (uint32_t rank = 0; rank < 2; rank++)
        made_set(&made, rank, MADE_NORM, EMU_STATE_GRADIENT, 2, nextafter(value, 9.0));
    emu_check_oracle(&made.evidence, &made.oracle, &made.audit);
    made_finding(&made, EMU_CLASS_ORACLE_MISMATCH);
    made_finish(&made);
}

Test(check_oracle, an_infinite_bound_excuses_all_but_what_is_not_a_number)
{
    struct made made;
    made_init(&made, "dp=2", 1, EMU_F64);
    made.expected[EMU_STATE_WEIGHT][MADE_UP][0].bound = (double)INFINITY;
    for (uint32_t rank = 0; rank < 2; rank++)
        made_set(&made, rank, MADE_UP, EMU_STATE_WEIGHT, 0, 1e9);
    emu_check_oracle(&made.evidence, &made.oracle, &made.audit);
    cr_expect_eq(made.audit.findings.count, 0);
    for (uint32_t rank = 0; rank < 2; rank++)
        made_set(&made, rank, MADE_UP, EMU_STATE_WEIGHT, 0, (double)NAN);
    emu_check_oracle(&made.evidence, &made.oracle, &made.audit);
    made_finding(&made, EMU_CLASS_ORACLE_MISMATCH);
    made_finish(&made);
}

Test(check_oracle, a_loss_that_is_wrong_alone_is_reported)
{
    struct made made;
    made_init(&made, "dp=2,tp=2", 1, EMU_F64);
    for (uint32_t rank = 0; rank < 4; rank++)
        made.records[rank]->step_loss = 0.25;
    made_check(&made);
    const struct emu_finding *finding = made_finding(&made, EMU_CLASS_ORACLE_MISMATCH);
    cr_expect_null(finding->parameter);
    cr_expect_str_eq(finding->expected, "0.125");
    cr_expect_str_eq(finding->ratio, "2");
    cr_expect_str_eq(finding->explanation, "2 = size of dp, or size of tp");
    made_finish(&made);
}

Test(check_oracle, a_norm_that_is_wrong_alone_is_a_wrong_norm)
{
    struct made made;
    made_init(&made, "dp=2,tp=2", 1, EMU_F64);
    for (uint32_t rank = 0; rank < 4; rank++)
        made.records[rank]->grad_norm = 2.75;
    made_check(&made);
    const struct emu_finding *finding = made_finding(&made, EMU_CLASS_WRONG_NORM);
    cr_expect_str_eq(finding->got, "2.75");
    made_finish(&made);
}

Test(check_oracle, a_divergence_does_not_hide_what_is_wrong_elsewhere)
{
    struct made made;
    made_init(&made, "dp=3", 1, EMU_F64);
    made_add(&made, 1, MADE_UP, EMU_STATE_WEIGHT, 0, 1.0);
    scale_all(&made, EMU_STATE_GRADIENT, 3.0);
    made_check(&made);
    cr_assert_eq(made.audit.findings.count, 2);
    cr_expect_eq(made.audit.findings.items[0].class_id, EMU_CLASS_REPLICA_DIVERGENCE);
    cr_expect_eq(made.audit.findings.items[1].class_id, EMU_CLASS_ORACLE_MISMATCH);
    made_culprits(&made.audit.findings.items[1], "0,1,2");
    made_finish(&made);
}
