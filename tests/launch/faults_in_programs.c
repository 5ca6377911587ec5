/* Faults of MESHEMU_FAULT in a program of one's own: the same findings as in a run. */
#include <meshemu/meshemu.h>

#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

TestSuite(launch_faults, .timeout = 60);

/* A hand-written step: two reductions over dp and a broadcast over tp. */
static int step(struct emu_rank *rank, void *user)
{
    (void)user;
    uint32_t dp, tp;
    double gradient[100] = {1.0}, loss = 2.0;
    if (emu_rank_group(rank, "dp", &dp) != EMU_OK || emu_rank_group(rank, "tp", &tp) != EMU_OK)
        return 90;
    struct emu_call reduce = {.kind = EMU_ALL_REDUCE,
                              .group = dp,
                              .count = 100,
                              .dtype = EMU_F64,
                              .input = gradient,
                              .output = gradient,
                              .label = "gradient"};
    enum emu_status status = emu_broadcast(rank, tp, gradient, 100, EMU_F64, 0);
    if (status == EMU_OK)
        status = emu_run_call(rank, &reduce);
    if (status == EMU_OK)
        status = emu_all_reduce(rank, dp, &loss, &loss, 1, EMU_F64, EMU_SUM);
    if (status == EMU_OK)
        status = emu_barrier(rank, 0);
    return (int)status;
}

Test(launch_faults, an_unknown_variant_of_the_processor_is_refused)
{
    struct emu_launch_options options = {.mesh = "dp=2,tp=2"};
    struct emu_outcome *outcome = NULL;
    setenv("MESHEMU_CPU_VARIANT", "sse9", 1);
    cr_expect_eq(emu_launch(&options, step, NULL, &outcome), EMU_EINVAL);
    cr_expect_null(outcome);
    unsetenv("MESHEMU_CPU_VARIANT");
}

struct injected {
    char spec[96];
    enum emu_class class_id;
    bool named; /* rank 1 is the culprit; else it is one of the group, undecided */
};

ParameterizedTestParameters(launch_faults, each_kind_of_call_is_told_as_its_class)
{
    static struct injected cases[] = {
        {"crash rank=1", EMU_CLASS_CRASH, true},
        {"crash rank=1 label=gradient phase=signature", EMU_CLASS_CRASH, true},
        {"crash rank=1 label=gradient phase=deposit signal=SIGSEGV", EMU_CLASS_CRASH, true},
        {"crash rank=1 label=gradient phase=copyout", EMU_CLASS_CRASH, true},
        {"exit rank=1 code=5", EMU_CLASS_EARLY_EXIT, true},
        {"exit rank=1 call=2 code=0", EMU_CLASS_EARLY_EXIT, true},
        {"skip_call rank=1 label=gradient", EMU_CLASS_COUNT_MISMATCH, false},
        {"repeat_call rank=1 label=gradient", EMU_CLASS_COUNT_MISMATCH, false},
        {"swap_calls rank=1 label=gradient", EMU_CLASS_COUNT_MISMATCH, false},
        {"wrong_root rank=1", EMU_CLASS_ROOT_MISMATCH, false},
        {"wrong_op rank=1", EMU_CLASS_OP_MISMATCH, false},
        {"wrong_dtype rank=1 dtype=f32", EMU_CLASS_DTYPE_MISMATCH, false},
        {"wrong_count rank=1 count=100000", EMU_CLASS_COUNT_MISMATCH, false},
        {"reduce_for_all_reduce rank=1 root=1", EMU_CLASS_ORDER_MISMATCH, false},
        {"flip_deposit rank=1 label=gradient bit=0", EMU_CLASS_CORRUPT_PAYLOAD, true},
        {"flip_deposit rank=1 label=gradient element=99", EMU_CLASS_CORRUPT_PAYLOAD, true},
    };
    return cr_make_param_array(struct injected, cases, sizeof cases / sizeof cases[0]);
}

static bool names(const uint32_t *ranks, size_t count, uint32_t rank)
{
    for (size_t i = 0; i < count; i++)
        if (ranks[i] == rank)
            return true;
    return false;
}

ParameterizedTest(struct injected *one, launch_faults, each_kind_of_call_is_told_as_its_class,
                  .timeout = 60)
{
    struct emu_launch_options options = {.mesh = "dp=2,tp=2"};
    struct emu_outcome *outcome;
    setenv("MESHEMU_FAULT", one->spec, 1);
    cr_assert_eq(emu_launch(&options, step, NULL, &outcome), EMU_OK);
    const struct emu_findings *findings = emu_outcome_findings(outcome);
    cr_assert_eq(emu_findings_faults(findings), 1, "%s: %zu faults", one->spec,
                 emu_findings_faults(findings));
    const struct emu_finding *finding = &findings->items[0];
    cr_expect_eq(finding->class_id, one->class_id, "%s: %s", one->spec, finding->message);
    if (one->named)
        cr_expect(names(finding->culprits, finding->culprit_count, 1), "%s", finding->message);
    else
        cr_expect(finding->undecided && names(finding->group, finding->group_size, 1), "%s",
                  finding->message);
    emu_outcome_destroy(outcome);
}

Test(launch_faults, a_late_rank_and_a_continued_one_are_no_faults)
{
    struct emu_launch_options options = {.mesh = "dp=2,tp=2"};
    struct emu_outcome *outcome;
    setenv("MESHEMU_FAULT", "delay rank=1 time=50ms; stop rank=2 cont_after=50ms;", 1);
    cr_assert_eq(emu_launch(&options, step, NULL, &outcome), EMU_OK);
    cr_expect(emu_outcome_passed(outcome));
    emu_outcome_destroy(outcome);
}

