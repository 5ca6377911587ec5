/* Ranks that wait for each other, for one that is late, stopped or gone: what the launcher says,
 * and whom it ends. */
#include "comm/rank.h"
#include "os/clock.h"
#include "run/job_maker.h"
#include "seg/board.h"
#include "seg/gate.h"
#include "seg/rest.h"
#include "seg/slot.h"

#include <inttypes.h>
#include <stdlib.h>

TestSuite(run_waits, .timeout = 60);

#define STOP_AFTER_MS 30000 /* a rank that should have been ended long ago */

static uint32_t group_of(const struct emu_rank *rank, const char *over)
{
    uint32_t group;
    if (emu_rank_group(rank, over, &group) != EMU_OK)
        _exit(99);
    return group;
}

static const struct emu_finding *only_finding(const struct job_maker *maker, enum emu_class wanted)
{
    cr_assert_eq(maker->result.findings.count, 1, "%zu findings", maker->result.findings.count);
    const struct emu_finding *finding = &maker->result.findings.items[0];
    cr_assert_eq(finding->class_id, wanted, "%s: %s", emu_class_name(finding->class_id),
                 finding->message);
    return finding;
}

/* Group rank 0 of tp and dp cross: a cycle through four groups. */
static int cross(struct emu_rank *rank, void *user)
{
    (void)user;
    bool tp_first = emu_rank_id(rank) == 0 || emu_rank_id(rank) == 3;
    return emu_barrier(rank, group_of(rank, tp_first ? "tp" : "dp")) != EMU_OK;
}

static void assert_crossed(bool keep_going)
{
    struct job_maker maker;
    make_job(&maker, "dp=2,tp=2", cross, NULL);
    maker.job.keep_going = keep_going;
    run_job(&maker);
    const struct emu_finding *finding = only_finding(&maker, EMU_CLASS_DEADLOCK);
    cr_assert(finding->undecided && finding->wait_count == 4);
    cr_assert_geq(finding->after_ns, 0);
    for (uint32_t rank = 0; rank < 4; rank++)
        cr_assert_eq(maker.result.ranks[rank].signalled, keep_going,
                     "who is not ended leaves with EMU_EABORTED");
    finish_job(&maker);
}

Test(run_waits, a_deadlock_ends_the_run)
{
    assert_crossed(false);
}

Test(run_waits, a_deadlock_ends_its_ranks_where_others_go_on)
{
    assert_crossed(true);
}

/* 0 and 1 wait for each other, 2 waits for 0, 3 works on alone and ends well. */
static int some_deadlock(struct emu_rank *rank, void *user)
{
    uint32_t me = emu_rank_id(rank);
    double x = 0;
    (void)user;
    if (me < 2)
        return emu_recv(rank, 1 - me, &x, 1, EMU_F64, 0) != EMU_OK;
    if (me == 2)
        return emu_recv(rank, 0, &x, 1, EMU_F64, 0) == EMU_EPEER ? 0 : 5;
    sleep_ms(60);
    return 0;
}

Test(run_waits, a_deadlock_of_some_leaves_the_others_alone)
{
    struct job_maker maker;
    make_job(&maker, "dp=4", some_deadlock, NULL);
    maker.job.keep_going = true;
    run_job(&maker);
    const struct emu_finding *finding = only_finding(&maker, EMU_CLASS_DEADLOCK);
    cr_assert(finding->wait_count == 2 || finding->wait_count == 3);
    cr_assert(maker.result.ranks[0].signalled && maker.result.ranks[1].signalled);
    cr_assert(maker.result.ranks[3].code == 0 && !maker.result.ranks[3].signalled);
    finish_job(&maker);
}

/* Rank 1 leaves out a call and arrives at the end of the step, where it waits for rank 0. */
static int skips_a_call(struct emu_rank *rank, void *user)
{
    enum emu_gate_verdict verdict;
    (void)user;
    if (emu_rank_id(rank) == 0 && emu_barrier(rank, 0) != EMU_OK)
        return 1;
    return emu_gate_pass(emu_rank_segment(rank), emu_rank_id(rank), 1, &verdict) != EMU_OK;
}

