#include "evidence_maker.h"

#include <criterion/criterion.h>
#include <string.h>

static void read_range(struct made *made, uint32_t rank, uint64_t first, uint64_t count)
{
    made->records[rank]->first_sequence = first;
    made->records[rank]->sequences = count;
}

static void expect_axis(const struct emu_finding *finding, const char *axis)
{
    cr_assert_eq(finding->axis_count, 1);
    cr_expect_str_eq(finding->axes[0], axis);
}

Test(check_data, tp_peers_with_other_sequences_diverge)
{
    struct made made;
    made_init(&made, "dp=2,tp=2", 1, EMU_F64);
    read_range(&made, 3, 0, 4);
    made_check(&made);
    const struct emu_finding *finding = made_finding(&made, EMU_CLASS_DATA_DIVERGENCE);
    made_culprits(finding, "3");
    expect_axis(finding, "tp");
    cr_assert_eq(finding->group_size, 2);
    cr_expect_eq(finding->group[1], 3);
    cr_expect_not_null(strstr(finding->members[1].state, "sequences 0 to 3"));
    cr_expect_eq(made.audit.figures[EMU_CHECK_DATA].status, EMU_CHECK_FAIL);
    made_finish(&made);
}

Test(check_data, other_bytes_behind_the_same_numbers_are_a_tie_of_two)
{
    struct made made;
    made_init(&made, "dp=2,tp=2", 1, EMU_F64);
    made.records[1]->batch_hash.low ^= 1;
    emu_check_data(&made.evidence, &made.audit);
    const struct emu_finding *finding = made_finding(&made, EMU_CLASS_DATA_DIVERGENCE);
    made_culprits(finding, "");
    expect_axis(finding, "tp");
    made_finish(&made);
}

Test(check_data, of_three_the_one_with_other_bytes_is_odd)
{
    struct made made;
    made_init(&made, "dp=2,tp=3", 1, EMU_F64);
    made.records[4]->batch_hash.high ^= 1;
    emu_check_data(&made.evidence, &made.audit);
    made_culprits(made_finding(&made, EMU_CLASS_DATA_DIVERGENCE), "4");
    made_finish(&made);
}

Test(check_data, ranks_on_a_transposed_mesh_are_one_finding)
{
    struct made made;
    made_init(&made, "dp=2,tp=2", 2, EMU_F64);
    read_range(&made, 1, 12, 4);
    read_range(&made, 2, 8, 4);
    emu_check_data(&made.evidence, &made.audit);
    const struct emu_finding *finding = made_finding(&made, EMU_CLASS_DATA_DIVERGENCE);
    made_culprits(finding, "1,2");
    made_finish(&made);
}

Test(check_data, two_replicas_on_the_same_sequences_overlap)
{
    struct made made;
    made_init(&made, "dp=2,tp=2", 3, EMU_F64);
    for (uint32_t rank = 2; rank < 4; rank++) {
        read_range(&made, rank, 16, 4);
        made.records[rank]->batch_hash = made.records[0]->batch_hash;
    }
    made_check(&made);
    const struct emu_finding *finding = made_finding(&made, EMU_CLASS_DATA_OVERLAP);
    made_culprits(finding, "2,3");
    expect_axis(finding, "dp");
    cr_expect_not_null(strstr(finding->message, "sequences 16 to 19 are read by dp=0 and by dp=1"),
                       "%s", finding->message);
    cr_assert_geq(finding->consequence_count, 1);
    cr_expect_str_eq(finding->consequences[0], "sequences 20 to 23 are read by nobody");
    made_finish(&made);
}

Test(check_data, a_sequence_that_nobody_reads_is_a_gap)
{
    struct made made;
    made_init(&made, "dp=4", 1, EMU_F64);
    read_range(&made, 1, 3, 1);
    made_check(&made);
    const struct emu_finding *finding = made_finding(&made, EMU_CLASS_DATA_GAP);
    made_culprits(finding, "1");
    cr_expect_not_null(strstr(finding->message, "sequence 2 is read by nobody"), "%s",
                       finding->message);
    made_finish(&made);
}

Test(check_data, sequences_of_another_step_are_seen)
{
    struct made made;
    made_init(&made, "dp=2", 5, EMU_F64);
    read_range(&made, 0, 0, 4);
    emu_check_data(&made.evidence, &made.audit);
    const struct emu_finding *finding = made_finding(&made, EMU_CLASS_DATA_GAP);
    made_culprits(finding, "0");
    made_finish(&made);
}

Test(check_data, a_replica_without_sequences_is_no_gap)
{
    struct made made;
    made_init(&made, "dp=5", 1, EMU_F64); /* chunks of 2, 2, 2, 2, 0 */
    made.records[4]->first_sequence = 77;
    made_check(&made);
    cr_expect_eq(made.audit.findings.count, 0);
    made_finish(&made);
}

Test(check_data, a_token_count_that_was_not_reduced_is_a_wrong_scale)
{
    struct made made;
    made_init(&made, "dp=2,tp=2", 1, EMU_F64);
    for (uint32_t rank = 0; rank < 4; rank++)
        made.records[rank]->step_tokens = 40;
    made_check(&made);
    const struct emu_finding *finding = made_finding(&made, EMU_CLASS_WRONG_SCALE);
    made_culprits(finding, "0,1,2,3");
    cr_expect_str_eq(finding->expected, "1/80");
    cr_expect_str_eq(finding->got, "1/40");
    made_finish(&made);
}
