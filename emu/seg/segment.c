#include "seg/segment.h"

#include "base/checked.h"
#include "os/cpu.h"
#include "os/futex.h"
#include "seg/board_words.h"
#include "seg/gate_words.h"
#include "seg/header.h"
#include "seg/incident_words.h"
#include "seg/outbox.h"
#include "seg/recorder.h"
#include "seg/sites.h"
#include "seg/slot.h"

#include <limits.h>

/* The stages of all ranks together stay near this, so that a mesh of thousands can be reserved. */
#define STAGES_WANTED (UINT64_C(1) << 28)
#define CHUNK_MAX UINT64_C(65536)
#define CHUNK_MIN UINT64_C(256) /* so small only where ranks times families exceed 65536 */

static uint64_t chunk_bytes_of(uint64_t world, uint64_t families)
{
    uint64_t chunk = CHUNK_MAX;
    while (chunk > CHUNK_MIN && chunk > STAGES_WANTED / (world * families * EMU_SLOTS * 2))
        chunk /= 2;
    return chunk;
}

/* Put a region of count * each bytes at *end, page-aligned; *end moves behind it. */
static bool place(uint64_t *end, uint64_t *offset, uint64_t count, uint64_t each)
{
    uint64_t bytes, next;
    if (!emu_mul_fits(count, each, &bytes) || !emu_add_fits(*end, bytes, &next) ||
        !emu_round_up_fits(next, EMU_PAGE, &next))
        return false;
    *offset = *end;
    *end = next;
    return true;
}

static bool groups_bytes(const struct emu_roster *roster, uint32_t cores, uint64_t *total)
{
    uint64_t sum = 0;
    for (uint32_t f = 0; f < roster->family_count; f++) {
        uint64_t one, all;
        if (!emu_ring_bytes(roster->families[f].group_size, cores, &one) ||
            !emu_mul_fits(one, roster->families[f].group_count, &all) ||
            !emu_add_fits(sum, all, &sum))
            return false;
    }
    *total = sum;
    return true;
}

enum emu_status emu_segment_plan(const struct emu_segment_params *params,
                                 struct emu_segment *segment)
{
    const struct emu_roster *roster = params->roster;
    uint64_t world = roster->mesh->world;
    if (world > EMU_SEGMENT_MAX_WORLD)
        return EMU_ERANGE;
    struct emu_segment plan = {
        .roster = roster, .world = (uint32_t)world, .checksums = params->checksums};
    plan.ways = params->ways ? *params->ways : emu_ways_of(emu_cpu_count());
    uint64_t groups;
    plan.stage_bytes =
        chunk_bytes_of(world, roster->family_count) * roster->family_count * EMU_SLOTS * 2;
    plan.outbox_bytes = emu_outbox_bytes(plan.world);
    uint64_t end = EMU_PAGE;
    bool fits = emu_round_up_fits(params->arena_bytes, EMU_PAGE, &plan.arena_bytes) &&
                emu_round_up_fits(params->record_bytes, EMU_PAGE, &plan.record_bytes) &&
                groups_bytes(roster, plan.ways.cores, &groups) &&
                place(&end, &plan.strips, world, EMU_STRIP_BYTES) &&
                place(&end, &plan.gates, 1, emu_gate_bytes(plan.world)) &&
                place(&end, &plan.incidents, 1, sizeof(struct emu_incident_list)) &&
                place(&end, &plan.groups, 1, groups) &&
                place(&end, &plan.stages, world, plan.stage_bytes) &&
                place(&end, &plan.outboxes, world, plan.outbox_bytes) &&
                place(&end, &plan.sites, world, sizeof(struct emu_site_table)) &&
                place(&end, &plan.records, world, plan.record_bytes) &&
                place(&end, &plan.arenas, world, plan.arena_bytes);
    if (!fits || end > INT64_MAX)
        return EMU_ERANGE;
    plan.bytes = end;
    *segment = plan;
    return EMU_OK;
}

void emu_segment_init(struct emu_segment *segment, void *base)
{
    segment->base = base;
    segment->begun = emu_ticks_begin();
    struct emu_header *header = emu_header_of(segment);
    header->magic = EMU_SEGMENT_MAGIC;
    header->layout = EMU_SEGMENT_LAYOUT;
    header->world = segment->world;
    header->bytes = segment->bytes;
    header->arena_bytes = segment->arena_bytes;
    header->record_bytes = segment->record_bytes;
}

unsigned char *emu_segment_arena(const struct emu_segment *segment, uint32_t rank)
{
    return segment->base + segment->arenas + rank * segment->arena_bytes;
}

unsigned char *emu_segment_record(const struct emu_segment *segment, uint32_t rank)
{
    return segment->base + segment->records + rank * segment->record_bytes;
}

uint32_t emu_news_look(const struct emu_segment *segment)
{
    return atomic_load_explicit(&emu_header_of(segment)->news, memory_order_acquire);
}

void emu_news_post(const struct emu_segment *segment)
{
    struct emu_header *header = emu_header_of(segment);
    atomic_fetch_add_explicit(&header->news, 1, memory_order_release);
    emu_futex_wake(&header->news, INT_MAX);
}

uint32_t emu_news_wait(const struct emu_segment *segment, uint32_t seen, int64_t timeout_ns)
{
    struct emu_header *header = emu_header_of(segment);
    if (emu_news_look(segment) == seen)
        emu_futex_wait(&header->news, seen, timeout_ns);
    return emu_news_look(segment);
}
