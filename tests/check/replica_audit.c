#include "evidence_maker.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

static void expect_message(const struct emu_finding *finding, const char *part)
{
    cr_expect_not_null(strstr(finding->message, part), "'%s' is not in '%s'", part,
                       finding->message);
}

Test(check_replicas, of_three_replicas_the_odd_one_is_named_with_the_first_element)
{
    struct made made;
    made_init(&made, "dp=3,tp=2", 4, EMU_F64);
    made_set(&made, 3, MADE_DOWN, EMU_STATE_WEIGHT, 4, 5.5); /* dp=1,tp=1: columns 3 to 5 */
    emu_check_replicas(&made.evidence, &made.audit);
    const struct emu_finding *finding = made_finding(&made, EMU_CLASS_REPLICA_DIVERGENCE);
    made_culprits(finding, "3");
    cr_expect_str_eq(finding->parameter, "layers.0.down.weight");
    cr_expect_str_eq(finding->got, "5.5");
    cr_expect_str_eq(finding->group_name, "dp");
    cr_assert_eq(finding->group_size, 3);
    cr_expect_eq(finding->group[1], 3);
    cr_assert_eq(finding->axis_count, 1);
    cr_expect_str_eq(finding->axes[0], "dp");
    expect_message(finding, "first at row 1, column 4");
    expect_message(finding, "5.5 on rank 3");
    expect_message(finding, "on ranks 1, 5");
    cr_expect_eq(finding->member_count, 3);
    cr_expect_str_eq(finding->members[1].state, "holds 5.5");
    made_finish(&made);
}

Test(check_replicas, of_two_replicas_nobody_knows_the_odd_one)
{
    struct made made;
    made_init(&made, "dp=2,tp=2", 1, EMU_F32);
    made_set(&made, 2, MADE_EMBED, EMU_STATE_MOMENT_1, 0, 5.5);
    emu_check_replicas(&made.evidence, &made.audit);
    const struct emu_finding *finding = made_finding(&made, EMU_CLASS_REPLICA_DIVERGENCE);
    made_culprits(finding, "");
    expect_message(finding, "second moment of embed.weight");
    expect_message(finding, "5.5 on rank 2");
    cr_expect_null(finding->expected);
    made_finish(&made);
}

Test(check_replicas, the_oracle_decides_between_two)
{
    struct made made;
    made_init(&made, "dp=2,tp=2", 1, EMU_F64);
    made_set(&made, 2, MADE_EMBED, EMU_STATE_WEIGHT, 0, 5.5);
    made_check(&made);
    made_culprits(made_finding(&made, EMU_CLASS_REPLICA_DIVERGENCE), "2");
    made_finish(&made);
}

Test(check_replicas, a_parameter_on_more_ranks_decides_between_two)
{
    struct made made;
    made_init(&made, "dp=2,tp=2", 1, EMU_F64);
    made_add(&made, 3, MADE_EMBED, EMU_STATE_WEIGHT, 0, 1.0);
    made_add(&made, 3, MADE_NORM, EMU_STATE_WEIGHT, 0, 1.0);
    made_add(&made, 3, MADE_DOWN, EMU_STATE_WEIGHT, 0, 1.0);
    emu_check_replicas(&made.evidence, &made.audit);
    const struct emu_finding *finding = made_finding(&made, EMU_CLASS_REPLICA_DIVERGENCE);
    made_culprits(finding, "3");
    cr_expect_eq(finding->parameter_count, 3);
    cr_expect_str_eq(finding->parameters[0], "embed.weight");
    cr_expect_str_eq(finding->parameters[2], "layers.0.down.weight");
    made_finish(&made);
}

Test(check_replicas, what_follows_from_a_gradient_is_a_consequence)
{
    struct made made;
    made_init(&made, "dp=4,tp=2", 1, EMU_F64);
    for (int state = 0; state < EMU_STATE_COUNT; state++)
        made_add(&made, 5, MADE_UP, (enum emu_state)state, 2, 0.5);
    for (uint32_t rank = 4; rank < 6; rank++)
        made.records[rank]->grad_norm += 1.0;
    made_check(&made);
    const struct emu_finding *finding = made_finding(&made, EMU_CLASS_REPLICA_DIVERGENCE);
    made_culprits(finding, "5");
    expect_message(finding, "bits for the weight of layers.0.up.weight");
    cr_assert_geq(finding->consequence_count, 4);
    cr_expect_str_eq(finding->consequences[0],
                     "on the same ranks the gradient of layers.0.up.weight differs");
    made_finish(&made);
}

Test(check_replicas, gradients_that_were_not_reduced_at_all_are_one_finding)
{
    struct made made;
    made_init(&made, "dp=2,tp=2", 1, EMU_F64);
    for (uint32_t rank = 0; rank < 4; rank++)
        for (int tensor = 0; tensor < MADE_TENSORS; tensor++)
            made_scale(&made, rank, (enum made_tensor)tensor, EMU_STATE_GRADIENT,
                       rank < 2 ? 0.25 : 0.75);
    made_check(&made);
    const struct emu_finding *finding = made_finding(&made, EMU_CLASS_REPLICA_DIVERGENCE);
    made_culprits(finding, "");
    cr_expect_eq(finding->parameter_count, MADE_TENSORS);
    cr_expect_eq(finding->group_size, 4);
    cr_assert_eq(finding->axis_count, 1);
    cr_expect_str_eq(finding->axes[0], "dp");
    made_finish(&made);
}