static void answers_steps(const struct emu_segment *segment, void *user)
{
    (void)user;
    if (emu_gate_all_arrived(segment, 1) == EMU_OK)
        emu_gate_answer(segment, 1, EMU_GATE_GO_ON);
}

Test(run_waits, the_end_of_a_step_is_a_wait_for_all)
{
    struct job_maker maker;
    make_job(&maker, "dp=2", skips_a_call, NULL);
    maker.job.auditor = answers_steps;
    run_job(&maker);
    only_finding(&maker, EMU_CLASS_DEADLOCK);
    finish_job(&maker);
}

static int at_the_gate(struct emu_rank *rank, void *user)
{
    enum emu_gate_verdict verdict;
    (void)user;
    return emu_gate_pass(emu_rank_segment(rank), emu_rank_id(rank), 1, &verdict) != EMU_OK;
}

static void answers_late(const struct emu_segment *segment, void *user)
{
    if (emu_gate_all_arrived(segment, 1) != EMU_OK)
        return;
    sleep_ms(100);
    answers_steps(segment, user);
}

Test(run_waits, for_a_slow_auditor_are_none)
{
    struct job_maker maker;
    make_job(&maker, "dp=3", at_the_gate, NULL);
    maker.job.auditor = answers_late;
    maker.job.stall_after_ns = 10000000;
    run_job(&maker);
    cr_assert_eq(maker.result.findings.count, 0);
    finish_job(&maker);
}

/* Rank 2 never comes; 1 waits for it, 0 for 1. */
static int late_through_others(struct emu_rank *rank, void *user)
{
    double x = 0;
    (void)user;
    if (emu_rank_id(rank) == 2)
        sleep_ms(STOP_AFTER_MS);
    uint32_t from = emu_rank_id(rank) + 1;
    return from < 3 && emu_recv(rank, from, &x, 1, EMU_F64, 0) != EMU_OK;
}

Test(run_waits, beyond_the_budget_name_who_does_not_wait)
{
    struct job_maker maker;
    make_job(&maker, "dp=3", late_through_others, NULL);
    maker.job.stall_after_ns = 200000000;
    maker.job.keep_going = true;
    run_job(&maker);
    const struct emu_finding *finding = only_finding(&maker, EMU_CLASS_STALL);
    cr_assert(finding->culprit_count == 1 && finding->culprits[0] == 2);
    cr_assert_geq(finding->after_ns, 200000000);
    cr_assert(maker.result.ranks[2].signalled && maker.result.ranks[2].code == SIGKILL);
    finish_job(&maker);
}

/* Two never come to the barrier of all. */
static int two_are_late(struct emu_rank *rank, void *user)
{
    (void)user;
    if (emu_rank_id(rank) % 2)
        sleep_ms(STOP_AFTER_MS);
    return emu_barrier(rank, 0) != EMU_OK;
}

Test(run_waits, beyond_the_budget_name_all_who_are_late)
{
    struct job_maker maker;
    make_job(&maker, "dp=4", two_are_late, NULL);
    maker.job.stall_after_ns = 300000000;
    maker.job.keep_going = true;
    run_job(&maker);
    const struct emu_finding *finding = only_finding(&maker, EMU_CLASS_STALL);
    cr_assert(finding->culprit_count == 2 && finding->culprits[0] == 1 &&
              finding->culprits[1] == 3);
    finish_job(&maker);
}

/* Many short waits, together longer than the budget. */
static int often_late(struct emu_rank *rank, void *user)
{
    (void)user;
    for (int i = 0; i < 12; i++) {
        if (emu_rank_id(rank) == 1)
            sleep_ms(50);
        if (emu_barrier(rank, 0) != EMU_OK)
            return 1;
    }
    return 0;
}

Test(run_waits, within_the_budget_do_not_add_up)
{
    struct job_maker maker;
    make_job(&maker, "dp=2", often_late, NULL);
    maker.job.stall_after_ns = 400000000;
    run_job(&maker);
    cr_assert_eq(maker.result.findings.count, 0, "%s", maker.result.findings.items[0].message);
    finish_job(&maker);
}

