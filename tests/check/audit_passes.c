/* What is right is never flagged, on any mesh. */
#include "evidence_maker.h"

#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <string.h>

struct shape {
    char mesh[32];
    uint64_t step;
    enum emu_dtype dtype;
};

ParameterizedTestParameters(check_audit, a_right_step_passes)
{
    static struct shape shapes[] = {
        {"dp=1", 1, EMU_F64},      {"dp=1,tp=1", 0, EMU_F64}, {"dp=2,tp=2", 0, EMU_F64},
        {"dp=2,tp=2", 1, EMU_F64}, {"tp=4,dp=2", 3, EMU_F32}, {"dp=3,tp=3", 9, EMU_F64},
        {"tp=6", 2, EMU_F64},      {"dp=9", 2, EMU_F64},      {"dp=2,copy=2,tp=2", 2, EMU_F32},
        {"copy=3", 4, EMU_F64},    {"dp=8,tp=8", 1, EMU_F64},
    };
    return cr_make_param_array(struct shape, shapes, sizeof shapes / sizeof *shapes);
}

ParameterizedTest(struct shape *shape, check_audit, a_right_step_passes)
{
    struct made made;
    made_init(&made, shape->mesh, shape->step, shape->dtype);
    made_check(&made);
    for (size_t i = 0; i < made.audit.findings.count; i++)
        cr_log_error("%s", made.audit.findings.items[i].message);
    cr_expect_eq(made.audit.findings.count, 0, "%s, step %u", shape->mesh, (unsigned)shape->step);
    cr_expect_eq(made.audit.figures[EMU_CHECK_TILING].status, EMU_CHECK_PASS);
    cr_expect_eq(made.audit.figures[EMU_CHECK_REPLICAS].status, EMU_CHECK_PASS);
    cr_expect_eq(made.audit.figures[EMU_CHECK_INIT].status,
                 shape->step == 0 ? EMU_CHECK_PASS : EMU_CHECK_SKIPPED);
    cr_expect_eq(made.audit.figures[EMU_CHECK_DATA].status,
                 shape->step > 0 ? EMU_CHECK_PASS : EMU_CHECK_SKIPPED);
    cr_expect_eq(made.audit.figures[EMU_CHECK_ORACLE].status,
                 shape->step > 0 ? EMU_CHECK_PASS : EMU_CHECK_SKIPPED);
    made_finish(&made);
}

Test(check_audit, figures_count_what_was_compared)
{
    struct made made;
    made_init(&made, "dp=2,tp=2", 1, EMU_F64);
    made_check(&made);
    /* 4 ranks, 4 tensors, 4 states: a split tensor has 2 copies to compare, the whole one 3. */
    cr_expect_eq(made.audit.figures[EMU_CHECK_REPLICAS].compared, 4 * (3 * 2 + 3) + 3 * 3);
    cr_expect_eq(made.audit.figures[EMU_CHECK_TILING].compared, 16);
    cr_expect_eq(made.audit.figures[EMU_CHECK_DATA].compared, 8);
    /* Split tensors on two replicas, the whole one on four ranks, in 4 states; 3 scalars a rank. */
    cr_expect_eq(made.audit.figures[EMU_CHECK_ORACLE].compared,
                 4 * (2 * (32 + 20 + 24) + 4 * 4) + 4 * 3);
    cr_expect_eq(made.audit.figures[EMU_CHECK_ORACLE].worst, 0.0);
    cr_expect_eq(made.audit.figures[EMU_CHECK_ORACLE].largest_bound, 1e-12);
    cr_expect_eq(made.audit.figures[EMU_CHECK_ORACLE].steps, 1);
    made_finish(&made);
}

Test(check_audit, names_are_those_of_the_report)
{
    cr_expect_str_eq(emu_check_name(EMU_CHECK_INIT), "init");
    cr_expect_str_eq(emu_check_name(EMU_CHECK_TRAFFIC), "traffic");
    cr_expect_str_eq(emu_check_name(EMU_CHECK_COUNT), "unknown");
}

Test(check_audit, a_skipped_check_says_why)
{
    struct emu_audit audit;
    emu_audit_init(&audit);
    emu_audit_skip(&audit, EMU_CHECK_ORACLE, "checks.oracle is false");
    cr_expect_eq(audit.figures[EMU_CHECK_ORACLE].status, EMU_CHECK_SKIPPED);
    cr_expect_str_eq(audit.figures[EMU_CHECK_ORACLE].why, "checks.oracle is false");
    cr_expect(strlen(audit.figures[EMU_CHECK_INIT].why) > 0);
    emu_audit_finish(&audit);
    emu_audit_finish(NULL);
}

Test(check_audit, what_goes_on_in_later_steps_is_a_consequence)
{
    struct made made;
    made_init(&made, "dp=4", 1, EMU_F64);
    made_set(&made, 2, MADE_UP, EMU_STATE_WEIGHT, 5, 9.0);
    for (uint64_t step = 1; step <= 20; step++) {
        made.evidence.step = step;
        emu_check_replicas(&made.evidence, &made.audit);
    }
    const struct emu_finding *finding = made_finding(&made, EMU_CLASS_REPLICA_DIVERGENCE);
    made_culprits(finding, "2");
    cr_expect_geq(finding->consequence_count, 2);
    cr_expect_leq(finding->consequence_count, 8);
    cr_expect_str_eq(finding->consequences[0], "the same in step 2");
    cr_expect_eq(made.audit.figures[EMU_CHECK_REPLICAS].differed, 20);
    made_finish(&made);
}
