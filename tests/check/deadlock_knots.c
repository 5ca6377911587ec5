/* Who is deadlocked, and which of them are the cause? Hand-made needs, and random ones against the
 * definition written out. */
#include "check/needs_maker.h"

#include <criterion/criterion.h>
#include <stdio.h>

static struct needs_maker maker;
static struct emu_deadlock deadlock;

static void begin(void)
{
    make_needs(&maker, 8);
    cr_assert_eq(emu_deadlock_init(&deadlock, NEEDS_WORLD), EMU_OK);
    deadlock.world = 8;
}

static void end(void)
{
    emu_deadlock_finish(&deadlock);
}

TestSuite(check_deadlock, .init = begin, .fini = end, .timeout = 20);

static void solve(void)
{
    cr_assert_eq(emu_deadlock_reach(&deadlock, &maker.needs, true), EMU_OK);
    emu_deadlock_tie(&deadlock, &maker.needs);
}

/* "0:0* 3:0" : rank 0 is of knot 0 and its core, rank 3 waits for it. */
static void assert_knots(const char *expected)
{
    char text[256] = "";
    for (uint32_t rank = 0; rank < deadlock.world; rank++)
        if (deadlock.knot[rank] != EMU_NO_KNOT)
            snprintf(text + strlen(text), sizeof text - strlen(text), "%s%u:%u%s", *text ? " " : "",
                     (unsigned)rank, (unsigned)deadlock.knot[rank], deadlock.core[rank] ? "*" : "");
    cr_assert_str_eq(text, expected);
}

Test(check_deadlock, is_none_where_somebody_acts_for_all)
{
    for (uint32_t rank = 1; rank < 8; rank++)
        make_wait(&maker, rank, false, 0, -1);
    make_wait(&maker, 7, false, 1, 2, 3, -1);
    solve();
    cr_expect_eq(deadlock.dead, 0);
    cr_expect_eq(deadlock.knots, 0);
    assert_knots("");
}

Test(check_deadlock, is_a_ring)
{
    for (uint32_t rank = 0; rank < 4; rank++)
        make_wait(&maker, rank, false, (int)(rank + 1) % 4, -1);
    solve();
    cr_expect_eq(deadlock.dead, 4);
    assert_knots("0:0* 1:0* 2:0* 3:0*");
}

Test(check_deadlock, of_one_awaited_rank_suffices_where_all_must_act)
{
    make_wait(&maker, 0, false, 1, 5, -1); /* 5 acts, 1 does not */
    make_wait(&maker, 1, false, 0, -1);
    solve();
    assert_knots("0:0* 1:0*");
}

Test(check_deadlock, is_none_where_one_that_acts_suffices)
{
    make_wait(&maker, 0, true, 1, 5, -1);
    make_wait(&maker, 1, false, 0, -1);
    solve();
    cr_expect_eq(deadlock.dead, 0);
}

Test(check_deadlock, of_all_that_would_suffice_is_one)
{
    make_wait(&maker, 0, true, 1, 2, -1);
    make_wait(&maker, 1, false, 2, -1);
    make_wait(&maker, 2, false, 1, -1);
    solve();
    assert_knots("0:0 1:0* 2:0*");
}

Test(check_deadlock, of_a_rank_with_itself)
{
    make_wait(&maker, 3, false, 3, -1);
    solve();
    assert_knots("3:0*");
}

Test(check_deadlock, knots_are_causes_and_the_others_follow)
{
    make_wait(&maker, 1, false, 2, -1);
    make_wait(&maker, 2, false, 1, -1);
    make_wait(&maker, 5, false, 6, -1);
    make_wait(&maker, 6, false, 5, -1);
    make_wait(&maker, 0, false, 5, -1);
    make_wait(&maker, 3, false, 0, -1);
    make_wait(&maker, 7, false, 3, 1, -1); /* for both: the lower one */
    solve();
    cr_expect_eq(deadlock.knots, 2);
    assert_knots("0:1 1:0* 2:0* 3:1 5:1* 6:1* 7:0");
}

Test(check_deadlock, two_rings_with_one_arrow_are_one_cause)
{
    make_wait(&maker, 0, false, 1, -1);
    make_wait(&maker, 1, false, 0, 2, -1);
    make_wait(&maker, 2, false, 3, -1);
    make_wait(&maker, 3, false, 2, -1);
    solve();
    assert_knots("0:0 1:0 2:0* 3:0*");
}

Test(check_deadlock, waiting_for_a_stopped_rank_is_none)
{
    maker.ranks[2].stand = EMU_STAND_STOPPED;
    make_wait(&maker, 0, false, 2, -1);
    make_wait(&maker, 1, false, 0, -1);
    solve();
    cr_expect_eq(deadlock.dead, 0);
    cr_assert_eq(emu_deadlock_reach(&deadlock, &maker.needs, false), EMU_OK);
    cr_expect_eq(deadlock.dead, 2, "if it is never continued they wait for ever");
    cr_expect(!deadlock.acts[2] && deadlock.acts[3]);
}

