/* Who must act before whom? Ranks that are put to sleep by hand, each with what it waits for. */
#include "seg/needs.h"

#include "seg/board_words.h"
#include "seg/gate_words.h"
#include "seg/outbox.h"
#include "seg/slot.h"
#include "small_segment.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

static struct small_segment small;
static struct emu_needs needs;
static unsigned char presence[4];

static void begin(void)
{
    cr_assert(small_open(&small, "dp=2,tp=2"));
    cr_assert_eq(emu_needs_init(&needs, 4), EMU_OK);
    memset(presence, EMU_PRESENT, sizeof presence);
    for (uint32_t rank = 0; rank < 4; rank++)
        emu_board_set_state(&small.segment, rank, EMU_BOARD_RUNNING);
}

static void end(void)
{
    emu_needs_finish(&needs);
    small_close(&small);
}

TestSuite(needs, .init = begin, .fini = end, .timeout = 20);

static void set_rest(uint32_t rank, uint64_t value)
{
    atomic_store(&emu_board_of(&small.segment, rank)->rest, value);
}

static void sleep_in(uint32_t rank, enum emu_board_wait wait, const struct emu_call *call,
                     uint64_t index, const struct emu_wants *wants)
{
    struct emu_note note;
    struct emu_rest rest;
    emu_note_of(call, index, &note);
    emu_board_wait_in(&small.segment, rank, wait, &note);
    emu_rest_publish(&small.segment, rank, &rest, wants);
    set_rest(rank, emu_rest_look(&small.segment, rank) | 1);
}

static void sign(uint32_t rank, uint32_t group, uint64_t index)
{
    struct emu_ring ring = emu_ring_of(&small.segment, group);
    uint32_t member = (uint32_t)emu_group_index(&ring.members, rank);
    struct emu_call call = {.kind = EMU_BARRIER, .group = group};
    struct emu_note note;
    emu_note_of(&call, index, &note);
    emu_slot_sign(&ring, index, member, &note, &(struct emu_offer){.rounds = 1});
    emu_slot_announce(&ring, index, member, 0, 1);
}

/* In call `index` of the group, signed. */
static void wait_in_barrier(uint32_t rank, uint32_t group, uint64_t index)
{
    struct emu_wants wants = {.count = 0};
    struct emu_call call = {.kind = EMU_BARRIER, .group = group};
    sign(rank, group, index);
    sleep_in(rank, EMU_WAIT_SLOT, &call, index, &wants);
}

static void wait_for_message(uint32_t rank, uint32_t from, int32_t tag, uint32_t ahead)
{
    struct emu_wants wants = {.ahead = ahead};
    struct emu_want want = {EMU_WANT_RECVS, from, tag, ahead + 1, 0};
    struct emu_call call = {.kind = EMU_RECV, .peer = from, .tag = tag, .count = 1};
    emu_wants_add(&wants, &want);
    sleep_in(rank, EMU_WAIT_MESSAGE, &call, 0, &wants);
}

static struct emu_sender senders[4];

static uint64_t send(uint32_t rank, uint32_t to, int32_t tag)
{
    struct emu_call call = {.kind = EMU_SEND, .peer = to, .tag = tag, .count = 1};
    struct emu_note note;
    emu_note_of(&call, 0, &note);
    if (!senders[rank].box.head)
        emu_sender_init(&senders[rank], &small.segment, rank);
    struct emu_message *message = emu_sender_claim(&senders[rank]);
    message->tracked = 1;
    cr_assert(emu_sender_fill(&senders[rank], message, "12345678", 8));
    return emu_sender_publish(&senders[rank], message, &note, EMU_MESSAGE_READY);
}

static void wait_for_receiver(uint32_t rank, uint32_t to, int32_t tag, uint64_t sequence)
{
    struct emu_wants wants = {.stage = EMU_STAGE_POSTED, .sequence = sequence};
    struct emu_call call = {.kind = EMU_SEND, .peer = to, .tag = tag, .count = 1};
    sleep_in(rank, EMU_WAIT_MESSAGE, &call, 0, &wants);
}

/* "acts", "gone", "stopped", "all 1 3", "any 2" */
static void assert_need(uint32_t rank, const char *expected)
{
    static const char *const names[] = {"acts", "stopped", "", "gone"};
    char text[64];
    cr_assert_eq(emu_needs_read(&small.segment, presence, &needs), EMU_OK);
    cr_assert(needs.steady);
    const struct emu_need *need = &needs.ranks[rank];
    if (need->stand == EMU_STAND_WAITS)
        snprintf(text, sizeof text, "%s", need->any ? "any" : "all");
    else
        snprintf(text, sizeof text, "%s", names[need->stand]);
    for (uint32_t i = 0; i < need->count; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), " %u",
                 (unsigned)needs.targets[need->first + i]);
    cr_assert_str_eq(text, expected, "rank %u: %s, wanted %s", (unsigned)rank, text, expected);
}

