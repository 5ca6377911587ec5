#include "check/inquest.h"
#include "check/liveness.h"
#include "check/scene_maker.h"

#include <signal.h>

TestSuite(check_inquest, .timeout = 20);
TestSuite(check_liveness, .timeout = 20);

static struct scene_maker maker;
static struct emu_inquest inquest;

static void begin(void)
{
    make_scene(&maker);
    cr_assert_eq(emu_inquest_init(&inquest, &maker.roster), EMU_OK);
}

static void end(void)
{
    emu_inquest_finish(&inquest);
    emu_roster_finish(&maker.roster);
    emu_mesh_finish(&maker.mesh);
}

/* Who is gone is awaited in call #5 of the world by the others. */
static void break_world(uint32_t gone)
{
    struct emu_incident incident = {.cause = EMU_INCIDENT_PEER,
                                    .status = EMU_EPEER,
                                    .rank = gone,
                                    .group = GROUP_WORLD,
                                    .index = 5,
                                    .enabled_ns = 1000};
    for (uint32_t rank = 0; rank < WORLD; rank++) {
        maker.members[rank].rank = rank;
        maker.members[rank].has_call = maker.ranks[rank].board.state == EMU_BOARD_WAITING;
        maker.members[rank].call = make_call(EMU_ALL_REDUCE, GROUP_WORLD, 5);
    }
    emu_inquest_incident(&inquest, &maker.scene, &incident, maker.members);
}

static const struct emu_finding *only_finding(enum emu_class class_id)
{
    cr_assert_eq(inquest.findings.count, 1, "%zu findings", inquest.findings.count);
    cr_assert_eq(inquest.findings.items[0].class_id, class_id, "%s: %s",
                 emu_class_name(inquest.findings.items[0].class_id),
                 inquest.findings.items[0].message);
    return &inquest.findings.items[0];
}

Test(check_inquest, who_waits_for_a_killed_rank_is_a_consequence, .init = begin, .fini = end)
{
    for (uint32_t rank = 0; rank < WORLD; rank++)
        put_in_call(&maker, rank, make_call(EMU_ALL_REDUCE, GROUP_WORLD, 5));
    maker.ranks[2].board.step = 3;
    maker.ranks[2].board.phase = EMU_PHASE_DEPOSIT;
    set_fate(&maker, 2, EMU_FATE_KILLED, SIGKILL);
    cr_assert(emu_inquest_gone(&inquest, &maker.scene, 2));
    maker.ranks[2].board.state = EMU_BOARD_RUNNING;
    break_world(2);
    emu_inquest_ending(&inquest, false);
    answer_call(&maker, 0, EMU_EPEER);
    set_fate(&maker, 0, EMU_FATE_EXITED, 1);
    cr_assert(emu_inquest_gone(&inquest, &maker.scene, 0));
    set_fate(&maker, 1, EMU_FATE_ENDED, SIGKILL);
    set_fate(&maker, 3, EMU_FATE_ENDED, SIGKILL);
    cr_assert_not(emu_inquest_gone(&inquest, &maker.scene, 3));
    cr_assert_not(emu_inquest_gone(&inquest, &maker.scene, 1));
    emu_inquest_close(&inquest);
    const struct emu_finding *finding = only_finding(EMU_CLASS_CRASH);
    assert_culprits(finding, "2");
    assert_says(finding->message, "rank 2 (dp=1,tp=0) was killed by SIGKILL in step 3");
    assert_says(finding->message, "all_reduce over world #5 (deposit)");
    cr_assert_eq(finding->after_ns, 2500);
    cr_assert(has_consequence(finding, "rank 3 (dp=1,tp=1) waited for rank 2 in all_reduce"));
    cr_assert(has_consequence(finding, "rank 0 (dp=0,tp=0) exited 1 after all_reduce over world #5 "
                                       "was answered EMU_EPEER"));
    cr_assert(has_consequence(finding, "ranks 1, 3 were ended by the launcher"));
    cr_assert_str_eq(finding->members[2].state, "killed by SIGKILL");
    cr_assert_str_eq(finding->members[1].state, "in this call");
}

Test(check_inquest, two_kills_are_two_causes, .init = begin, .fini = end)
{
    set_fate(&maker, 0, EMU_FATE_KILLED, SIGSEGV);
    cr_assert(emu_inquest_gone(&inquest, &maker.scene, 0));
    emu_inquest_ending(&inquest, false);
    set_fate(&maker, 3, EMU_FATE_KILLED, SIGKILL);
    cr_assert(emu_inquest_gone(&inquest, &maker.scene, 3));
    cr_assert_eq(inquest.findings.count, 2);
    assert_culprits(&inquest.findings.items[1], "3");
}

