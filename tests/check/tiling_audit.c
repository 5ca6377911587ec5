#include "evidence_maker.h"

#include <criterion/criterion.h>
#include <string.h>

static void expect_message(const struct emu_finding *finding, const char *part)
{
    cr_expect_not_null(strstr(finding->message, part), "'%s' is not in '%s'", part,
                       finding->message);
}

Test(check_tiling, a_rank_on_the_slice_of_another_leaves_a_gap_and_an_overlap)
{
    struct made made;
    made_init(&made, "dp=2,tp=2", 1, EMU_F64);
    made_move_block(&made, 3, MADE_EMBED, (struct emu_block){0, 4, 0, 4});
    made_check(&made);
    const struct emu_finding *finding = made_finding(&made, EMU_CLASS_SHARD_TILING);
    made_culprits(finding, "3");
    cr_expect_str_eq(finding->parameter, "embed.weight");
    cr_assert_eq(finding->axis_count, 1);
    cr_expect_str_eq(finding->axes[0], "tp");
    cr_assert_eq(finding->group_size, 2);
    cr_expect_eq(finding->group[0], 2);
    expect_message(finding, "rows 0 to 3 are on rank 2 and on rank 3");
    expect_message(finding, "rows 4 to 7 are on no rank");
    made_finish(&made);
}

Test(check_tiling, a_gap_between_columns_is_named)
{
    struct made made;
    made_init(&made, "tp=3", 1, EMU_F64);
    made_move_block(&made, 1, MADE_DOWN, (struct emu_block){0, 4, 3, 1});
    emu_check_tiling(&made.evidence, &made.audit);
    const struct emu_finding *finding = made_finding(&made, EMU_CLASS_SHARD_TILING);
    made_culprits(finding, "1");
    expect_message(finding, "column 2 is on no rank");
    made_finish(&made);
}

Test(check_tiling, a_whole_copy_of_a_split_tensor_overlaps)
{
    struct made made;
    made_init(&made, "tp=2", 1, EMU_F64);
    made_move_block(&made, 1, MADE_UP, (struct emu_block){0, 5, 0, 4});
    emu_check_tiling(&made.evidence, &made.audit);
    const struct emu_finding *finding = made_finding(&made, EMU_CLASS_SHARD_TILING);
    made_culprits(finding, "1");
    expect_message(finding, "rows 0 to 2 are on rank 0 and on rank 1");
    made_finish(&made);
}

Test(check_tiling, a_part_of_what_must_be_whole_is_seen)
{
    struct made made;
    made_init(&made, "tp=2", 1, EMU_F64);
    made_move_block(&made, 0, MADE_NORM, (struct emu_block){0, 1, 0, 2});
    emu_check_tiling(&made.evidence, &made.audit);
    const struct emu_finding *finding = made_finding(&made, EMU_CLASS_SHARD_TILING);
    made_culprits(finding, "0");
    expect_message(finding, "rank 0 holds 1 x 2 elements from row 0, column 0 on");
    made_finish(&made);
}

Test(check_tiling, a_block_out_of_the_tensor_is_never_read)
{
    struct made made;
    made_init(&made, "dp=2,tp=2", 0, EMU_F64);
    struct emu_tensor_record *record = &made.records[2]->tensors[MADE_UP];
    record->first_row = UINT64_MAX - 1;
    emu_check_init(&made.evidence, &made.audit);
    emu_check_tiling(&made.evidence, &made.audit);
    emu_check_replicas(&made.evidence, &made.audit);
    made.evidence.step = 1;
    emu_check_oracle(&made.evidence, &made.oracle, &made.audit);
    const struct emu_finding *finding = made_finding(&made, EMU_CLASS_SHARD_TILING);
    made_culprits(finding, "2");
    expect_message(finding, "reach out of the tensor");
    made_finish(&made);
}

Test(check_tiling, the_same_wrong_rule_on_all_replicas_is_one_finding)
{
    struct made made;
    made_init(&made, "dp=2,tp=2", 1, EMU_F64);
    for (uint32_t dp = 0; dp < 2; dp++) {
        made_move_block(&made, 2 * dp, MADE_EMBED, (struct emu_block){0, 3, 0, 4});
        made_move_block(&made, 2 * dp, MADE_UP, (struct emu_block){0, 2, 0, 4});
    }
    made_check(&made);
    const struct emu_finding *finding = made_finding(&made, EMU_CLASS_SHARD_TILING);
    made_culprits(finding, "0,2");
    cr_expect_eq(finding->parameter_count, 2);
    expect_message(finding, "row 3 is on no rank");
    made_finish(&made);
}
