#include "seg/slot_crew.h"

#include "base/hot.h"

/* Members of a crew, by the rule of ring.c. */
static uint64_t crew_size(const struct emu_ring *ring, uint32_t crew)
{
    return ring->size / ring->crews + (crew < ring->size % ring->crews);
}

static uint64_t parties(const struct emu_ring *ring)
{
    return ring->crews ? ring->crews : ring->size;
}

static bool count_in(_Atomic uint64_t *came, uint64_t wanted)
{
    return atomic_fetch_add_explicit(came, 1, memory_order_acq_rel) + 1 == wanted;
}

EMU_HOT bool emu_slot_crew_come(const struct emu_ring *ring, uint64_t index, uint32_t member,
                                unsigned turn, uint64_t time)
{
    if (ring->crews) {
        uint32_t crew = member % ring->crews;
        if (!count_in(&emu_ring_crew(ring, index, crew)->came[turn], crew_size(ring, crew) * time))
            return false;
    }
    return count_in(&emu_ring_slot(ring, index)->came[turn], parties(ring) * time);
}

EMU_HOT bool emu_slot_crew_have_come(const struct emu_ring *ring, uint64_t index, unsigned turn,
                                     uint64_t time)
{
    const struct emu_slot *slot = emu_ring_slot(ring, index);
    return atomic_load_explicit(&slot->came[turn], memory_order_acquire) >= parties(ring) * time;
}

bool emu_slot_waits_abroad(const struct emu_ring *ring, uint64_t index, uint32_t member)
{
    if (!ring->crews)
        return false;
    uint32_t crew = member % ring->crews;
    const struct emu_slot_crew *own = emu_ring_crew(ring, index, crew);
    return atomic_load_explicit(&own->came[EMU_TURN_DEPOSITED], memory_order_acquire) >=
           crew_size(ring, crew);
}

bool emu_slot_crew_is_used(const struct emu_ring *ring, uint64_t index)
{
    uint64_t came = 0;
    for (uint32_t crew = 0; crew < ring->crews; crew++)
        came += atomic_load_explicit(&emu_ring_crew(ring, index, crew)->came[EMU_TURN_DEPOSITED],
                                     memory_order_acquire);
    const struct emu_slot *slot = emu_ring_slot(ring, index);
    return came + atomic_load_explicit(&slot->came[EMU_TURN_DEPOSITED], memory_order_acquire) > 0;
}

/* relaxed: published by the change of the word that follows */
static void start_over(_Atomic uint64_t *came)
{
    for (unsigned turn = 0; turn < EMU_TURNS; turn++)
        atomic_store_explicit(&came[turn], 0, memory_order_relaxed);
}

void emu_slot_crew_start_over(const struct emu_ring *ring, uint64_t index)
{
    for (uint32_t crew = 0; crew < ring->crews; crew++)
        start_over(emu_ring_crew(ring, index, crew)->came);
    start_over(emu_ring_slot(ring, index)->came);
}
