/* Where the slots, entries and deposits of a group lie. Pure address arithmetic. */
#include "base/checked.h"
#include "seg/slot.h"

/* Members that take turns on cores count up in crews, one for each core, whose counters stay in its
 * cache; member i is of crew i modulo their number, as rank r is bound to core r modulo theirs. */
static uint32_t crews_of(uint32_t size, uint32_t cores)
{
    if (size <= cores || cores == 1)
        return 0;
    return cores < EMU_CREWS_MAX ? cores : EMU_CREWS_MAX;
}

static uint64_t slot_bytes_of(uint32_t size, uint32_t crews)
{
    return sizeof(struct emu_slot) + (uint64_t)crews * sizeof(struct emu_slot_crew) +
           (uint64_t)size * sizeof(struct emu_slot_entry);
}

bool emu_ring_bytes(uint32_t size, uint32_t cores, uint64_t *bytes)
{
    uint64_t slots;
    return emu_mul_fits(slot_bytes_of(size, crews_of(size, cores)), EMU_SLOTS, &slots) &&
           emu_add_fits(slots, sizeof(struct emu_group_head), bytes);
}

/* Groups lie family by family, all groups of a family being of one size. */
static uint64_t group_offset(const struct emu_segment *segment, uint32_t family, uint32_t group)
{
    const struct emu_family *families = segment->roster->families;
    uint64_t offset = segment->groups;
    uint64_t bytes = 0;
    bool fits = true; /* emu_segment_plan has checked the sum */
    for (uint32_t f = 0; f < family; f++) {
        fits = fits && emu_ring_bytes(families[f].group_size, segment->ways.cores, &bytes);
        offset += bytes * families[f].group_count;
    }
    fits = fits && emu_ring_bytes(families[family].group_size, segment->ways.cores, &bytes);
    return fits ? offset + bytes * (group - families[family].first_group) : 0;
}

struct emu_ring emu_ring_of(const struct emu_segment *segment, uint32_t group)
{
    uint32_t family = emu_roster_family_of(segment->roster, group);
    struct emu_ring ring = {
        .segment = segment,
        .members = emu_roster_group(segment->roster, group),
        .group = group,
        .size = segment->roster->families[family].group_size,
        .family = family,
        .chunk_bytes =
            segment->stage_bytes / ((uint64_t)segment->roster->family_count * EMU_SLOTS * 2),
    };
    ring.crews = crews_of(ring.size, segment->ways.cores);
    ring.slot_bytes = slot_bytes_of(ring.size, ring.crews);
    ring.head = (void *)(segment->base + group_offset(segment, family, group));
    return ring;
}

/* The stage: for each family and slot one area of two chunks a rank, cut among the groups. */
static unsigned char *area_of(const struct emu_ring *ring, uint64_t index)
{
    const struct emu_segment *segment = ring->segment;
    uint64_t area = (uint64_t)ring->family * EMU_SLOTS + index % EMU_SLOTS;
    uint64_t group = ring->group - segment->roster->families[ring->family].first_group;
    return segment->base + segment->stages +
           (area * segment->world + group * ring->size) * 2 * ring->chunk_bytes;
}

#define STRIDE_LEAST UINT64_C(128)

/* From one deposit to the next: a power of two, as the chunk is. */
static uint64_t stride_of(const struct emu_ring *ring, uint64_t bytes)
{
    if (bytes > ring->chunk_bytes / 2)
        return ring->chunk_bytes;
    uint64_t stride = STRIDE_LEAST;
    while (stride < bytes)
        stride *= 2;
    return stride;
}

/* The deposits of a call lie side by side: a fold over thousands of members reads few pages.
 *
 *   round 0, stride s, of n members:  [n s, 2 n s)    of different strides: apart, so members that
 *                                                     do not agree on `bytes` deposit apart too
 *   round 1, and all odd ones:        [0, n s)        when all have agreed
 *   the result of who came last:      [0, s)          likewise
 */
unsigned char *emu_ring_deposit(const struct emu_ring *ring, uint64_t index, uint32_t member,
                                uint64_t round, uint64_t bytes)
{
    if (bytes <= EMU_INLINE_BYTES)
        return emu_ring_entry(ring, index, member)->inline_bytes;
    uint64_t first = round % 2 == 0 ? ring->size : 0;
    return area_of(ring, index) + (first + member) * stride_of(ring, bytes);
}

unsigned char *emu_ring_result(const struct emu_ring *ring, uint64_t index)
{
    return area_of(ring, index);
}
