/* How do runs end, and what is said about it? */
#include "run/job_maker.h"

#include <criterion/parameterized.h>
#include <stdlib.h>

TestSuite(run_job, .timeout = 60);

static uint32_t group_of(const struct emu_rank *rank, const char *over)
{
    uint32_t group;
    if (emu_rank_group(rank, over, &group) != EMU_OK)
        _exit(99);
    return group;
}

/* Sum of all ranks' numbers, a hundred times. */
static int add_up(struct emu_rank *rank, void *user)
{
    (void)user;
    uint32_t world = emu_rank_world(rank);
    for (int i = 0; i < 100; i++) {
        int64_t mine = emu_rank_id(rank) + 1, sum = 0;
        if (emu_all_reduce(rank, group_of(rank, "world"), &mine, &sum, 1, EMU_I64, EMU_SUM) !=
            EMU_OK)
            return 1;
        if (sum != (int64_t)world * (world + 1) / 2)
            return 2;
    }
    return 0;
}

struct mesh_case {
    char axes[32];
    bool raw;
};

ParameterizedTestParameters(run_job, ranks_compute_together_and_leave_nothing)
{
    static struct mesh_case cases[] = {{"dp=1", false},
                                       {"dp=2", false},
                                       {"dp=2,tp=2", false},
                                       {"dp=4,tp=4", false},
                                       {"dp=2", true}};
    return cr_make_param_array(struct mesh_case, cases, sizeof cases / sizeof cases[0]);
}

ParameterizedTest(struct mesh_case *c, run_job, ranks_compute_together_and_leave_nothing,
                  .timeout = 60)
{
    struct job_maker maker;
    make_job(&maker, c->axes, add_up, NULL);
    maker.job.raw_output = c->raw;
    run_job(&maker);
    cr_assert_eq(maker.result.findings.count, 0, "%s", maker.result.findings.items[0].message);
    for (uint32_t rank = 0; rank < maker.mesh.world; rank++) {
        cr_assert(!maker.result.ranks[rank].signalled && maker.result.ranks[rank].code == 0);
        cr_assert(maker.result.ranks[rank].pid > 0 && maker.result.ranks[rank].pid != getpid());
    }
    cr_assert_not(maker.result.interrupted);
    cr_assert(maker.result.total_ns >= maker.result.forked_ns && maker.result.forked_ns > 0);
    finish_job(&maker);
}

Test(run_job, nothing_is_left_in_dev_shm)
{
    struct job_maker maker;
    make_job(&maker, "dp=2", add_up, NULL);
    run_job(&maker);
    DIR *folder = opendir("/dev/shm");
    for (struct dirent *entry = readdir(folder); entry; entry = readdir(folder))
        cr_assert_null(strstr(entry->d_name, "meshemu"), "%s is left", entry->d_name);
    closedir(folder);
    finish_job(&maker);
}

/* Rank 1 of tp leaves in the way that user says; the others wait for it. */
static int leave_alone(struct emu_rank *rank, void *user)
{
    int how = *(int *)user;
    uint32_t world = group_of(rank, "world");
    if (emu_barrier(rank, world) != EMU_OK)
        return 1;
    if (emu_rank_id(rank) == 1) {
        if (how < 0)
            die_by(-how);
        return how;
    }
    return emu_barrier(rank, world) == EMU_OK ? 2 : 9;
}

static void check_leaver(int how, enum emu_class class_id, const char *says)
{
    struct job_maker maker;
    make_job(&maker, "dp=2,tp=2", leave_alone, &how);
    run_job(&maker);
    const struct emu_finding *finding = assert_one_finding(&maker, class_id, 1);
    cr_assert_not_null(strstr(finding->message, says), "%s", finding->message);
    cr_assert_eq(finding->member_count, 4);
    cr_assert_geq(finding->after_ns, 0);
    finish_job(&maker);
}

Test(run_job, a_killed_rank_is_a_crash)
{
    check_leaver(-SIGKILL, EMU_CLASS_CRASH, "rank 1 (dp=0,tp=1) was killed by SIGKILL");
    check_leaver(-SIGTERM, EMU_CLASS_CRASH, "killed by SIGTERM");
}

Test(run_job, a_rank_that_exits_with_a_code_is_early)
{
    check_leaver(3, EMU_CLASS_EARLY_EXIT, "rank 1 (dp=0,tp=1) exited 3");
    check_leaver(256, EMU_CLASS_EARLY_EXIT, "exited 255");
}

Test(run_job, a_rank_that_returns_too_soon_is_missing)
{
    check_leaver(0, EMU_CLASS_MISSING_PARTICIPANT, "rank 1 ended without barrier over world #1");
}

