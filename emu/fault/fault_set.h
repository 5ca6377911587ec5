/* Which faults does this run carry, and which of them have acted?
 *
 * One set for all ranks, made before they are forked. `fired` lies in memory that the ranks share
 * with the launcher: one counter for each fault and rank, written by that rank alone (relaxed: it
 * is read once the rank is gone, and the kernel's word of that orders it). NULL: nobody counts.
 */
#ifndef EMU_FAULT_FAULT_SET_H
#define EMU_FAULT_FAULT_SET_H

#include "fault/fault.h"

#include <stdatomic.h>

struct emu_fault_set {
    const struct emu_fault *faults; /* borrowed */
    size_t count;                   /* at most EMU_FAULTS_MAX */
    uint32_t world;
    _Atomic uint32_t *fired; /* count * world, zeroed */
};

/* The fault acts on this rank: count it, before it does. */
static inline void emu_fault_set_fire(const struct emu_fault_set *set, size_t fault, uint32_t rank)
{
    if (set->fired)
        atomic_fetch_add_explicit(&set->fired[fault * set->world + rank], 1, memory_order_relaxed);
}

/* How often has the fault acted on this rank? */
static inline uint32_t emu_fault_set_fired(const struct emu_fault_set *set, size_t fault,
                                           uint32_t rank)
{
    return set->fired
               ? atomic_load_explicit(&set->fired[fault * set->world + rank], memory_order_relaxed)
               : 0;
}

#endif
