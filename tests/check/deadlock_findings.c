/* What is said of ranks that wait for each other, that are late, stopped, or awaited elsewhere. */
#include "check/liveness.h"
#include "check/needs_maker.h"
#include "check/scene_maker.h"

#include <signal.h>

static struct scene_maker maker;
static struct needs_maker waits;
static struct emu_deadlock deadlock;
static struct emu_inquest inquest;

static void begin(void)
{
    make_scene(&maker);
    make_needs(&waits, WORLD);
    cr_assert_eq(emu_inquest_init(&inquest, &maker.roster), EMU_OK);
    cr_assert_eq(emu_deadlock_init(&deadlock, WORLD), EMU_OK);
}

static void end(void)
{
    emu_deadlock_finish(&deadlock);
    emu_inquest_finish(&inquest);
    emu_roster_finish(&maker.roster);
    emu_mesh_finish(&maker.mesh);
}

TestSuite(check_waits, .init = begin, .fini = end, .timeout = 20);
TestSuite(check_messages, .init = begin, .fini = end, .timeout = 20);
TestSuite(check_groups, .init = begin, .fini = end, .timeout = 20);

/* The rank waits in this call for another one. */
static void put_in_wait(uint32_t rank, struct emu_call_view call, int target, uint64_t since_ns)
{
    put_in_call(&maker, rank, call);
    make_wait(&waits, rank, false, target, -1);
    waits.ranks[rank].call = call;
    waits.ranks[rank].since_ns = since_ns;
    waits.ranks[rank].wait = maker.ranks[rank].board.wait;
}

static struct emu_call_view message(enum emu_kind kind, uint32_t peer, int32_t tag)
{
    return (struct emu_call_view){
        .kind = kind, .group = EMU_GROUP_SELF, .peer = peer, .tag = tag, .count = 4};
}

static void judge(void)
{
    cr_assert_eq(emu_deadlock_reach(&deadlock, &waits.needs, true), EMU_OK);
    emu_deadlock_tie(&deadlock, &waits.needs);
    emu_inquest_deadlock(&inquest, &maker.scene, &waits.needs, &deadlock);
}

static const struct emu_finding *only_finding(enum emu_class class_id)
{
    cr_assert_eq(inquest.findings.count, 1, "%zu findings", inquest.findings.count);
    cr_assert_eq(inquest.findings.items[0].class_id, class_id, "%s: %s",
                 emu_class_name(inquest.findings.items[0].class_id),
                 inquest.findings.items[0].message);
    return &inquest.findings.items[0];
}

static void cross_axes(void)
{
    put_in_wait(0, make_call(EMU_ALL_REDUCE, GROUP_TP, 0), 1, 1500);
    put_in_wait(1, make_call(EMU_ALL_REDUCE, GROUP_DP + 1, 0), 3, 2500);
    put_in_wait(3, make_call(EMU_ALL_REDUCE, GROUP_TP + 1, 0), 2, 2000);
    put_in_wait(2, make_call(EMU_ALL_REDUCE, GROUP_DP, 0), 0, 1000);
}

Test(check_waits, a_cycle_across_axes_is_one_deadlock)
{
    cross_axes();
    judge();
    const struct emu_finding *finding = only_finding(EMU_CLASS_DEADLOCK);
    assert_culprits(finding, "");
    assert_says(finding->message, "4 ranks wait for each other: rank 0 (dp=0,tp=0) waits for rank "
                                  "1 in all_reduce over tp #0");
    cr_assert_eq(finding->wait_count, 4);
    cr_expect(finding->waits[1].rank == 1 && finding->waits[1].target_count == 1);
    cr_expect_eq(finding->waits[1].targets[0], 3);
    cr_expect_eq(finding->waits[1].group, GROUP_DP + 1);
    cr_expect_eq(finding->after_ns, 1000, "since the last of them began to wait");
    cr_expect_eq(finding->consequence_count, 0);
}

Test(check_waits, who_waits_for_a_deadlock_is_its_consequence)
{
    put_in_wait(0, message(EMU_RECV, 1, 0), 1, 100);
    put_in_wait(1, message(EMU_RECV, 0, 0), 0, 200);
    put_in_wait(2, make_call(EMU_BARRIER, GROUP_WORLD, 3), 0, 300);
    judge();
    const struct emu_finding *finding = only_finding(EMU_CLASS_DEADLOCK);
    cr_expect_eq(finding->wait_count, 3);
    cr_expect_eq(finding->after_ns, 3300);
    cr_assert_eq(finding->consequence_count, 1);
    cr_assert(
        has_consequence(finding, "rank 2 (dp=1,tp=0) waits for rank 0 in barrier over world"));
}