static int exit_inside(struct emu_rank *rank, void *user)
{
    (void)user;
    if (emu_rank_id(rank) == 1)
        _exit(0);
    return emu_barrier(rank, group_of(rank, "world")) == EMU_OK ? 2 : 9;
}

Test(run_job, a_rank_that_exits_inside_its_body_is_early)
{
    struct job_maker maker;
    make_job(&maker, "dp=2", exit_inside, NULL);
    run_job(&maker);
    assert_one_finding(&maker, EMU_CLASS_EARLY_EXIT, 1);
    finish_job(&maker);
}

static int call_different(struct emu_rank *rank, void *user)
{
    (void)user;
    double values[8] = {0};
    uint64_t count = emu_rank_id(rank) == 2 ? 8 : 4;
    enum emu_status status =
        emu_all_reduce(rank, group_of(rank, "world"), values, values, count, EMU_F64, EMU_SUM);
    return status == EMU_EMISMATCH ? 5 : 6;
}

Test(run_job, a_call_that_does_not_match_is_one_finding_whoever_leaves_first)
{
    for (int round = 0; round < 30; round++) {
        struct job_maker maker;
        make_job(&maker, "dp=2,tp=2", call_different, NULL);
        run_job(&maker);
        const struct emu_finding *finding = assert_one_finding(&maker, EMU_CLASS_COUNT_MISMATCH, 2);
        cr_assert_str_eq(finding->group_name, "world");
        cr_assert(finding->has_index && finding->index == 0);
        cr_assert_gt(finding->consequence_count, 0);
        for (uint32_t rank = 0; rank < 4; rank++)
            cr_assert_str_eq(finding->members[rank].state, "in this call");
        finish_job(&maker);
    }
}

static int never_wait(struct emu_rank *rank, void *user)
{
    (void)user;
    struct emu_request *request;
    struct emu_call call = {.kind = EMU_BARRIER, .group = group_of(rank, "world")};
    return emu_start(rank, &call, &request) == EMU_OK ? 0 : 1;
}

Test(run_job, a_started_call_without_its_wait_is_told)
{
    struct job_maker maker;
    make_job(&maker, "dp=1", never_wait, NULL);
    run_job(&maker);
    const struct emu_finding *finding = assert_one_finding(&maker, EMU_CLASS_INVALID_ARGUMENT, 0);
    cr_assert_not_null(strstr(finding->message, "never waited for"));
    finish_job(&maker);
}

/* Survivors of rank 0 go on without it on their own axis. */
static int go_on(struct emu_rank *rank, void *user)
{
    (void)user;
    uint32_t world = group_of(rank, "world"), tp = group_of(rank, "tp");
    if (emu_rank_id(rank) == 0)
        die_by(SIGSEGV);
    if (emu_barrier(rank, world) != EMU_EPEER || !emu_rank_failed(rank, 0))
        return 1;
    if (emu_rank_id(rank) == 1)
        return emu_barrier(rank, tp) == EMU_EPEER ? 0 : 2;
    for (int i = 0; i < 50; i++)
        if (emu_barrier(rank, tp) != EMU_OK)
            return 3;
    return 0;
}

Test(run_job, survivors_go_on_where_asked_to)
{
    struct job_maker maker;
    make_job(&maker, "dp=2,tp=2", go_on, NULL);
    maker.job.keep_going = true;
    run_job(&maker);
    assert_one_finding(&maker, EMU_CLASS_CRASH, 0);
    for (uint32_t rank = 1; rank < 4; rank++)
        cr_assert_eq(maker.result.ranks[rank].code, 0, "rank %u: %d", rank,
                     maker.result.ranks[rank].code);
    finish_job(&maker);
}

/* Rank 2 spins; the others wait. */
static int spin(struct emu_rank *rank, void *user)
{
    (void)user;
    if (emu_rank_id(rank) == 2)
        for (;;)
            sleep_ms(1000);
    return emu_barrier(rank, group_of(rank, "world")) == EMU_OK ? 0 : 1;
}

Test(run_job, a_run_that_takes_too_long_is_a_stall)
{
    struct job_maker maker;
    make_job(&maker, "dp=2,tp=2", spin, NULL);
    maker.job.timeout_ns = 300000000;
    run_job(&maker);
    const struct emu_finding *finding = assert_one_finding(&maker, EMU_CLASS_STALL, 2);
    cr_assert_str_eq(finding->members[0].state, "in barrier over world #0");
    cr_assert_str_eq(finding->members[2].state, "in user code");
    cr_assert(maker.result.ranks[2].signalled && maker.result.ranks[2].code == SIGKILL);
    finish_job(&maker);
}

