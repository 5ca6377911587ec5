/* One process plays all members of a slot: every arrow of the picture in seg/slot.h. */
#include "seg/board_words.h"
#include "seg/incident.h"
#include "seg/slot.h"
#include "small_segment.h"

#include <criterion/criterion.h>

static struct small_segment small;
static struct emu_ring ring;

static void open_ring(void)
{
    cr_assert(small_open(&small, "dp=3"));
    ring = emu_ring_of(&small.segment, 0);
}

static void close_ring(void)
{
    small_close(&small);
}

TestSuite(slot, .init = open_ring, .fini = close_ring, .timeout = 10);

static void sign(uint64_t index, uint32_t member, uint64_t count, uint64_t rounds)
{
    struct emu_call call = {.kind = EMU_ALL_REDUCE, .count = count};
    struct emu_note note;
    emu_note_of(&call, index, &note);
    emu_slot_sign(&ring, index, member, &note, &(struct emu_offer){.rounds = rounds});
    emu_slot_announce(&ring, index, member, 0, rounds);
}

static void all_do_call(uint64_t index)
{
    for (uint32_t m = 0; m < 3; m++) {
        cr_expect(emu_slot_free(&ring, index));
        cr_expect_eq(emu_slot_decision(&ring, index), EMU_SLOT_OPEN);
        sign(index, m, 5, 1);
    }
    cr_expect_eq(emu_slot_decision(&ring, index), EMU_SLOT_COMPLETE);
    for (uint32_t m = 0; m < 3; m++) {
        cr_expect_not(emu_slot_free(&ring, index + EMU_SLOTS));
        emu_slot_depart(&ring, index, m);
    }
    cr_expect(emu_slot_free(&ring, index + EMU_SLOTS));
    cr_expect_eq(emu_slot_decision(&ring, index), EMU_SLOT_COMPLETE, "also when it has moved on");
}

Test(slot, completes_and_is_reused_through_many_generations)
{
    for (uint64_t index = 0; index < 40 * EMU_SLOTS; index++)
        all_do_call(index);
}

Test(slot, of_many_rounds_completes_with_the_last_deposit_of_all)
{
    for (uint32_t m = 0; m < 3; m++)
        sign(0, m, 5, 3);
    cr_expect_eq(emu_slot_decision(&ring, 0), EMU_SLOT_MATCHED);
    for (uint32_t m = 0; m < 3; m++)
        emu_slot_announce(&ring, 0, m, 1, 3);
    cr_expect(emu_slot_deposited(&ring, 0, 1) && !emu_slot_deposited(&ring, 0, 2));
    for (uint32_t m = 0; m < 3; m++) {
        cr_expect_not(emu_slot_consumed(&ring, 0, 0));
        emu_slot_consume(&ring, 0, m, 0);
    }
    cr_expect(emu_slot_consumed(&ring, 0, 0));
    for (uint32_t m = 0; m < 3; m++) {
        cr_expect_eq(emu_slot_decision(&ring, 0), EMU_SLOT_MATCHED);
        emu_slot_announce(&ring, 0, m, 2, 3);
    }
    cr_expect_eq(emu_slot_decision(&ring, 0), EMU_SLOT_COMPLETE);
}

Test(slot, with_unequal_signatures_breaks_the_group_from_there_on)
{
    sign(0, 0, 5, 1);
    sign(0, 1, 5, 1);
    sign(1, 0, 5, 1); /* a later call, already open */
    sign(0, 2, 6, 1);
    cr_expect_eq(emu_slot_decision(&ring, 0), EMU_SLOT_MISMATCH);
    cr_expect_eq(emu_slot_decision(&ring, 1), EMU_SLOT_MISMATCH);
    struct emu_breach breach = emu_ring_breach(&ring);
    cr_expect(breach.broken && breach.index == 0 && breach.cause == EMU_SLOT_MISMATCH);
    cr_expect_eq(emu_incident_count(&small.segment), 1);
}