static int stops(struct emu_rank *rank, void *user)
{
    (void)user;
    if (emu_rank_id(rank) == 1)
        raise(SIGSTOP);
    return emu_barrier(rank, 0) != EMU_OK;
}

Test(run_waits, for_a_stopped_rank_end_after_the_grace)
{
    struct job_maker maker;
    make_job(&maker, "dp=3", stops, NULL);
    maker.job.stop_grace_ns = 100000000;
    maker.job.keep_going = true;
    run_job(&maker);
    const struct emu_finding *finding = only_finding(&maker, EMU_CLASS_STOPPED);
    cr_assert(finding->culprit_count == 1 && finding->culprits[0] == 1);
    cr_assert_geq(finding->after_ns, 100000000);
    finish_job(&maker);
}

/* The stopped rank is not what rank 2 waits for: it works. */
static int stops_aside(struct emu_rank *rank, void *user)
{
    pid_t *pid = user;
    if (emu_rank_id(rank) == 1) {
        *pid = getpid();
        raise(SIGSTOP);
    }
    if (emu_rank_id(rank) == 2) {
        sleep_ms(400);
        kill(*pid, SIGCONT);
    }
    return emu_barrier(rank, 0) != EMU_OK;
}

Test(run_waits, for_a_stopped_rank_have_time_while_somebody_works)
{
    struct job_maker maker;
    pid_t *pid = share(sizeof *pid);
    make_job(&maker, "dp=3", stops_aside, pid);
    maker.job.stop_grace_ns = 100000000;
    run_job(&maker);
    cr_assert_eq(emu_findings_faults(&maker.result.findings), 0);
    finish_job(&maker);
}

/* An open receive lets the other's strict send return, while its rank waits for something else. */
static int receives_aside(struct emu_rank *rank, void *user)
{
    uint32_t me = emu_rank_id(rank);
    double in = 1, out = 0;
    struct emu_request *request;
    struct emu_call call = {
        .kind = EMU_RECV, .peer = 1, .count = 1, .dtype = EMU_F64, .output = &out};
    (void)user;
    emu_rank_set_strict(rank, true);
    if (me == 1) {
        sleep_ms(20);
        return emu_send(rank, 0, &in, 1, EMU_F64, 0) != EMU_OK || emu_barrier(rank, 0) != EMU_OK;
    }
    if (emu_start(rank, &call, &request) != EMU_OK || emu_barrier(rank, 0) != EMU_OK)
        return 2;
    return emu_wait(rank, request) != EMU_OK || out != 1;
}

Test(run_waits, with_open_requests_help_others)
{
    for (int run = 0; run < 20; run++) {
        struct job_maker maker;
        make_job(&maker, "dp=2", receives_aside, NULL);
        run_job(&maker);
        cr_assert_eq(maker.result.findings.count, 0, "%s", maker.result.findings.items[0].message);
        finish_job(&maker);
    }
}

#define QUEUED (EMU_SLOTS + 1) /* the last one cannot be signed, and is owed */

struct turns {
    uint64_t beats, span_ns;
};

/* Rank 1 wakes up now and then for what it owes; rank 0 counts how often. The others are gone. */
static int wakes_seldom(struct emu_rank *rank, void *user)
{
    struct emu_call call = {.kind = EMU_BARRIER};
    struct emu_request *requests[QUEUED];
    uint32_t me = emu_rank_id(rank), failed = 0;
    if (me > 1)
        return 0;
    call.group = group_of(rank, "tp");
    if (me == 0) {
        sleep_ms(200);
        struct turns *turns = user;
        turns->span_ns = emu_clock_ns();
        uint64_t before = emu_board_pulse(emu_rank_segment(rank), 1);
        sleep_ms(1000);
        turns->beats = (emu_board_pulse(emu_rank_segment(rank), 1) - before) >> 8;
        turns->span_ns = emu_clock_ns() - turns->span_ns;
    }
    for (int i = 0; i < QUEUED; i++)
        failed += emu_start(rank, &call, &requests[i]) != EMU_OK;
    for (int i = 0; i < QUEUED; i++)
        failed += emu_wait(rank, requests[i]) != EMU_OK;
    return failed > 0;
}