Test(check_waits, two_knots_are_two_causes)
{
    put_in_wait(0, message(EMU_RECV, 1, 0), 1, 100);
    put_in_wait(1, message(EMU_RECV, 0, 0), 0, 200);
    put_in_wait(2, message(EMU_RECV, 3, 0), 3, 100);
    put_in_wait(3, message(EMU_RECV, 2, 0), 2, 200);
    judge();
    cr_assert_eq(inquest.findings.count, 2);
    cr_expect_eq(inquest.findings.items[1].waits[0].rank, 2);
}

Test(check_waits, of_ranks_that_belong_to_a_finding_follow_from_it)
{
    set_fate(&maker, 3, EMU_FATE_KILLED, SIGKILL);
    emu_inquest_gone(&inquest, &maker.scene, 3);
    inquest.cause[1] = 0;
    put_in_wait(0, message(EMU_RECV, 1, 0), 1, 100);
    put_in_wait(1, message(EMU_RECV, 0, 0), 0, 200);
    judge();
    cr_assert(
        has_consequence(only_finding(EMU_CLASS_CRASH), "rank 0 (dp=0,tp=0) waits for rank 1"));
}

Test(check_waits, of_who_was_ended_are_told_with_their_cause)
{
    put_in_wait(0, message(EMU_RECV, 1, 0), 1, 100);
    put_in_wait(1, message(EMU_RECV, 0, 0), 0, 200);
    judge();
    for (uint32_t rank = 0; rank < 2; rank++) {
        set_fate(&maker, rank, EMU_FATE_ENDED, SIGKILL);
        cr_assert_not(emu_inquest_gone(&inquest, &maker.scene, rank));
    }
    emu_inquest_close(&inquest);
    cr_assert(has_consequence(only_finding(EMU_CLASS_DEADLOCK), "ranks 0, 1 were ended"));
}

Test(check_waits, at_the_end_of_a_step_are_waits_too)
{
    put_in_wait(0, make_call(EMU_ALL_REDUCE, GROUP_TP, 4), 1, 100);
    make_wait(&waits, 1, false, 0, -1);
    waits.ranks[1].wait = EMU_WAIT_GATE;
    judge();
    const struct emu_finding *finding = only_finding(EMU_CLASS_DEADLOCK);
    assert_says(finding->message, "rank 1 (dp=0,tp=1) waits for rank 0 at the end of the step");
    cr_expect_eq(finding->waits[1].kind, EMU_BARRIER);
    cr_expect_eq(finding->waits[1].group, EMU_GROUP_SELF);
}

Test(check_waits, beyond_the_budget_are_a_stall_of_the_awaited)
{
    const uint32_t ranks[] = {2};
    struct emu_late late = {
        .ranks = ranks, .count = 1, .waiter = 0, .kept_ns = 1200000000, .budget_ns = 1000000000};
    put_in_wait(0, make_call(EMU_BARRIER, GROUP_WORLD, 0), 2, 100);
    emu_inquest_late(&inquest, &maker.scene, &waits.needs, &late);
    const struct emu_finding *finding = only_finding(EMU_CLASS_STALL);
    assert_culprits(finding, "2");
    assert_says(finding->message, "has kept others waiting for 1.2 s in its own code, stall_after "
                                  "is 1 s: rank 0 (dp=0,tp=0) waits for rank 2");
    cr_expect_eq(finding->after_ns, 1200000000);
    set_fate(&maker, 2, EMU_FATE_ENDED, SIGKILL);
    emu_inquest_gone(&inquest, &maker.scene, 2);
    emu_inquest_close(&inquest);
    cr_assert(has_consequence(only_finding(EMU_CLASS_STALL), "rank 2 was ended by the launcher"));
}

Test(check_waits, beyond_the_budget_say_where_inside_a_call_it_is)
{
    const uint32_t ranks[] = {1, 2};
    struct emu_late late = {.ranks = ranks + 1,
                            .count = 1,
                            .waiter = 0,
                            .kept_ns = 1200000000,
                            .budget_ns = 1000000000};
    put_in_wait(0, make_call(EMU_BARRIER, GROUP_WORLD, 0), 2, 100);
    put_in_call(&maker, 2, make_call(EMU_BARRIER, GROUP_WORLD, 0));
    maker.ranks[2].board.phase = EMU_PHASE_COPYOUT;
    emu_inquest_late(&inquest, &maker.scene, &waits.needs, &late);
    assert_says(only_finding(EMU_CLASS_STALL)->message,
                "rank 2 (dp=1,tp=0) has kept others waiting for 1.2 s inside barrier over world #0 "
                "(copyout), stall_after is 1 s: rank 0");
    late.ranks = ranks;
    late.count = 2;
    emu_inquest_late(&inquest, &maker.scene, &waits.needs, &late);
    assert_says(inquest.findings.items[1].message,
                "ranks 1, 2 have kept others waiting for 1.2 s, rank 1 in its own code, rank 2 "
                "inside barrier over world #0 (copyout), stall_after is 1 s: rank 0");
}