#define WORLD_GROUP 0

Test(needs, who_waits_in_one_call_shares_one_list)
{
    wait_in_barrier(0, 0, 0);
    wait_in_barrier(1, 0, 0);
    wait_in_barrier(3, 0, 0);
    assert_need(3, "all 2");
    cr_assert_eq(needs.target_count, 1);
    cr_assert_eq(needs.ranks[0].shared, 0);
    cr_assert_eq(needs.ranks[1].shared, 1);
    cr_assert_eq(needs.ranks[3].shared, 1);
    cr_assert_eq(needs.ranks[3].call.group, 0);
    sign(2, 0, 0); /* decided: all of them act, and nothing is left of the list */
    assert_need(0, "acts");
    assert_need(3, "acts");
    cr_assert_eq(needs.target_count, 0);
}

Test(needs, who_waits_in_another_call_has_a_list_of_its_own)
{
    uint32_t tp[2];
    cr_assert_eq(emu_roster_group_of(&small.roster, 2, 0, &tp[0]), EMU_OK);
    cr_assert_eq(emu_roster_group_of(&small.roster, 2, 2, &tp[1]), EMU_OK);
    wait_in_barrier(0, tp[0], 0);
    wait_in_barrier(2, tp[1], 0);
    assert_need(0, "all 1");
    assert_need(2, "all 3");
    cr_assert_eq(needs.ranks[2].shared, 0);
}

Test(needs, of_a_collective_are_all_who_have_not_started_it)
{
    assert_need(0, "acts");
    wait_in_barrier(0, WORLD_GROUP, 0);
    assert_need(0, "all 1 2 3");
    wait_in_barrier(2, WORLD_GROUP, 0);
    assert_need(0, "all 1 3");
    assert_need(2, "all 1 3");
    sign(1, WORLD_GROUP, 0);
    assert_need(0, "all 3");
    sign(3, WORLD_GROUP, 0);
    assert_need(0, "acts"); /* complete, though nobody has woken it */
    cr_expect_eq(needs.ranks[2].stand, EMU_STAND_ACTS);
}

/* Signed, and as many rounds announced of `rounds`. */
static void sign_rounds(uint32_t rank, uint64_t rounds, uint64_t announced)
{
    struct emu_ring ring = emu_ring_of(&small.segment, WORLD_GROUP);
    struct emu_call call = {.kind = EMU_BARRIER, .group = WORLD_GROUP};
    struct emu_note note;
    emu_note_of(&call, 0, &note);
    emu_slot_sign(&ring, 0, rank, &note, &(struct emu_offer){.rounds = rounds});
    for (uint64_t round = 0; round < announced; round++)
        emu_slot_announce(&ring, 0, rank, round, rounds);
}

static void sleep_in_rounds(uint32_t rank, uint64_t rounds, uint64_t announced)
{
    struct emu_wants wants = {.count = 0};
    struct emu_call call = {.kind = EMU_BARRIER, .group = WORLD_GROUP};
    sign_rounds(rank, rounds, announced);
    sleep_in(rank, EMU_WAIT_SLOT, &call, 0, &wants);
}

Test(needs, of_a_collective_are_who_signed_and_has_not_deposited)
{
    wait_in_barrier(0, WORLD_GROUP, 0);
    sign(1, WORLD_GROUP, 0);
    sign_rounds(2, 1, 0);
    sign(3, WORLD_GROUP, 0);
    assert_need(0, "all 2");
    presence[2] = EMU_PRESENT_STOPPED;
    assert_need(0, "all 2");
    presence[2] = EMU_ABSENT;
    assert_need(0, "acts"); /* the call will break */
}

Test(needs, of_a_call_that_is_not_judged_are_who_folds)
{
    struct emu_ring ring = emu_ring_of(&small.segment, WORLD_GROUP);
    wait_in_barrier(0, WORLD_GROUP, 0);
    wait_in_barrier(1, WORLD_GROUP, 0);
    sign(2, WORLD_GROUP, 0);
    sign_rounds(3, 1, 0);
    assert_need(0, "all 3"); /* 2 has given what it had to */
    cr_assert(emu_slot_arrive(&ring, 0, 3, 0, 1));
    assert_need(0, "all 3"); /* it came last, and folds */
    emu_slot_judge(&ring, 0, 3, true);
    assert_need(0, "acts");
}

