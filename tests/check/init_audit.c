#include "evidence_maker.h"

#include <criterion/criterion.h>
#include <string.h>

Test(check_init, a_wrong_element_is_named_with_its_rank_and_place)
{
    struct made made;
    made_init(&made, "dp=2,tp=2", 0, EMU_F64);
    made_add(&made, 3, MADE_UP, EMU_STATE_WEIGHT, 5, 1.0);
    made_check(&made);
    const struct emu_finding *finding = made_finding(&made, EMU_CLASS_INIT_MISMATCH);
    made_culprits(finding, "3");
    cr_expect_str_eq(finding->parameter, "layers.0.up.weight");
    cr_expect_eq(finding->parameter_count, 1);
    /* tp rank 1 holds rows 3 and 4: its element 5 is row 4, column 1. */
    cr_expect_not_null(strstr(finding->message, "1 of 8 elements differ, first at row 4, column 1"),
                       "%s", finding->message);
    cr_expect_eq(made.audit.figures[EMU_CHECK_INIT].status, EMU_CHECK_FAIL);
    cr_expect_eq(made.audit.figures[EMU_CHECK_INIT].differed, 1);
    made_finish(&made);
}

Test(check_init, another_seed_on_one_rank_is_one_finding_with_all_parameters)
{
    struct made made;
    made_init(&made, "dp=2,tp=2", 0, EMU_F32);
    for (int tensor = 0; tensor < MADE_TENSORS; tensor++)
        made_scale(&made, 1, (enum made_tensor)tensor, EMU_STATE_WEIGHT, 3.0);
    made_check(&made);
    const struct emu_finding *finding = made_finding(&made, EMU_CLASS_INIT_MISMATCH);
    made_culprits(finding, "1");
    cr_expect_eq(finding->parameter_count, MADE_TENSORS);
    cr_expect_str_eq(finding->parameters[3], "layers.0.down.weight");
    cr_expect_gt(finding->consequence_count, 0, "the replicas differ in consequence");
    made_finish(&made);
}

Test(check_init, equal_copies_of_wrong_values_are_seen)
{
    struct made made;
    made_init(&made, "dp=2,tp=2", 0, EMU_F64);
    for (uint32_t rank = 0; rank < 4; rank++)
        made_set(&made, rank, MADE_NORM, EMU_STATE_WEIGHT, 2, 0.25);
    made_check(&made);
    const struct emu_finding *finding = made_finding(&made, EMU_CLASS_INIT_MISMATCH);
    made_culprits(finding, "0,1,2,3");
    cr_expect_str_eq(finding->got, "0.25");
    made_finish(&made);
}

Test(check_init, independent_causes_are_two_findings)
{
    struct made made;
    made_init(&made, "dp=2,tp=2", 0, EMU_F64);
    made_add(&made, 0, MADE_UP, EMU_STATE_WEIGHT, 0, 1.0);
    made_add(&made, 3, MADE_DOWN, EMU_STATE_WEIGHT, 0, 1.0);
    emu_check_init(&made.evidence, &made.audit);
    cr_assert_eq(made.audit.findings.count, 2);
    made_culprits(&made.audit.findings.items[0], "0");
    made_culprits(&made.audit.findings.items[1], "3");
    made_finish(&made);
}

Test(check_init, a_negative_zero_is_not_a_zero)
{
    struct made made;
    made_init(&made, "dp=2", 0, EMU_F64);
    made.tensors[MADE_NORM].init = EMU_INIT_ZEROS;
    for (uint32_t rank = 0; rank < 2; rank++)
        for (uint64_t i = 0; i < 4; i++)
            made_set(&made, rank, MADE_NORM, EMU_STATE_WEIGHT, i, 0.0);
    emu_check_init(&made.evidence, &made.audit);
    cr_expect_eq(made.audit.findings.count, 0);
    made_set(&made, 1, MADE_NORM, EMU_STATE_WEIGHT, 3, -0.0);
    emu_check_init(&made.evidence, &made.audit);
    made_culprits(made_finding(&made, EMU_CLASS_INIT_MISMATCH), "1");
    made_finish(&made);
}
