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

bool emu_untold_incident(const struct emu_segment *segment, const struct emu_rank_seen *seen,
                         uint32_t rank, struct emu_incident *incident)
{
    const struct emu_recorded_call *refused = refused_call(seen);
    if (!refused || refused->call.group >= segment->roster->group_count)
        return false;
    struct emu_ring ring = emu_ring_of(segment, refused->call.group);
    struct emu_breach breach = emu_ring_breach(&ring);
    if (!breach.broken && refused->status == EMU_EPEER)
        return false;
    if (!breach.broken)
        breach = (struct emu_breach){true, refused->call.index, EMU_SLOT_MISMATCH, rank};
    bool peer = breach.cause == EMU_SLOT_PEER;
    *incident = (struct emu_incident){
        .cause = peer ? EMU_INCIDENT_PEER : EMU_INCIDENT_MISMATCH,
        .status = peer ? EMU_EPEER : EMU_EMISMATCH,
        .rank = breach.rank,
        .group = refused->call.group,
        .index = breach.index,
        .enabled_ns = refused->ended_ns,
        .at_ns = refused->ended_ns,
    };
    return true;
}