Test(check_inquest, abort_after_a_broken_call_is_no_crash_of_its_own, .init = begin, .fini = end)
{
    put_in_call(&maker, 1, make_call(EMU_ALL_REDUCE, GROUP_WORLD, 5));
    set_fate(&maker, 0, EMU_FATE_KILLED, SIGBUS);
    emu_inquest_gone(&inquest, &maker.scene, 0);
    break_world(0);
    answer_call(&maker, 1, EMU_EPEER);
    set_fate(&maker, 1, EMU_FATE_KILLED, SIGABRT);
    emu_inquest_gone(&inquest, &maker.scene, 1);
    cr_assert(has_consequence(only_finding(EMU_CLASS_CRASH), "killed by SIGABRT after"));
}

Test(check_inquest, an_exit_of_its_own_is_early, .init = begin, .fini = end)
{
    put_in_call(&maker, 1, make_call(EMU_BARRIER, GROUP_TP, 2));
    answer_call(&maker, 1, EMU_OK);
    set_fate(&maker, 1, EMU_FATE_EXITED, 3);
    cr_assert(emu_inquest_gone(&inquest, &maker.scene, 1));
    const struct emu_finding *finding = only_finding(EMU_CLASS_EARLY_EXIT);
    assert_culprits(finding, "1");
    assert_says(finding->message, "exited 3 in its own code after 1 calls, the last one barrier");
    assert_says(finding->explanation, "last calls of rank 1: barrier over tp #2");
    cr_assert_str_eq(finding->members[1].state, "exited 3");
}

Test(check_inquest, ranks_that_end_well_are_no_finding, .init = begin, .fini = end)
{
    for (uint32_t rank = 0; rank < WORLD; rank++) {
        set_fate(&maker, rank, EMU_FATE_EXITED, 0);
        cr_assert_not(emu_inquest_gone(&inquest, &maker.scene, rank));
    }
    emu_inquest_close(&inquest);
    cr_assert_eq(inquest.findings.count, 0);
}

Test(check_inquest, all_who_ended_without_the_call_are_named, .init = begin, .fini = end)
{
    put_in_call(&maker, 0, make_call(EMU_ALL_REDUCE, GROUP_WORLD, 5));
    put_in_call(&maker, 3, make_call(EMU_ALL_REDUCE, GROUP_WORLD, 4));
    answer_call(&maker, 3, EMU_OK);
    set_fate(&maker, 3, EMU_FATE_EXITED, 0);
    emu_inquest_gone(&inquest, &maker.scene, 3);
    break_world(3);
    set_fate(&maker, 1, EMU_FATE_EXITED, 0);
    emu_inquest_gone(&inquest, &maker.scene, 1);
    answer_call(&maker, 0, EMU_EPEER);
    set_fate(&maker, 0, EMU_FATE_EXITED, 8);
    emu_inquest_gone(&inquest, &maker.scene, 0);
    const struct emu_finding *finding = only_finding(EMU_CLASS_MISSING_PARTICIPANT);
    assert_culprits(finding, "1,3");
    assert_says(finding->message, "rank 3 ended without all_reduce over world #5");
    assert_says(finding->message, "no data was written");
    assert_says(finding->explanation, "6 by rank 0");
    assert_says(finding->explanation, "5 by rank 3");
    assert_says(finding->explanation, "the last call of all was #4");
    cr_assert(has_consequence(finding, "exited 8"));
    cr_assert_str_eq(finding->members[0].state, "in this call");
    cr_assert_str_eq(finding->members[3].state, "ended");
}

Test(check_inquest, leaving_before_the_body_returned_is_early, .init = begin, .fini = end)
{
    put_in_call(&maker, 0, make_call(EMU_ALL_REDUCE, GROUP_WORLD, 5));
    set_fate(&maker, 3, EMU_FATE_EXITED, 0);
    maker.ranks[3].board.state = EMU_BOARD_RUNNING;
    cr_assert_not(emu_inquest_gone(&inquest, &maker.scene, 3));
    break_world(3);
    assert_culprits(only_finding(EMU_CLASS_EARLY_EXIT), "3");
}

