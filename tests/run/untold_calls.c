/* A call is known as broken even before anybody has told. */
#include "run/untold.h"
#include "seg/slot.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

TestSuite(run_untold, .timeout = 20);

static struct emu_mesh mesh;
static struct emu_roster roster;
static struct emu_segment segment;
static struct emu_recorded_call call;
static struct emu_rank_seen seen;
static struct emu_incident incident;

static void make_segment(void)
{
    struct emu_mesh_error error;
    struct emu_segment_params params = {.roster = &roster, .arena_bytes = 4096};
    cr_assert_eq(emu_mesh_parse("dp=3", &mesh, &error), EMU_OK);
    emu_roster_init(&roster, &mesh);
    cr_assert_eq(emu_segment_plan(&params, &segment), EMU_OK);
    void *memory = aligned_alloc(4096, segment.bytes);
    memset(memory, 0, segment.bytes);
    emu_segment_init(&segment, memory);
    call = (struct emu_recorded_call){
        .call = {.kind = EMU_BARRIER, .group = 1, .index = 3}, .ended_ns = 77, .status = EMU_OK};
    seen = (struct emu_rank_seen){.calls = &call, .call_count = 1};
}

static void break_call(enum emu_decision cause)
{
    struct emu_ring ring = emu_ring_of(&segment, 1);
    struct emu_breach breach = {true, 2, cause, 1};
    emu_ring_break(&ring, &breach);
}

Test(run_untold, a_call_that_went_well_has_no_incident, .init = make_segment)
{
    break_call(EMU_SLOT_PEER);
    cr_assert_not(emu_untold_incident(&segment, &seen, 0, &incident));
}

Test(run_untold, a_published_decision_is_an_incident, .init = make_segment)
{
    call.status = EMU_EPEER;
    cr_assert_not(emu_untold_incident(&segment, &seen, 0, &incident), "nothing is published yet");
    break_call(EMU_SLOT_PEER);
    cr_assert(emu_untold_incident(&segment, &seen, 0, &incident));
    cr_assert(incident.cause == EMU_INCIDENT_PEER && incident.status == EMU_EPEER);
    cr_assert(incident.rank == 1 && incident.group == 1 && incident.index == 2);
    cr_assert_eq(incident.enabled_ns, 77);
}

/* The moment between the decision in the slot and the mark on the group. */
static void disagree(void)
{
    struct emu_ring ring = emu_ring_of(&segment, 1);
    for (uint32_t member = 0; member < 3; member++) {
        struct emu_note note = {.index = 3, .count = member, .group = 1};
        emu_slot_sign(&ring, 3, member, &note, &(struct emu_offer){.rounds = 1});
        emu_slot_announce(&ring, 3, member, 0, 1);
    }
    atomic_store(&ring.head->broken, 0);
}

Test(run_untold, a_mismatch_is_known_before_the_group_is_marked, .init = make_segment)
{
    call.status = EMU_EMISMATCH;
    cr_assert_not(emu_untold_incident(&segment, &seen, 2, &incident), "no slot says so");
    disagree();
    cr_assert(emu_untold_incident(&segment, &seen, 2, &incident));
    cr_assert(incident.cause == EMU_INCIDENT_MISMATCH && incident.index == 3);
}

Test(run_untold, what_is_no_group_is_left_alone, .init = make_segment)
{
    call.status = EMU_EMISMATCH;
    call.call.group = EMU_GROUP_SELF;
    cr_assert_not(emu_untold_incident(&segment, &seen, 0, &incident));
    call.call.group = 4711;
    cr_assert_not(emu_untold_incident(&segment, &seen, 0, &incident));
}
