/* Do the members of a group count up to the same, however many cores they take turns on? One
 * process plays all members, in every rotation of their order. */
#include "seg/slot.h"
#include "small_segment.h"

#include <criterion/criterion.h>
#include <stdio.h>

#define MOST 9

static struct small_segment small;
static struct emu_ring ring;

static void open_ring(uint32_t members, uint32_t cores)
{
    char axes[16];
    snprintf(axes, sizeof axes, "dp=%u", members);
    cr_assert(small_open_on(&small, axes, cores));
    ring = emu_ring_of(&small.segment, 0);
}

static uint32_t rotated(uint32_t i, uint64_t by)
{
    return (uint32_t)((i + by) % ring.size);
}

static void sign(uint64_t index, uint32_t member, uint64_t rounds)
{
    struct emu_call call = {.kind = EMU_ALL_REDUCE, .count = 5};
    struct emu_note note;
    emu_note_of(&call, index, &note);
    emu_slot_sign(&ring, index, member, &note, &(struct emu_offer){.rounds = rounds});
}

/* All come, in an order that turns with the call; the last, and no other, is told so. */
static void all_come(uint64_t index, uint64_t round, uint64_t rounds)
{
    for (uint32_t i = 0; i < ring.size; i++) {
        uint32_t member = rotated(i, index);
        if (round == 0)
            sign(index, member, rounds);
        cr_expect_not(emu_slot_deposited(&ring, index, round));
        bool last = emu_slot_arrive(&ring, index, member, round, rounds);
        cr_expect_eq(last, round == 0 && i + 1 == ring.size, "%u of %u in %u crews", i, ring.size,
                     ring.crews);
        if (last)
            emu_slot_judge(&ring, index, member, false);
    }
    cr_expect(emu_slot_deposited(&ring, index, round));
}

static void all_depart(uint64_t index)
{
    for (uint32_t i = 0; i < ring.size; i++) {
        cr_expect_not(emu_slot_free(&ring, index + EMU_SLOTS));
        emu_slot_depart(&ring, index, rotated(i, index / 3));
    }
    cr_expect(emu_slot_free(&ring, index + EMU_SLOTS));
}

static void all_consume(uint64_t index, uint64_t round)
{
    for (uint32_t i = 0; i < ring.size; i++) {
        cr_expect_not(emu_slot_consumed(&ring, index, round));
        emu_slot_consume(&ring, index, rotated(i, index + round), round);
    }
    cr_expect(emu_slot_consumed(&ring, index, round));
}

static void make_calls(uint32_t members, uint32_t cores)
{
    open_ring(members, cores);
    for (uint64_t index = 0; index < 3 * EMU_SLOTS; index++) {
        all_come(index, 0, 1);
        cr_expect_eq(emu_slot_decision(&ring, index), EMU_SLOT_COMPLETE);
        all_depart(index);
    }
    small_close(&small);
}

Test(crews, of_every_size_on_every_number_of_cores_count_to_the_last, .timeout = 60)
{
    for (uint32_t members = 2; members <= MOST; members++)
        for (uint32_t cores = 1; cores <= MOST + 1; cores++)
            make_calls(members, cores);
}

static void make_long_calls(uint32_t members, uint32_t cores)
{
    open_ring(members, cores);
    for (uint64_t index = 0; index < 2 * EMU_SLOTS; index++) {
        for (uint64_t round = 0; round < 5; round++) {
            if (round >= 2)
                all_consume(index, round - 2);
            all_come(index, round, 5);
            cr_expect_eq(emu_slot_decision(&ring, index),
                         round == 4 ? EMU_SLOT_COMPLETE : EMU_SLOT_MATCHED);
        }
        all_depart(index);
    }
    small_close(&small);
}

Test(crews, count_every_round_of_a_long_call, .timeout = 60)
{
    for (uint32_t members = 2; members <= MOST; members++)
        for (uint32_t cores = 1; cores <= 4; cores++)
            make_long_calls(members, cores);
}

/* dead: who is gone. It has announced call 0; of call 1 it has announced nothing. */
static void lose(uint32_t dead)
{
    open_ring(5, 2);
    for (uint32_t member = 0; member < 5; member++)
        if (member == dead || member < 2) {
            sign(0, member, 1);
            emu_slot_announce(&ring, 0, member, 0, 1);
        }
    uint32_t alone = dead == 0 ? 1 : 0; /* it waits in call 1; nobody else has come there */
    sign(1, alone, 1);
    emu_slot_announce(&ring, 1, alone, 0, 1);
    emu_segment_fail_rank(&small.segment, dead);
    cr_expect_eq(emu_slot_decision(&ring, 0), EMU_SLOT_OPEN, "others may still come");
    cr_expect_eq(emu_slot_decision(&ring, 1), EMU_SLOT_PEER, "%u", dead);
    for (uint32_t member = 2; member < 5; member++)
        if (member != dead) {
            sign(0, member, 1);
            emu_slot_announce(&ring, 0, member, 0, 1);
        }
    cr_expect_eq(emu_slot_decision(&ring, 0), EMU_SLOT_COMPLETE, "%u", dead);
    small_close(&small);
}

Test(crews, of_a_gone_member_break_the_calls_it_had_not_announced, .timeout = 60)
{
    for (uint32_t dead = 0; dead < 5; dead++)
        lose(dead);
}

/* Members 0, 2, 4 take turns on one core, 1 and 3 on the other. */
Test(crews, tell_when_nobody_of_their_core_is_missing, .timeout = 60)
{
    static const uint32_t order[] = {2, 1, 0, 4, 3};
    static const bool abroad[5][2] = {
        {false, false}, {false, false}, {false, false}, {true, false}, {true, true}};
    open_ring(5, 2);
    for (uint32_t i = 0; i < 5; i++) {
        sign(0, order[i], 1);
        emu_slot_announce(&ring, 0, order[i], 0, 1);
        for (uint32_t member = 0; member < 5; member++)
            cr_expect_eq(emu_slot_waits_abroad(&ring, 0, member), abroad[i][member % 2], "%u %u", i,
                         member);
    }
    small_close(&small);
    open_ring(2, 2);
    sign(0, 0, 1);
    emu_slot_announce(&ring, 0, 0, 0, 1);
    cr_expect_not(emu_slot_waits_abroad(&ring, 0, 0), "a core of its own");
    small_close(&small);
}