Test(check_inquest, a_mismatch_explains_the_exits_and_who_waits_for_them, .init = begin,
     .fini = end)
{
    struct emu_incident incident = {
        .cause = EMU_INCIDENT_MISMATCH, .status = EMU_EMISMATCH, .group = GROUP_TP, .index = 0};
    put_in_call(&maker, 0, make_call(EMU_BARRIER, GROUP_TP, 0));
    put_in_call(&maker, 1, make_call(EMU_BROADCAST, GROUP_TP, 0));
    put_in_call(&maker, 2, make_call(EMU_ALL_REDUCE, GROUP_WORLD, 5));
    for (uint32_t i = 0; i < 2; i++) {
        maker.members[i].has_call = true;
        maker.members[i].call = maker.ranks[i].board.call;
    }
    emu_inquest_incident(&inquest, &maker.scene, &incident, maker.members);
    answer_call(&maker, 0, EMU_EMISMATCH);
    set_fate(&maker, 0, EMU_FATE_EXITED, 7);
    cr_assert(emu_inquest_gone(&inquest, &maker.scene, 0));
    break_world(0);
    answer_call(&maker, 2, EMU_EPEER);
    set_fate(&maker, 2, EMU_FATE_EXITED, 8);
    emu_inquest_gone(&inquest, &maker.scene, 2);
    const struct emu_finding *finding = only_finding(EMU_CLASS_ORDER_MISMATCH);
    assert_culprits(finding, "");
    cr_assert(has_consequence(finding, "exited 7"));
    cr_assert(has_consequence(finding, "rank 2 (dp=1,tp=0) waited for rank 0"));
    cr_assert(has_consequence(finding, "exited 8"));
}

Test(check_inquest, who_returns_because_the_run_ends_is_not_missing, .init = begin, .fini = end)
{
    put_in_call(&maker, 3, make_call(EMU_ALL_REDUCE, GROUP_WORLD, 5));
    set_fate(&maker, 0, EMU_FATE_KILLED, SIGKILL);
    emu_inquest_gone(&inquest, &maker.scene, 0);
    emu_inquest_ending(&inquest, false);
    set_fate(&maker, 1, EMU_FATE_EXITED, 0);
    emu_inquest_gone(&inquest, &maker.scene, 1);
    break_world(1);
    set_fate(&maker, 2, EMU_FATE_EXITED, 9);
    emu_inquest_gone(&inquest, &maker.scene, 2);
    cr_assert(has_consequence(only_finding(EMU_CLASS_CRASH),
                              "rank 2 (dp=1,tp=0) exited 9 when the run was ended"));
}

Test(check_inquest, a_call_that_is_told_twice_breaks_once, .init = begin, .fini = end)
{
    put_in_call(&maker, 3, make_call(EMU_ALL_REDUCE, GROUP_WORLD, 5));
    set_fate(&maker, 0, EMU_FATE_EXITED, 0);
    emu_inquest_gone(&inquest, &maker.scene, 0);
    cr_assert_not(emu_inquest_knows(&inquest, GROUP_WORLD, 5));
    break_world(0);
    break_world(0);
    cr_assert(emu_inquest_knows(&inquest, GROUP_WORLD, 5));
    cr_assert_eq(only_finding(EMU_CLASS_MISSING_PARTICIPANT)->consequence_count, 1);
}

Test(check_inquest, a_message_from_who_has_ended_is_missing, .init = begin, .fini = end)
{
    struct emu_call_view receive = {.kind = EMU_RECV, .peer = 1, .index = 2, .tag = 9};
    struct emu_incident incident = {.cause = EMU_INCIDENT_PEER,
                                    .status = EMU_EPEER,
                                    .rank = 1,
                                    .caller = 3,
                                    .group = EMU_GROUP_SELF,
                                    .call = receive};
    put_in_call(&maker, 3, receive);
    set_fate(&maker, 1, EMU_FATE_EXITED, 0);
    emu_inquest_gone(&inquest, &maker.scene, 1);
    emu_inquest_incident(&inquest, &maker.scene, &incident, NULL);
    answer_call(&maker, 3, EMU_EPEER);
    set_fate(&maker, 3, EMU_FATE_EXITED, 1);
    emu_inquest_gone(&inquest, &maker.scene, 3);
    const struct emu_finding *finding = only_finding(EMU_CLASS_MISSING_PARTICIPANT);
    assert_culprits(finding, "1");
    assert_says(finding->message, "recv #2 from rank 1 with tag 9");
    cr_assert(has_consequence(finding, "rank 3 (dp=1,tp=1) exited 1"));
}

Test(check_inquest, an_interrupted_run_accuses_nobody, .init = begin, .fini = end)
{
    emu_inquest_ending(&inquest, true);
    set_fate(&maker, 0, EMU_FATE_EXITED, 1);
    set_fate(&maker, 1, EMU_FATE_KILLED, SIGINT);
    set_fate(&maker, 2, EMU_FATE_ENDED, SIGKILL);
    for (uint32_t rank = 0; rank < 3; rank++)
        emu_inquest_gone(&inquest, &maker.scene, rank);
    put_in_call(&maker, 3, make_call(EMU_ALL_REDUCE, GROUP_WORLD, 5));
    break_world(0);
    emu_inquest_close(&inquest);
    cr_assert_eq(inquest.findings.count, 0);
    cr_assert(inquest.interrupted);
}