ParameterizedTestParameters(launch_faults, a_stall_inside_a_call_is_told_by_the_budget)
{
    static struct injected cases[] = {
        {"stall rank=1 phase=signature", EMU_CLASS_STALL, true},
        {"stall rank=1 phase=deposit", EMU_CLASS_STALL, true},
        {"stall rank=1 phase=copyout", EMU_CLASS_STALL, true},
        /* it has slept in the call before */
        {"delay rank=0 time=100ms; stall rank=1 phase=copyout", EMU_CLASS_STALL, true},
        {"stop rank=1 phase=deposit", EMU_CLASS_STOPPED, true},
        {"stop rank=1 phase=copyout", EMU_CLASS_STOPPED, true},
    };
    return cr_make_param_array(struct injected, cases, sizeof cases / sizeof cases[0]);
}

#define LONG_COUNT 400000 /* goes in several rounds */

static int twice_over_all(struct emu_rank *rank, void *user)
{
    uint32_t world;
    double *data = emu_rank_alloc(rank, LONG_COUNT * sizeof *data);
    const uint64_t *count = user;
    enum emu_status status = emu_rank_group(rank, "world", &world);
    if (status == EMU_OK)
        status = emu_all_reduce(rank, world, data, data, *count, EMU_F64, EMU_SUM);
    if (status == EMU_OK)
        status = emu_barrier(rank, world);
    return (int)status;
}

static void assert_stall(const struct injected *one, uint64_t count)
{
    struct emu_launch_options options = {
        .mesh = "dp=4", .stall_after_ns = 200000000, .stop_grace_ns = 200000000};
    struct emu_outcome *outcome;
    setenv("MESHEMU_FAULT", one->spec, 1);
    cr_assert_eq(emu_launch(&options, twice_over_all, &count, &outcome), EMU_OK);
    const struct emu_findings *findings = emu_outcome_findings(outcome);
    cr_assert_eq(emu_findings_faults(findings), 1);
    const struct emu_finding *finding = &findings->items[0];
    cr_expect_eq(finding->class_id, one->class_id, "%s: %s", one->spec, finding->message);
    cr_expect(finding->culprit_count == 1 && finding->culprits[0] == 1, "%s", finding->message);
    char inside[96];
    const char *phase = strstr(one->spec, "phase=") + strlen("phase=");
    snprintf(inside, sizeof inside, "inside all_reduce over world #0 (%s)", phase);
    if (one->class_id == EMU_CLASS_STALL)
        cr_expect(strstr(finding->message, inside), "%s", finding->message);
    emu_outcome_destroy(outcome);
}

ParameterizedTest(struct injected *one, launch_faults, a_stall_inside_a_call_is_told_by_the_budget,
                  .timeout = 60)
{
    assert_stall(one, 8);
    assert_stall(one, LONG_COUNT);
}

Test(launch_faults, a_timeout_names_who_is_awake_in_a_wait)
{
    struct emu_launch_options options = {.mesh = "dp=4", .timeout_ns = 1500000000};
    struct emu_outcome *outcome;
    uint64_t count = 8;
    setenv("MESHEMU_FAULT", "delay rank=0 time=100ms; stall rank=1 phase=copyout", 1);
    cr_assert_eq(emu_launch(&options, twice_over_all, &count, &outcome), EMU_OK);
    const struct emu_findings *findings = emu_outcome_findings(outcome);
    const struct emu_finding *finding = &findings->items[findings->count - 1];
    cr_expect(finding->class_id == EMU_CLASS_STALL && !finding->undecided);
    cr_expect(finding->culprit_count == 1 && finding->culprits[0] == 1, "%s", finding->message);
    emu_outcome_destroy(outcome);
}

Test(launch_faults, a_wrong_spec_starts_nothing)
{
    struct emu_launch_options options = {.mesh = "dp=2,tp=2"};
    struct emu_outcome *outcome = NULL;
    setenv("MESHEMU_FAULT", "delay rank=1; crsh rank=2", 1);
    cr_expect_eq(emu_launch(&options, step, NULL, &outcome), EMU_EINVAL);
    setenv("MESHEMU_FAULT", "skip_reduce", 1);
    cr_expect_eq(emu_launch(&options, step, NULL, &outcome), EMU_EINVAL);
    cr_expect_null(outcome);
}

Test(launch_faults, an_environment_that_cannot_be_followed_starts_nothing)
{
    static const struct {
        const char *name, *value;
        enum emu_status status;
    } asked[] = {{"MESHEMU_CPU_VARIANT", "avx3", EMU_EINVAL},
                 {"MESHEMU_WAYS", "few", EMU_EINVAL},
                 {"MESHEMU_JSON", "/nonexistent/report", EMU_ESYSTEM},
                 {"MESHEMU_RECORD", "/nonexistent/record", EMU_ESYSTEM}};
    struct emu_launch_options options = {.mesh = "dp=2,tp=2"};
    struct emu_outcome *outcome = NULL;
    for (size_t i = 0; i < sizeof asked / sizeof asked[0]; i++) {
        setenv(asked[i].name, asked[i].value, 1);
        cr_expect_eq(emu_launch(&options, step, NULL, &outcome), asked[i].status, "%s",
                     asked[i].name);
        unsetenv(asked[i].name);
    }
    cr_expect_null(outcome);
}