Test(check_waits, for_a_stopped_rank_name_it)
{
    put_in_wait(0, make_call(EMU_BARRIER, GROUP_WORLD, 0), 2, 100);
    maker.ranks[2].fate = EMU_FATE_STOPPED;
    emu_inquest_stopped(&inquest, &maker.scene, 2000000000);
    const struct emu_finding *finding = only_finding(EMU_CLASS_STOPPED);
    assert_culprits(finding, "2");
    assert_says(finding->message, "rank 2 is stopped by a signal and was not continued for 2 s");
    cr_expect_str_eq(finding->members[2].state, "stopped, in user code");
    cr_expect_eq(inquest.cause[2], 0);
}

static struct emu_posted posted[3];

static void post(size_t i, uint32_t from, uint32_t to, int32_t tag)
{
    posted[i] = (struct emu_posted){from, to, i, message(EMU_SEND, to, tag)};
    maker.scene.posted = posted;
    maker.scene.posted_count = i + 1;
}

Test(check_messages, with_another_tag_than_awaited_are_a_tag_mismatch)
{
    put_in_wait(0, message(EMU_SEND, 1, 1), 1, 100);
    put_in_wait(1, message(EMU_RECV, 0, 2), 0, 200);
    post(0, 0, 1, 1);
    posted[0].call.count = 7; /* who waits to send it has nothing else in mind */
    judge();
    const struct emu_finding *finding = only_finding(EMU_CLASS_TAG_MISMATCH);
    assert_culprits(finding, "");
    assert_says(finding->message, "waits in recv #0 from rank 0 with tag 2, but what rank 0");
    cr_expect_str_eq(finding->expected, "tag 2");
    cr_expect_str_eq(finding->got, "tag 1");
    cr_expect_eq(finding->wait_count, 2);
}

Test(check_messages, that_are_unlike_in_more_than_the_tag_leave_a_deadlock)
{
    put_in_wait(0, make_call(EMU_BARRIER, GROUP_TP, 0), 1, 100);
    put_in_wait(1, message(EMU_RECV, 0, 2), 0, 200);
    post(0, 0, 1, 1);
    posted[0].call.count = 7;
    judge();
    only_finding(EMU_CLASS_DEADLOCK);
}

Test(check_messages, with_another_tag_of_who_has_ended_are_a_tag_mismatch)
{
    struct emu_incident incident = {.cause = EMU_INCIDENT_PEER,
                                    .status = EMU_EPEER,
                                    .rank = 0,
                                    .caller = 1,
                                    .group = EMU_GROUP_SELF,
                                    .call = message(EMU_RECV, 0, 2)};
    put_in_call(&maker, 1, incident.call);
    set_fate(&maker, 0, EMU_FATE_EXITED, 0);
    post(0, 0, 1, 1);
    emu_inquest_incident(&inquest, &maker.scene, &incident, NULL);
    only_finding(EMU_CLASS_TAG_MISMATCH);
    emu_inquest_lost(&inquest, &maker.scene);
    only_finding(EMU_CLASS_TAG_MISMATCH);
}

Test(check_messages, that_nobody_received_are_lost_once_for_each_way)
{
    post(0, 2, 3, 5);
    post(1, 2, 3, 6);
    post(2, 1, 0, 0);
    emu_inquest_lost(&inquest, &maker.scene);
    cr_assert_eq(inquest.findings.count, 2);
    const struct emu_finding *finding = &inquest.findings.items[0];
    cr_assert_eq(finding->class_id, EMU_CLASS_LOST_MESSAGE);
    assert_culprits(finding, "");
    assert_says(finding->message, "rank 3 (dp=1,tp=1) ended and never received messages of rank 2 "
                                  "(dp=1,tp=0): send #0 to rank 3 with tag 5 and 1 more");
    assert_says(inquest.findings.items[1].message, "never received a message of rank 1");
}

