#include "run/untold.h"

#include "seg/slot.h"

static const struct emu_recorded_call *refused_call(const struct emu_rank_seen *seen)
{
    for (uint32_t i = seen->call_count; i > 0; i--) {
        const struct emu_recorded_call *call = &seen->calls[i - 1];
        if (call->ended_ns == 0 || (call->status != EMU_EMISMATCH && call->status != EMU_EPEER))
            continue;
        return call;
    }
    return NULL;
}

/* How the calls of this group broke, as its slots say: `near` is a call that may have. */
static bool breach_of(const struct emu_ring *ring, uint64_t near, uint32_t rank,
                      struct emu_breach *breach)
{
    *breach = emu_ring_breach(ring);
    if (breach->broken)
        return true;
    if (emu_slot_decision(ring, near) != EMU_SLOT_MISMATCH)
        return false;
    *breach = (struct emu_breach){true, near, EMU_SLOT_MISMATCH, rank};
    return true;
}

/* What was asked for and what was called may differ: then it was another group of the rank, or
 * another call; the last ones that it signed there. */
static bool search(const struct emu_segment *segment, const struct emu_recorded_call *refused,
                   uint32_t rank, struct emu_ring *ring, struct emu_breach *breach)
{
    *ring = emu_ring_of(segment, refused->call.group);
    if (breach_of(ring, refused->call.index, rank, breach))
        return true;
    for (uint32_t f = 0; f < segment->roster->family_count; f++) {
        uint32_t group;
        if (emu_roster_group_of(segment->roster, f, rank, &group) != EMU_OK)
            continue;
        *ring = emu_ring_of(segment, group);
        uint32_t member = (uint32_t)emu_group_index(&ring->members, rank);
        uint64_t next = emu_ring_next_of(ring, member);
        if (breach_of(ring, next, rank, breach) ||
            (next > 0 && breach_of(ring, next - 1, rank, breach)))
            return true;
    }
    return false;
}

bool emu_untold_incident(const struct emu_segment *segment, const struct emu_rank_seen *seen,
                         uint32_t rank, struct emu_incident *incident)
{
    const struct emu_recorded_call *refused = refused_call(seen);
    struct emu_ring ring;
    struct emu_breach breach;
    if (!refused || refused->call.group >= segment->roster->group_count ||
        !search(segment, refused, rank, &ring, &breach))
        return false;
    bool peer = breach.cause == EMU_SLOT_PEER;
    *incident = (struct emu_incident){
        .cause = peer ? EMU_INCIDENT_PEER : EMU_INCIDENT_MISMATCH,
        .status = peer ? EMU_EPEER : EMU_EMISMATCH,
        .rank = breach.rank,
        .group = ring.group,
        .index = breach.index,
        .enabled_ns = refused->ended_ns,
        .at_ns = refused->ended_ns,
    };
    return true;
}