Test(check_replicas, a_norm_that_differs_between_tp_ranks_names_tp)
{
    struct made made;
    made_init(&made, "dp=2,tp=2", 1, EMU_F64);
    for (uint32_t rank = 1; rank < 4; rank += 2)
        made_scale(&made, rank, MADE_NORM, EMU_STATE_GRADIENT, 2.0);
    emu_check_replicas(&made.evidence, &made.audit);
    const struct emu_finding *finding = made_finding(&made, EMU_CLASS_REPLICA_DIVERGENCE);
    made_culprits(finding, "");
    cr_assert_eq(finding->axis_count, 1);
    cr_expect_str_eq(finding->axes[0], "tp");
    made_finish(&made);
}

Test(check_replicas, independent_causes_are_two_findings)
{
    struct made made;
    made_init(&made, "dp=4,tp=2", 1, EMU_F64);
    made_add(&made, 2, MADE_EMBED, EMU_STATE_WEIGHT, 0, 1.0);
    made_add(&made, 7, MADE_DOWN, EMU_STATE_MOMENT_0, 0, 1.0);
    emu_check_replicas(&made.evidence, &made.audit);
    cr_assert_eq(made.audit.findings.count, 2);
    made_culprits(&made.audit.findings.items[0], "2");
    made_culprits(&made.audit.findings.items[1], "7");
    made_finish(&made);
}

Test(check_replicas, a_replica_that_is_wrong_on_all_its_tp_ranks_is_one_finding)
{
    struct made made;
    made_init(&made, "dp=3,tp=2", 1, EMU_F64);
    for (uint32_t rank = 2; rank < 4; rank++)
        for (int tensor = 0; tensor < MADE_TENSORS; tensor++)
            made_add(&made, rank, (enum made_tensor)tensor, EMU_STATE_WEIGHT, 1, 1.0);
    emu_check_replicas(&made.evidence, &made.audit);
    const struct emu_finding *finding = made_finding(&made, EMU_CLASS_REPLICA_DIVERGENCE);
    made_culprits(finding, "2,3");
    cr_expect_eq(finding->parameter_count, MADE_TENSORS);
    made_finish(&made);
}

Test(check_replicas, a_flipped_lowest_bit_is_seen)
{
    struct made made;
    made_init(&made, "copy=3", 1, EMU_F64);
    double value = emu_evidence_value(&made.evidence, 1, MADE_UP, EMU_STATE_WEIGHT, 7);
    made_set(&made, 1, MADE_UP, EMU_STATE_WEIGHT, 7, nextafter(value, 9.0));
    emu_check_replicas(&made.evidence, &made.audit);
    made_culprits(made_finding(&made, EMU_CLASS_REPLICA_DIVERGENCE), "1");
    made_finish(&made);
}

Test(check_replicas, a_loss_of_its_own_names_the_odd_rank)
{
    struct made made;
    made_init(&made, "dp=2,tp=2", 1, EMU_F64);
    made.records[2]->step_loss = 0.5;
    emu_check_replicas(&made.evidence, &made.audit);
    const struct emu_finding *finding = made_finding(&made, EMU_CLASS_REPLICA_DIVERGENCE);
    made_culprits(finding, "2");
    expect_message(finding, "loss of the step");
    cr_expect_str_eq(finding->expected, "0.125");
    cr_expect_str_eq(finding->got, "0.5");
    cr_expect_null(finding->parameter);
    made_finish(&made);
}

Test(check_replicas, what_is_not_finite_is_named_where_it_arose)
{
    struct made made;
    made_init(&made, "dp=2,tp=2", 2, EMU_F64);
    for (uint32_t rank = 0; rank < 4; rank++) {
        made_set(&made, rank, MADE_UP, EMU_STATE_GRADIENT, 1, (double)NAN);
        made_set(&made, rank, MADE_UP, EMU_STATE_WEIGHT, 1, (double)NAN);
        made.records[rank]->tensors[MADE_UP].finite = false;
        made.records[rank]->step_loss = (double)NAN;
    }
    made.records[2]->loss_sum = made.records[3]->loss_sum = (double)NAN;
    made_check(&made);
    const struct emu_finding *finding = made_finding(&made, EMU_CLASS_NONFINITE);
    made_culprits(finding, "2,3");
    cr_expect_str_eq(finding->parameter, "layers.0.up.weight");
    cr_expect_str_eq(finding->got, "nan");
    expect_message(finding, "gradient of layers.0.up.weight is nan at row 0, column 1");
    made_finish(&made);
}

Test(check_replicas, an_infinity_on_one_rank_is_no_divergence)
{
    struct made made;
    made_init(&made, "dp=3", 2, EMU_F32);
    made_set(&made, 1, MADE_NORM, EMU_STATE_WEIGHT, 3, (double)INFINITY);
    made.records[1]->tensors[MADE_NORM].finite = false;
    made_check(&made);
    const struct emu_finding *finding = made_finding(&made, EMU_CLASS_NONFINITE);
    made_culprits(finding, "1");
    cr_expect_str_eq(finding->got, "inf");
    made_finish(&made);
}