/* Calls end and begin; rank 2 is always late. */
static int dawdle(struct emu_rank *rank, void *user)
{
    (void)user;
    while (emu_barrier(rank, group_of(rank, "world")) == EMU_OK)
        if (emu_rank_id(rank) == 2)
            sleep_ms(2);
    return 1;
}

/* In a crowd the first sleep of a wait is told to nobody; those who were woken may be awake. */
Test(run_job, who_waits_in_a_crowd_is_no_culprit)
{
    struct job_maker maker;
    make_job(&maker, "dp=300", dawdle, NULL);
    maker.job.timeout_ns = 500000000;
    setenv("MESHEMU_WAYS", "cores=1", 1);
    run_job(&maker);
    unsetenv("MESHEMU_WAYS");
    cr_assert_eq(maker.result.findings.count, 1);
    const struct emu_finding *finding = &maker.result.findings.items[0];
    cr_assert_eq(finding->class_id, EMU_CLASS_STALL);
    cr_assert_lt(finding->culprit_count, 100, "%s", finding->message);
    finish_job(&maker);
}

static int stop_itself(struct emu_rank *rank, void *user)
{
    if (emu_rank_id(rank) == 1)
        raise(SIGSTOP);
    return spin(rank, user);
}

Test(run_job, a_stopped_rank_is_told_as_stopped)
{
    struct job_maker maker;
    make_job(&maker, "dp=2", stop_itself, NULL);
    maker.job.timeout_ns = 300000000;
    run_job(&maker);
    const struct emu_finding *finding = assert_one_finding(&maker, EMU_CLASS_STALL, 1);
    cr_assert_str_eq(finding->members[1].state, "stopped, in user code");
    finish_job(&maker);
}

static int deaf(struct emu_rank *rank, void *user)
{
    (void)user;
    if (emu_rank_id(rank) == 0)
        raise(SIGKILL);
    signal(SIGTERM, SIG_IGN);
    while (emu_rank_world(rank) > 0)
        sleep_ms(1000);
    return 0;
}

Test(run_job, ranks_that_do_not_listen_are_ended)
{
    struct job_maker maker;
    make_job(&maker, "dp=4", deaf, NULL);
    run_job(&maker);
    const struct emu_finding *finding = assert_one_finding(&maker, EMU_CLASS_CRASH, 0);
    cr_assert_str_eq(finding->consequences[finding->consequence_count - 1],
                     "ranks 1-3 were ended by the launcher");
    finish_job(&maker);
}

/* Collectives of all kinds without end, until somebody is killed. */
static int work_without_end(struct emu_rank *rank, void *user)
{
    pid_t *pids = user;
    static double values[40000], sums[40000];
    pids[emu_rank_id(rank)] = getpid();
    for (uint64_t i = 0;; i++) {
        enum emu_status status = emu_all_reduce(rank, group_of(rank, i % 2 ? "tp" : "world"),
                                                values, sums, i % 3 ? 40000 : 3, EMU_F64, EMU_SUM);
        if (status == EMU_OK)
            status = emu_broadcast(rank, group_of(rank, "dp"), values, 100, EMU_F64, 0);
        if (status != EMU_OK)
            return status == EMU_EPEER || status == EMU_EABORTED ? 1 : 2;
    }
}

struct killer {
    pid_t *pids;
    uint32_t victim;
    long after_us;
};

/* The auditor's thread is as good a place as any to kill from. */
static void kill_one(const struct emu_segment *segment, void *user)
{
    (void)segment;
    const volatile struct killer *killer = user;
    while (*(volatile pid_t *)&killer->pids[killer->victim] == 0)
        sleep_ms(1);
    usleep((useconds_t)killer->after_us);
    kill(killer->pids[killer->victim], SIGKILL);
}

static int work_of_killer(struct emu_rank *rank, void *user)
{
    return work_without_end(rank, ((struct killer *)user)->pids);
}

Test(run_job, a_kill_at_any_moment_ends_the_run_and_is_named)
{
    struct killer killer = {.pids = share(4096)};
    srand(4711);
    for (int round = 0; round < 40; round++) {
        struct job_maker maker;
        memset(killer.pids, 0, 4096);
        killer.victim = (uint32_t)rand() % 4;
        killer.after_us = rand() % 3000;
        make_job(&maker, "dp=2,tp=2", work_of_killer, &killer);
        maker.job.auditor = kill_one;
        run_job(&maker);
        assert_one_finding(&maker, EMU_CLASS_CRASH, killer.victim);
        for (uint32_t rank = 0; rank < 4; rank++)
            if (rank != killer.victim && !maker.result.ranks[rank].signalled)
                cr_assert_eq(maker.result.ranks[rank].code, 1);
        finish_job(&maker);
    }
}