/* Buffers that are lent leave nothing to give: who is awake may work on them. */
Test(needs, of_a_lent_call_are_who_is_awake)
{
    struct emu_ring ring = emu_ring_of(&small.segment, WORLD_GROUP);
    struct emu_call call = {.kind = EMU_BARRIER, .group = WORLD_GROUP};
    struct emu_wants wants = {.count = 0};
    struct emu_note note;
    emu_note_of(&call, 0, &note);
    for (uint32_t rank = 0; rank < 4; rank++) {
        emu_slot_sign(&ring, 0, rank, &note, &(struct emu_offer){.rounds = 2, .lent = true});
        if (emu_slot_arrive(&ring, 0, rank, 0, 2))
            emu_slot_judge(&ring, 0, rank, false);
        if (rank != 2)
            sleep_in(rank, EMU_WAIT_SLOT, &call, 0, &wants);
    }
    cr_assert_eq(emu_slot_decision(&ring, 0), EMU_SLOT_LENT);
    assert_need(0, "all 2");
    sleep_in(2, EMU_WAIT_SLOT, &call, 0, &wants);
    assert_need(0, "acts");
}

Test(needs, of_a_call_of_many_rounds_are_who_is_awake_before_the_last)
{
    sleep_in_rounds(0, 4, 2);
    sign_rounds(1, 4, 2);
    sleep_in_rounds(2, 4, 2);
    sign_rounds(3, 4, 1);
    assert_need(0, "all 1 3"); /* not 2, which sleeps as we do */
    assert_need(2, "all 1 3");
    sleep_in_rounds(1, 4, 0);
    sleep_in_rounds(3, 4, 0);
    assert_need(0, "acts"); /* each has moved as far as it could */
}

Test(needs, of_a_call_that_waits_for_its_turn_are_who_has_not_started_it)
{
    struct emu_wants wants = {.count = 0};
    struct emu_want queued = {EMU_WANT_CALLS, WORLD_GROUP, 0, 2, 9};
    struct emu_call call = {.kind = EMU_BARRIER, .group = WORLD_GROUP};
    emu_wants_add(&wants, &queued);
    for (uint32_t rank = 0; rank < 2; rank++) {
        for (uint64_t index = 0; index < 8; index++)
            sign(rank, WORLD_GROUP, index);
        sleep_in(rank, EMU_WAIT_SLOT, &call, 8, &wants);
    }
    assert_need(0, "all 2 3");
    assert_need(1, "all 2 3");
    set_rest(1, 2);
    assert_need(0, "all 1 2 3"); /* awake: its list may be old, and it acts anyway */
    struct emu_ring ring = emu_ring_of(&small.segment, WORLD_GROUP);
    struct emu_breach breach = {true, 3, EMU_SLOT_PEER, 3};
    emu_ring_break(&ring, &breach);
    assert_need(0, "acts"); /* its turn comes, with an error */
}

Test(needs, of_a_broken_call_are_none)
{
    wait_in_barrier(0, WORLD_GROUP, 0);
    struct emu_ring ring = emu_ring_of(&small.segment, WORLD_GROUP);
    struct emu_breach breach = {true, 0, EMU_SLOT_PEER, 3};
    emu_ring_break(&ring, &breach);
    assert_need(0, "acts");
}

Test(needs, of_a_receive_is_its_sender_until_a_message_is_there)
{
    wait_for_message(1, 0, 7, 0);
    assert_need(1, "all 0");
    send(0, 1, 6);
    assert_need(1, "all 0"); /* another tag */
    send(0, 2, 7);
    assert_need(1, "all 0"); /* for another rank */
    send(0, 1, 7);
    assert_need(1, "acts");
}

Test(needs, of_a_receive_behind_others_is_a_message_for_each)
{
    wait_for_message(1, 0, 7, 1);
    send(0, 1, 7);
    assert_need(1, "all 0");
    send(0, 1, 7);
    assert_need(1, "acts");
}

Test(needs, of_a_send_is_its_receiver_unless_that_waits_with_a_receive)
{
    uint64_t sequence = send(0, 1, 7);
    wait_for_receiver(0, 1, 7, sequence);
    assert_need(0, "all 1");
    wait_in_barrier(1, WORLD_GROUP, 0);
    assert_need(0, "all 1");
    struct emu_wants wants = {.count = 0};
    struct emu_want want = {EMU_WANT_RECVS, 0, 7, 1, 0};
    struct emu_call call = {.kind = EMU_BARRIER, .group = WORLD_GROUP};
    emu_wants_add(&wants, &want);
    sleep_in(1, EMU_WAIT_SLOT, &call, 0, &wants);
    assert_need(0, "acts"); /* its receiver takes the message while it waits in the barrier */
}