Test(check_inquest, nonsense_in_the_segment_is_our_defect, .init = begin, .fini = end)
{
    struct emu_incident incident = {.cause = EMU_INCIDENT_MISMATCH, .rank = 99};
    emu_inquest_incident(&inquest, &maker.scene, &incident, maker.members);
    incident = (struct emu_incident){.cause = EMU_INCIDENT_PEER, .group = 4711};
    emu_inquest_incident(&inquest, &maker.scene, &incident, maker.members);
    cr_assert_eq(inquest.findings.count, 2);
    cr_assert_eq(inquest.findings.items[1].class_id, EMU_CLASS_INTERNAL);
}

Test(check_inquest, a_dead_rank_may_have_left_anything, .init = begin, .fini = end)
{
    struct emu_rank_seen *seen = &maker.ranks[1];
    memset(&seen->board.call, 0xff, sizeof seen->board.call);
    memset(seen->board.call.group_name, 0, sizeof seen->board.call.group_name);
    memset(seen->board.call.label, 0, sizeof seen->board.call.label);
    seen->board.state = EMU_BOARD_WAITING;
    seen->board.wait = EMU_WAIT_SLOT;
    seen->board.calls = 5;
    set_fate(&maker, 1, EMU_FATE_KILLED, 77);
    cr_assert(emu_inquest_gone(&inquest, &maker.scene, 1));
    assert_says(only_finding(EMU_CLASS_CRASH)->message, "killed by signal 77");
}

Test(check_liveness, a_stall_names_who_was_not_waiting, .init = begin, .fini = end)
{
    put_in_call(&maker, 0, make_call(EMU_ALL_REDUCE, GROUP_WORLD, 5));
    put_in_call(&maker, 2, make_call(EMU_BARRIER, GROUP_TP + 1, 0));
    maker.ranks[2].fate = EMU_FATE_STOPPED;
    maker.ranks[3].fate = EMU_FATE_EXITED;
    maker.ranks[3].board.state = EMU_BOARD_ENDED;
    maker.ranks[1].board.since_ns = 500;
    emu_inquest_stall(&inquest, &maker.scene, 2500000000);
    const struct emu_finding *finding = only_finding(EMU_CLASS_STALL);
    assert_culprits(finding, "1,2");
    assert_says(finding->message, "not ended after 2.5 s: ranks 1, 2 were not waiting");
    cr_assert_eq(finding->member_count, WORLD);
    cr_assert_str_eq(finding->members[0].state, "in all_reduce over world #5");
    cr_assert_str_eq(finding->members[1].state, "in user code");
    cr_assert_str_eq(finding->members[2].state, "stopped, in barrier over tp #0");
    cr_assert_eq(finding->after_ns, 3000);
}

Test(check_liveness, who_sleeps_untold_waits_too, .init = begin, .fini = end)
{
    for (uint32_t rank = 1; rank < WORLD; rank++) {
        put_in_call(&maker, rank, make_call(EMU_BARRIER, GROUP_WORLD, 5));
        maker.ranks[rank].board.state = EMU_BOARD_RUNNING;
        maker.ranks[rank].board.asleep = rank != 2;
    }
    emu_inquest_stall(&inquest, &maker.scene, 1000000000);
    assert_culprits(only_finding(EMU_CLASS_STALL), "0,2");
}

Test(check_liveness, where_all_wait_the_stall_is_undecided, .init = begin, .fini = end)
{
    for (uint32_t rank = 0; rank < WORLD; rank++)
        put_in_call(&maker, rank, make_call(EMU_BARRIER, rank < 2 ? GROUP_TP : GROUP_WORLD, 1));
    emu_inquest_stall(&inquest, &maker.scene, 1000000000);
    assert_culprits(only_finding(EMU_CLASS_STALL), "");
}

Test(check_liveness, runs_of_ranks_are_short)
{
    static const uint32_t ranks[] = {0, 1, 2, 5, 7, 8};
    struct emu_text text = {0};
    emu_ranks_text(&text, ranks, 6);
    emu_text_puts(&text, "; ");
    emu_ranks_text(&text, ranks + 3, 1);
    cr_assert_str_eq(emu_text_get(&text), "ranks 0-2, 5, 7, 8; rank 5");
    emu_text_finish(&text);
}