/* Else some of many ranks would be awake whenever somebody looks whether all wait. A turn beats
 * when it begins and when it ends, and none is shorter than EMU_REST_TURN_NS a rank: a slow machine
 * can only make fewer of them. */
Test(run_waits, in_turns_are_longer_among_many)
{
    struct job_maker maker;
    struct turns *turns = share(sizeof *turns);
    make_job(&maker, "dp=150,tp=2", wakes_seldom, turns);
    run_job(&maker);
    cr_assert_eq(emu_findings_faults(&maker.result.findings), 0);
    cr_assert_gt(turns->span_ns, 0);
    cr_assert_leq(turns->beats, 2 * (turns->span_ns / (300 * EMU_REST_TURN_NS) + 1),
                  "%" PRIu64 " beats in %" PRIu64 " ns", turns->beats, turns->span_ns);
    finish_job(&maker);
}

/* Twelve calls are started on a group, eight may be open: the others wait for their turn. */
static int queues_calls(struct emu_rank *rank, void *user)
{
    struct emu_request *requests[12];
    uint32_t me = emu_rank_id(rank), tp = group_of(rank, "tp");
    const struct emu_call call = {.kind = EMU_BARRIER, .group = tp};
    if (me == 1)
        sleep_ms(30);
    for (int i = 0; i < 12; i++)
        if (emu_start(rank, &call, &requests[i]) != EMU_OK)
            return 1;
    if (user && me == 0 && emu_barrier(rank, 0) != EMU_OK)
        return 2;
    for (int i = 11; i >= 0; i--)
        if (emu_wait(rank, requests[i]) != EMU_OK)
            return 3;
    return user && me == 1 && emu_barrier(rank, 0) != EMU_OK ? 4 : 0;
}

Test(run_waits, for_calls_in_a_queue_end)
{
    struct job_maker maker;
    make_job(&maker, "dp=1,tp=2", queues_calls, "world in between");
    run_job(&maker);
    cr_assert_eq(maker.result.findings.count, 0, "%s", maker.result.findings.items[0].message);
    finish_job(&maker);
}

/* 300 messages that nobody takes, room for 256: the sender waits for its receiver, and that one for
 * the sender. */
static int floods(struct emu_rank *rank, void *user)
{
    double x = 0;
    (void)user;
    if (emu_rank_id(rank) == 1)
        return emu_barrier(rank, 0) != EMU_OK;
    for (int i = 0; i < 300; i++)
        if (emu_send(rank, 1, &x, 1, EMU_F64, i) != EMU_OK)
            return 2;
    return emu_barrier(rank, 0) != EMU_OK;
}

Test(run_waits, for_room_that_nobody_makes_are_a_deadlock)
{
    struct job_maker maker;
    make_job(&maker, "dp=2", floods, NULL);
    run_job(&maker);
    only_finding(&maker, EMU_CLASS_DEADLOCK);
    finish_job(&maker);
}

static int sends_into_nothing(struct emu_rank *rank, void *user)
{
    double x = 0;
    (void)user;
    return emu_rank_id(rank) == 0 && emu_send(rank, 1, &x, 1, EMU_F64, 3) != EMU_OK;
}

Test(run_waits, a_message_that_nobody_waits_for_is_lost)
{
    struct job_maker maker;
    make_job(&maker, "dp=2", sends_into_nothing, NULL);
    run_job(&maker);
    only_finding(&maker, EMU_CLASS_LOST_MESSAGE);
    finish_job(&maker);
}

Test(run_waits, records_outlive_the_ranks)
{
    struct job_maker maker;
    make_job(&maker, "dp=2,tp=2", cross, NULL);
    maker.job.keep_records = true;
    run_job(&maker);
    for (uint32_t rank = 0; rank < 4; rank++) {
        const struct emu_job_record *record = &maker.result.records[rank];
        cr_assert(record->begun == 1 && record->count == 1);
        cr_assert_eq(record->calls[0].call.kind, EMU_BARRIER);
    }
    finish_job(&maker);
}