Test(check_deadlock, of_who_has_ended_is_not_asked)
{
    maker.ranks[4].stand = EMU_STAND_GONE;
    make_wait(&maker, 0, false, 1, -1);
    make_wait(&maker, 1, false, 0, -1);
    solve();
    cr_expect(!deadlock.acts[4] && !emu_deadlock_holds(&deadlock, &maker.needs, 4));
    assert_knots("0:0* 1:0*");
}

/* The definition: take the greatest set of waiting ranks none of which can be helped from outside
 * it, by asking each set (2^ranks of them). */
static uint32_t dead_by_definition(uint32_t world)
{
    uint32_t best = 0;
    for (uint32_t set = 1; set < 1u << world; set++) {
        bool closed = true;
        for (uint32_t rank = 0; rank < world && closed; rank++) {
            const struct emu_need *need = &maker.ranks[rank];
            if (!(set >> rank & 1))
                continue;
            uint32_t inside = 0;
            for (uint32_t i = 0; i < need->count; i++)
                inside += set >> maker.targets[need->first + i] & 1;
            closed =
                need->stand == EMU_STAND_WAITS && (need->any ? inside == need->count : inside > 0);
        }
        if (closed)
            best |= set; /* such sets are closed under union */
    }
    return best;
}

static bool reaches(uint32_t from, uint32_t to, uint32_t dead, uint32_t *seen)
{
    const struct emu_need *need = &maker.ranks[from];
    *seen |= 1u << from;
    for (uint32_t i = 0; i < need->count; i++) {
        uint32_t target = maker.targets[need->first + i];
        if (!(dead >> target & 1))
            continue;
        if (target == to || (!(*seen >> target & 1) && reaches(target, to, dead, seen)))
            return true;
    }
    return false;
}

/* In a knot: whoever it waits for, directly or through others, waits for it too. */
static bool is_core_by_definition(uint32_t rank, uint32_t dead)
{
    for (uint32_t other = 0; other < 8; other++) {
        uint32_t there = 0, back = 0;
        if ((dead >> other & 1) && reaches(rank, other, dead, &there) && other != rank &&
            !reaches(other, rank, dead, &back))
            return false;
    }
    return true;
}

static void draw_needs(uint64_t *random)
{
    make_needs(&maker, 8);
    for (uint32_t rank = 0; rank < 8; rank++) {
        *random = *random * UINT64_C(6364136223846793005) + 1442695040888963407u;
        uint32_t bits = (uint32_t)(*random >> 32);
        if (bits % 8 == 0)
            continue;
        const struct emu_need *earlier = &maker.ranks[bits >> 13 & 7];
        uint32_t owner = (uint32_t)(earlier - maker.ranks);
        if (bits >> 11 & 1 && owner < rank && earlier->count > 0 && !earlier->shared) {
            maker.ranks[rank] = *earlier; /* they wait in one call */
            maker.ranks[rank].shared = owner + 1;
            continue;
        }
        int first = (int)(bits >> 3 & 7), second = (int)(bits >> 6 & 7);
        bool two = bits >> 9 & 1 && first != second;
        make_wait(&maker, rank, bits >> 10 & 1, first, two ? second : -1, -1);
    }
}

Test(check_deadlock, agrees_with_its_definition)
{
    uint64_t random = 4711;
    uint32_t found = 0;
    for (int run = 0; run < 3000; run++) {
        draw_needs(&random);
        uint32_t dead = dead_by_definition(8);
        solve();
        for (uint32_t rank = 0; rank < 8; rank++) {
            bool held = emu_deadlock_holds(&deadlock, &maker.needs, rank);
            cr_assert_eq(held, dead >> rank & 1, "run %d rank %u", run, (unsigned)rank);
            cr_assert_eq(deadlock.knot[rank] != EMU_NO_KNOT, held);
            cr_assert_eq(deadlock.core[rank], held && is_core_by_definition(rank, dead),
                         "run %d rank %u", run, (unsigned)rank);
            found += held;
        }
    }
    cr_assert_gt(found, 1000, "the draw must not be all too easy");
}

Test(check_deadlock, of_a_long_chain_needs_no_deep_stack)
{
    static struct emu_need ranks[100000];
    static uint32_t targets[100000];
    struct emu_deadlock large;
    struct emu_needs needs = {
        .world = 100000, .ranks = ranks, .targets = targets, .target_count = 100000};
    for (uint32_t rank = 0; rank < needs.world; rank++) {
        ranks[rank] = (struct emu_need){.stand = EMU_STAND_WAITS, .first = rank, .count = 1};
        targets[rank] = rank + 1 < needs.world ? rank + 1 : rank - 1;
    }
    cr_assert_eq(emu_deadlock_init(&large, needs.world), EMU_OK);
    cr_assert_eq(emu_deadlock_reach(&large, &needs, true), EMU_OK);
    emu_deadlock_tie(&large, &needs);
    cr_expect_eq(large.dead, needs.world);
    cr_expect_eq(large.knots, 1);
    cr_expect(large.core[needs.world - 1] && large.core[needs.world - 2] && !large.core[0]);
    emu_deadlock_finish(&large);
}