Test(needs, of_the_second_send_are_two_receives)
{
    send(0, 1, 7);
    wait_for_receiver(0, 1, 7, send(0, 1, 7));
    wait_for_message(1, 0, 7, 0);
    assert_need(0, "all 1");
    wait_for_message(1, 0, 7, 1);
    assert_need(0, "acts");
}

Test(needs, of_a_taken_message_are_none)
{
    uint64_t sequence = send(0, 1, 7);
    wait_for_receiver(0, 1, 7, sequence);
    struct emu_outbox box = emu_outbox_of(&small.segment, 0);
    emu_message_set(emu_outbox_match(&box, 1, 7), EMU_MESSAGE_TAKEN);
    assert_need(0, "acts");
}

/* A sender without room, and who waits for its message: any receiver of what lies there may help.
 */
Test(needs, of_a_sender_without_room_are_its_receivers)
{
    for (int32_t i = 0; i < EMU_MESSAGES_MAX; i++)
        send(0, i % 2 ? 1 : 3, 100 + i);
    struct emu_wants wants = {.stage = EMU_STAGE_NEW};
    struct emu_want want = {EMU_WANT_SENDS, 2, 7, 1, 0};
    struct emu_call call = {.kind = EMU_SEND, .peer = 2, .tag = 7, .count = 1};
    emu_wants_add(&wants, &want);
    sleep_in(0, EMU_WAIT_MESSAGE, &call, 0, &wants);
    assert_need(0, "any 3 1");
    wait_for_message(2, 0, 7, 0);
    assert_need(2, "any 0 3 1");
    wait_for_message(3, 0, 100, 0);
    assert_need(0, "acts"); /* rank 3 takes one of them */
    assert_need(2, "acts");
}

Test(needs, of_waits_for_who_has_ended_are_none)
{
    presence[1] = EMU_ABSENT;
    wait_for_message(0, 1, 7, 0);
    assert_need(0, "acts");
    assert_need(1, "gone");
    wait_for_receiver(2, 1, 7, send(2, 1, 7));
    assert_need(2, "acts");
}

Test(needs, of_who_is_stopped_or_leaving_are_not_asked)
{
    wait_in_barrier(0, WORLD_GROUP, 0);
    presence[0] = EMU_PRESENT_STOPPED;
    assert_need(0, "stopped");
    presence[0] = EMU_LEAVING;
    assert_need(0, "acts");
}

static void arrive(uint32_t rank, uint64_t step)
{
    struct emu_wants wants = {.count = 0};
    struct emu_call none = {.kind = EMU_BARRIER};
    struct emu_gate *gate = (void *)(small.segment.base + small.segment.gates);
    atomic_store(&gate->arrived[rank].step, step);
    sleep_in(rank, EMU_WAIT_GATE, &none, 0, &wants);
}

Test(needs, at_the_end_of_a_step_are_all_who_have_not_arrived)
{
    arrive(1, 4);
    arrive(3, 4);
    assert_need(1, "all 0 2");
    arrive(0, 4);
    assert_need(3, "all 2");
    presence[2] = EMU_ABSENT;
    assert_need(3, "acts"); /* the auditor is told, and answers */
    presence[2] = EMU_PRESENT;
    arrive(2, 4);
    assert_need(3, "acts"); /* the auditor's turn */
}

Test(needs, of_a_rank_with_more_open_requests_than_fit_are_not_claimed)
{
    struct emu_wants wants = {.count = 0};
    struct emu_call call = {.kind = EMU_BARRIER, .group = WORLD_GROUP};
    for (int32_t tag = 0; tag <= EMU_WANTS_MAX; tag++)
        emu_wants_add(&wants, &(struct emu_want){EMU_WANT_RECVS, 1, tag, 1, 0});
    cr_expect(wants.count == EMU_WANTS_MAX && wants.more);
    sleep_in(0, EMU_WAIT_SLOT, &call, 0, &wants);
    assert_need(0, "acts");
}

Test(needs, are_not_read_from_who_is_awake)
{
    wait_in_barrier(0, WORLD_GROUP, 0);
    set_rest(0, emu_rest_look(&small.segment, 0) - 1);
    assert_need(0, "acts");
    cr_expect(needs.busy, "it is awake in a wait: worth another look");
}