Test(check_messages, of_ranks_that_failed_are_not_lost)
{
    set_fate(&maker, 3, EMU_FATE_KILLED, SIGKILL);
    emu_inquest_gone(&inquest, &maker.scene, 3);
    post(0, 2, 3, 5);
    emu_inquest_lost(&inquest, &maker.scene);
    only_finding(EMU_CLASS_CRASH);
}

/* Rank 1 calls dp where rank 0 awaits it on tp; 2 and 3 are through with tp and have ended. */
static void set_wrong_axis(enum emu_kind wanted)
{
    put_in_call(&maker, 1, make_call(EMU_ALL_REDUCE, GROUP_DP + 1, 0));
    put_in_call(&maker, 0, make_call(wanted, GROUP_TP, 0));
    for (uint32_t rank = 2; rank < 4; rank++) {
        put_in_call(&maker, rank, make_call(EMU_ALL_REDUCE, GROUP_TP + 1, 0));
        answer_call(&maker, rank, EMU_OK);
        set_fate(&maker, rank, EMU_FATE_EXITED, 0);
        emu_inquest_gone(&inquest, &maker.scene, rank);
    }
}

static void break_group(uint32_t group, uint32_t waiter, uint32_t gone)
{
    struct emu_incident incident = {.cause = EMU_INCIDENT_PEER,
                                    .status = EMU_EPEER,
                                    .rank = gone,
                                    .group = group,
                                    .enabled_ns = 1000};
    struct emu_member_view members[2] = {{.rank = waiter}, {.rank = gone}};
    struct emu_group of = emu_roster_group(&maker.roster, group);
    for (uint32_t i = 0; i < 2; i++) {
        members[i].rank = emu_group_member(&of, i);
        members[i].has_call = members[i].rank == waiter;
        members[i].call = maker.ranks[members[i].rank].board.call;
    }
    emu_inquest_incident(&inquest, &maker.scene, &incident, members);
}

static void assert_wrong_axis(void)
{
    const struct emu_finding *finding = only_finding(EMU_CLASS_GROUP_MISMATCH);
    assert_culprits(finding, "1");
    assert_says(finding->message, "rank 1 (dp=0,tp=1) called all_reduce over dp #0 where rank 0 "
                                  "waits for it in all_reduce over tp #0");
    cr_expect_str_eq(finding->group_name, "tp");
    cr_expect(finding->group[0] == 0 && finding->group[1] == 1 && finding->index == 0);
}

Test(check_groups, the_right_call_on_the_wrong_axis_is_seen_at_once)
{
    set_wrong_axis(EMU_ALL_REDUCE);
    break_group(GROUP_DP + 1, 1, 3);
    assert_wrong_axis();
}

Test(check_groups, the_right_call_on_the_wrong_axis_is_seen_later)
{
    set_wrong_axis(EMU_ALL_REDUCE);
    maker.ranks[0].board.state = EMU_BOARD_RUNNING; /* it has not come yet */
    maker.ranks[0].board.calls = 0;
    maker.ranks[0].call_count = 0;
    break_group(GROUP_DP + 1, 1, 3);
    assert_culprits(only_finding(EMU_CLASS_MISSING_PARTICIPANT), "3");
    answer_call(&maker, 1, EMU_EPEER);
    set_fate(&maker, 1, EMU_FATE_EXITED, 8);
    emu_inquest_gone(&inquest, &maker.scene, 1);
    put_in_call(&maker, 0, make_call(EMU_ALL_REDUCE, GROUP_TP, 0));
    break_group(GROUP_TP, 0, 1);
    assert_wrong_axis();
    cr_assert(has_consequence(&inquest.findings.items[0], "rank 1 (dp=0,tp=1) exited 8"));
    cr_assert(has_consequence(&inquest.findings.items[0], "rank 0 (dp=0,tp=0) waited for rank 1"));
}

Test(check_groups, another_call_elsewhere_is_no_wrong_axis)
{
    set_wrong_axis(EMU_BROADCAST);
    break_group(GROUP_DP + 1, 1, 3);
    assert_culprits(only_finding(EMU_CLASS_MISSING_PARTICIPANT), "3");
}

Test(check_groups, counts_that_accuse_nobody_are_no_wrong_axis)
{
    set_wrong_axis(EMU_ALL_REDUCE);
    for (uint32_t rank = 2; rank < 4; rank++)
        put_in_call(&maker, rank, make_call(EMU_ALL_REDUCE, GROUP_DP + rank - 2, 0));
    set_fate(&maker, 3, EMU_FATE_EXITED, 0);
    break_group(GROUP_DP + 1, 1, 3);
    only_finding(EMU_CLASS_MISSING_PARTICIPANT);
}