Test(slot, a_gone_rank_breaks_only_calls_it_had_not_deposited)
{
    sign(0, 1, 5, 1); /* rank 1 is done with call 0, not with 1 */
    sign(0, 0, 5, 1);
    sign(1, 0, 5, 1);
    emu_segment_fail_rank(&small.segment, 1);
    cr_expect_eq(emu_slot_decision(&ring, 0), EMU_SLOT_OPEN);
    cr_expect_eq(emu_slot_decision(&ring, 1), EMU_SLOT_PEER);
    sign(0, 2, 5, 1);
    cr_expect_eq(emu_slot_decision(&ring, 0), EMU_SLOT_COMPLETE);
    struct emu_breach breach = emu_ring_breach(&ring);
    cr_expect(breach.index == 1 && breach.rank == 1);
    struct emu_incident incident;
    cr_assert(emu_incident_read(&small.segment, 0, &incident));
    cr_expect(incident.index == 1 && incident.rank == 1 && incident.cause == EMU_INCIDENT_PEER);
}

Test(slot, a_gone_rank_is_no_incident_while_nobody_misses_it)
{
    all_do_call(0);
    emu_segment_fail_rank(&small.segment, 2);
    emu_segment_fail_rank(&small.segment, 2);
    cr_expect_eq(emu_incident_count(&small.segment), 0);
    sign(1, 0, 5, 1);
    emu_ring_meet_breach(&ring, 1);
    cr_expect_eq(emu_slot_decision(&ring, 1), EMU_SLOT_PEER);
    cr_expect_eq(emu_incident_count(&small.segment), 1);
    emu_ring_meet_breach(&ring, 2);
    cr_expect_eq(emu_incident_count(&small.segment), 1);
}

/* The last arriver died after it had announced and before it decided. */
Test(slot, that_all_had_announced_is_completed_by_the_launcher)
{
    sign(0, 0, 5, 1);
    sign(0, 1, 5, 1);
    struct emu_call call = {.kind = EMU_ALL_REDUCE, .count = 5};
    struct emu_note note;
    emu_note_of(&call, 0, &note);
    emu_slot_sign(&ring, 0, 2, &note, &(struct emu_offer){.rounds = 1});
    cr_expect(emu_slot_arrive(&ring, 0, 2, 0, 1));
    emu_segment_fail_rank(&small.segment, 2);
    cr_expect_eq(emu_slot_decision(&ring, 0), EMU_SLOT_COMPLETE);
}

Test(slot, a_long_call_overtaken_by_short_ones_is_where_its_dead_rank_breaks_the_group)
{
    for (uint32_t m = 0; m < 3; m++)
        sign(0, m, 5, 3);
    for (uint32_t m = 0; m < 3; m++)
        sign(1, m, 5, 1);
    cr_expect_eq(emu_ring_next_of(&ring, 1), 0);
    emu_segment_fail_rank(&small.segment, 1);
    cr_expect_eq(emu_slot_decision(&ring, 0), EMU_SLOT_PEER);
    cr_expect_eq(emu_slot_decision(&ring, 1), EMU_SLOT_COMPLETE);
    cr_expect_eq(emu_ring_breach(&ring).index, 0);
}

Test(slot, signatures_of_absent_members_are_absent)
{
    struct emu_member_view members[3];
    sign(0, 1, 5, 1);
    emu_slot_members(&small.segment, 0, 0, members);
    cr_expect(!members[0].has_call && members[1].has_call && !members[2].has_call);
    cr_expect(members[2].rank == 2 && members[1].call.count == 5);
    emu_slot_members(&small.segment, 0, EMU_SLOTS, members);
    cr_expect_not(members[1].has_call, "another call of the same slot");
}

Test(slot, an_aborted_word_goes_on_working)
{
    atomic_fetch_or(emu_slot_word(&ring, 0), EMU_WORD_ABORT);
    all_do_call(0);
    cr_expect(atomic_load(emu_slot_word(&ring, 0)) & EMU_WORD_ABORT);
}
