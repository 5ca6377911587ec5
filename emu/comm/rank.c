#include "comm/rank.h"

#include "base/hot.h"
#include "comm/handle.h"
#include "seg/board.h"
#include "seg/board_words.h"
#include "seg/header.h"

#include <stdlib.h>
#include <string.h>

static void destroy_layers(struct emu_layer *top)
{
    while (top) {
        struct emu_layer *below = top->below;
        top->ops.destroy(top);
        top = below;
    }
}

/* Recorders around the backend. Takes the backend over. */
static enum emu_status stack(struct emu_rank *rank, struct emu_layer *backend)
{
    rank->top = backend;
    struct emu_layer *wire = backend ? emu_wire_recorder_create(rank, backend) : NULL;
    rank->top = wire ? wire : rank->top;
    struct emu_layer *asked = wire ? emu_asked_recorder_create(rank, wire) : NULL;
    rank->top = asked ? asked : rank->top;
    if (!asked) {
        destroy_layers(rank->top);
        emu_site_index_finish(&rank->sites);
        free(rank);
        return EMU_ENOMEM;
    }
    rank->below = wire;
    return EMU_OK;
}

static struct emu_rank *allocate(const struct emu_roster *roster)
{
    size_t bytes = sizeof(struct emu_rank) + EMU_LINE + EMU_HANDLE_ROOM +
                   roster->family_count * EMU_HANDLE_FAMILY_ROOM;
    bytes = (bytes + EMU_PAGE - 1) / EMU_PAGE * EMU_PAGE;
    struct emu_rank *made = aligned_alloc(EMU_PAGE, bytes);
    if (!made)
        return NULL;
    memset(made, 0, bytes);
    made->roster = roster;
    made->starts = roster->starts;
    made->room = (unsigned char *)(made + 1);
    made->room_end = (unsigned char *)made + bytes;
    return made;
}

void *emu_handle_take(struct emu_rank *rank, size_t bytes)
{
    size_t past = (uintptr_t)rank->room % EMU_LINE;
    unsigned char *taken = rank->room + (past ? EMU_LINE - past : 0);
    if (taken > rank->room_end || bytes > (size_t)(rank->room_end - taken))
        return NULL;
    rank->room = taken + bytes;
    return taken;
}

enum emu_status emu_rank_create(const struct emu_segment *segment, uint32_t id,
                                struct emu_rank **rank)
{
    struct emu_rank *made = allocate(segment->roster);
    if (!made)
        return EMU_ENOMEM;
    made->own_segment = *segment; /* the launcher's lies in pages that calls do not use else */
    made->segment = &made->own_segment;
    made->id = id;
    emu_arena_init(&made->arena, emu_segment_arena(segment, id), segment->arena_bytes);
    if (emu_site_index_init(&made->sites, segment, id)) {
        free(made);
        return EMU_ENOMEM;
    }
    enum emu_status status = stack(made, emu_shm_backend_create(made));
    if (!status)
        *rank = made;
    return status;
}

enum emu_status emu_rank_create_self(const struct emu_roster *roster, void *memory, uint64_t bytes,
                                     struct emu_rank **rank)
{
    if (roster->mesh->world != 1)
        return EMU_EINVAL;
    struct emu_rank *made = allocate(roster);
    if (!made)
        return EMU_ENOMEM;
    emu_arena_init(&made->arena, memory, bytes);
    enum emu_status status = stack(made, emu_self_backend_create(made));
    if (!status)
        *rank = made;
    return status;
}

void emu_rank_destroy(struct emu_rank *rank)
{
    if (!rank)
        return;
    destroy_layers(rank->top);
    emu_site_index_finish(&rank->sites);
    free(rank->sent_to);
    free(rank);
}

void emu_rank_push(struct emu_rank *rank, struct emu_layer *layer)
{
    layer->below = rank->top->below;
    rank->top->below = layer;
}

const struct emu_segment *emu_rank_segment(const struct emu_rank *rank)
{
    return rank->segment;
}

const struct emu_roster *emu_rank_roster(const struct emu_rank *rank)
{
    return rank->roster;
}

EMU_HOT void emu_rank_note(struct emu_rank *rank, const struct emu_call *call,
                           struct emu_note *note)
{
    if (call == rank->noted) { /* const, and alive until it is started */
        *note = rank->note;
        return;
    }
    emu_note_of(call, 0, note);
    note->site = emu_site_find(&rank->sites, call, rank->recorded);
}

void emu_rank_set_strict(struct emu_rank *rank, bool strict)
{
    rank->strict = strict;
}

void emu_rank_watch_phases(struct emu_rank *rank, struct emu_phase_watch watch)
{
    rank->phases = watch;
}

void emu_rank_set_step(struct emu_rank *rank, uint64_t step)
{
    if (rank->segment)
        emu_board_set_step(rank->segment, rank->id, step);
}

struct emu_stopwatch *emu_rank_stopwatch(struct emu_rank *rank)
{
    return &rank->stopwatch;
}

enum emu_lap emu_rank_enter(struct emu_rank *rank, enum emu_lap lap)
{
    return emu_handle_enter(rank, lap);
}

uint64_t emu_rank_open_requests(const struct emu_rank *rank)
{
    return rank->open_requests;
}

const struct emu_traffic *emu_rank_asked(const struct emu_rank *rank)
{
    return &rank->asked;
}

const struct emu_traffic *emu_rank_wired(const struct emu_rank *rank)
{
    return &rank->wired;
}

const uint64_t *emu_rank_sent_to(const struct emu_rank *rank)
{
    return rank->sent_to;
}

uint64_t emu_rank_lent_calls(const struct emu_rank *rank)
{
    return rank->lent_calls;
}

uint32_t emu_rank_id(const struct emu_rank *rank)
{
    return rank->id;
}

uint32_t emu_rank_world(const struct emu_rank *rank)
{
    return rank->roster->mesh->world;
}

const struct emu_mesh *emu_rank_mesh(const struct emu_rank *rank)
{
    return rank->roster->mesh;
}

enum emu_status emu_rank_group(const struct emu_rank *rank, const char *over, uint32_t *group)
{
    uint32_t family;
    enum emu_status status = emu_roster_find(rank->roster, over, &family);
    return status ? status : emu_roster_group_of(rank->roster, family, rank->id, group);
}

uint32_t emu_rank_group_size(const struct emu_rank *rank, uint32_t group)
{
    if (group == EMU_GROUP_SELF)
        return 1;
    return group < rank->roster->group_count ? emu_roster_group(rank->roster, group).size : 0;
}

int64_t emu_rank_group_index(const struct emu_rank *rank, uint32_t group)
{
    if (group == EMU_GROUP_SELF)
        return 0;
    if (group >= rank->roster->group_count)
        return -1;
    struct emu_group members = emu_roster_group(rank->roster, group);
    return emu_group_index(&members, rank->id);
}

void *emu_rank_alloc(struct emu_rank *rank, uint64_t bytes)
{
    return emu_arena_alloc(&rank->arena, EMU_BUFFERS, bytes);
}

uint64_t emu_received(const struct emu_rank *rank)
{
    return rank->received;
}

bool emu_rank_failed(const struct emu_rank *rank, uint32_t other)
{
    return rank->segment && other < rank->segment->world && emu_board_gone(rank->segment, other);
}
