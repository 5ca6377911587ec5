#include "evidence_maker.h"

#include <criterion/criterion.h>
#include <string.h>

/* Optimizer state divided over dp; every rank keeps its own chunk. */
static void divide(struct made *made)
{
    struct emu_plan *plan = &made->plan;
    cr_assert_eq(emu_roster_find(&plan->roster, "dp", &plan->shard_family), EMU_OK);
    plan->shard = EMU_ZERO1;
    plan->shard_axes = plan->roster.families[plan->shard_family].axes;
    plan->shard_parts = plan->norm_parts = plan->dp;
    for (uint32_t rank = 0; rank < made->mesh.world; rank++)
        for (uint32_t i = 0; i < MADE_TENSORS; i++) {
            struct emu_tensor_record *record = &made->records[rank]->tensors[i];
            record->moment_part = emu_plan_chunk(plan, emu_evidence_elements(record),
                                                 emu_plan_shard_index(plan, rank));
        }
}

Test(check_chunks, own_chunks_are_right)
{
    struct made made;
    made_init(&made, "dp=2,tp=2", 1, EMU_F64);
    divide(&made);
    emu_check_tiling(&made.evidence, &made.audit);
    cr_expect_eq(made.audit.findings.count, 0);
    made_finish(&made);
}

Test(check_chunks, the_chunk_of_the_next_member_is_named_with_its_owner)
{
    struct made made;
    made_init(&made, "dp=2,tp=2", 1, EMU_F64);
    divide(&made);
    made.records[1]->tensors[MADE_NORM].moment_part = (struct emu_slice){2, 2};
    emu_check_tiling(&made.evidence, &made.audit);
    const struct emu_finding *finding = made_finding(&made, EMU_CLASS_SHARD_TILING);
    made_culprits(finding, "1");
    cr_expect_str_eq(finding->parameter, "layers.0.norm.weight");
    cr_expect_str_eq(finding->axes[0], "dp");
    cr_expect(strstr(finding->message, "elements 2 to 3"), "%s", finding->message);
    cr_expect(strstr(finding->message, "the part of rank 3 (dp=1,tp=1)"), "%s", finding->message);
    cr_expect(strstr(finding->message, "its own are elements 0 to 1"), "%s", finding->message);
    made_finish(&made);
}

Test(check_chunks, gradients_that_are_divided_count_too)
{
    struct made made;
    made_init(&made, "dp=2", 1, EMU_F64);
    divide(&made);
    made.plan.shard = EMU_ZERO2;
    for (uint32_t rank = 0; rank < 2; rank++)
        for (uint32_t i = 0; i < MADE_TENSORS; i++)
            made.records[rank]->tensors[i].gradient_part =
                made.records[rank]->tensors[i].moment_part;
    made.records[0]->tensors[MADE_UP].gradient_part = (struct emu_slice){10, 10};
    emu_check_tiling(&made.evidence, &made.audit);
    made_culprits(made_finding(&made, EMU_CLASS_SHARD_TILING), "0");
    made_finish(&made);
}

Test(check_chunks, who_has_not_gathered_is_told_by_the_members_that_updated)
{
    struct made made;
    made_init(&made, "dp=4", 1, EMU_F64);
    divide(&made);
    for (uint32_t rank = 0; rank < 4; rank++) /* each has its own new element of four alone */
        made_add(&made, rank, MADE_NORM, EMU_STATE_WEIGHT, rank, rank < 2 ? 1.0 : 0.0);
    emu_check_replicas(&made.evidence, &made.audit);
    const struct emu_finding *finding = made_finding(&made, EMU_CLASS_REPLICA_DIVERGENCE);
    made_culprits(finding, "0,1,2,3");
    cr_expect(strstr(finding->message, "rank 0 (dp=0) has not what rank 1 (dp=1) updated"), "%s",
              finding->message);
    made_finish(&made);
}

Test(check_chunks, a_member_whose_own_chunk_changed_is_the_odd_one)
{
    struct made made;
    made_init(&made, "dp=4", 1, EMU_F64);
    divide(&made);
    made_add(&made, 2, MADE_NORM, EMU_STATE_WEIGHT, 2, 1.0);
    emu_check_replicas(&made.evidence, &made.audit);
    made_culprits(made_finding(&made, EMU_CLASS_REPLICA_DIVERGENCE), "2");
    made_finish(&made);
}

Test(check_chunks, a_copy_of_the_chunk_of_another_is_named)
{
    struct made made;
    made_init(&made, "dp=4", 1, EMU_F64);
    divide(&made);
    made_add(&made, 3, MADE_NORM, EMU_STATE_WEIGHT, 0, 1.0);
    emu_check_replicas(&made.evidence, &made.audit);
    made_culprits(made_finding(&made, EMU_CLASS_REPLICA_DIVERGENCE), "3");
    made_finish(&made);
}

/* Some at a time are the elements one by one, whoever keeps them. */
static void expect_runs(const struct made *made, uint32_t rank, uint32_t tensor,
                        enum emu_state state)
{
    const struct emu_evidence *evidence = &made->evidence;
    struct emu_evidence_run run = {.rank = rank, .tensor = tensor, .state = state};
    uint64_t seen = 0;
    while (emu_evidence_next(evidence, &run)) {
        cr_assert_eq(run.first, seen);
        for (uint64_t i = 0; i < run.count; i++, seen++)
            cr_assert_eq(run.values[i], emu_evidence_value(evidence, rank, tensor, state, seen),
                         "rank %u tensor %u state %d element %lu", rank, tensor, (int)state,
                         (unsigned long)seen);
    }
    cr_assert_eq(seen, emu_evidence_elements(emu_evidence_tensor(evidence, rank, tensor)));
}

Test(check_chunks, runs_of_elements_are_the_elements)
{
    for (int trial = 0; trial < 4; trial++) {
        struct made made;
        made_init(&made, "dp=3,tp=2", 1, trial % 2 ? EMU_F32 : EMU_F64);
        if (trial >= 2)
            divide(&made);
        for (uint32_t rank = 0; rank < made.mesh.world; rank++)
            for (uint32_t tensor = 0; tensor < MADE_TENSORS; tensor++)
                for (int state = 0; state < EMU_STATE_COUNT; state++)
                    expect_runs(&made, rank, tensor, (enum emu_state)state);
        made_finish(&made);
    }
}
