/* The two recorders of the stack. The asked-recorder sees what the program wanted, writes the
 * flight recorder and counts; the wire-recorder sees what reaches the backend and counts. Without
 * filters between them the counts are equal. Requests pass through: a recorder has none of its own.
 */
#include "base/hot.h"
#include "comm/counts.h"
#include "comm/handle.h"
#include "mesh/beside.h"
#include "mesh/cost.h"
#include "seg/board_words.h"
#include "seg/kinds.h"
#include "seg/note.h"
#include "seg/recorder.h"

#include <stdlib.h>

/* Lies in the room of its rank. */
struct recorder {
    struct emu_layer layer;
    struct emu_traffic *traffic;
    struct emu_counts counts; /* asked only */
};

_Static_assert(sizeof(struct recorder) + EMU_LINE <= EMU_HANDLE_ROOM / 4, "in the rank's room");

/* A message counts where the two ranks lie beside each other. */
static void count_message(struct emu_rank *rank, struct emu_traffic *traffic,
                          const struct emu_call *call, uint64_t bytes)
{
    const struct emu_mesh *mesh = rank->roster->mesh;
    uint64_t cost = emu_cost_bytes(call->kind, call->layout, bytes, 2);
    struct emu_beside beside;
    if (!emu_beside_find(mesh, rank->id, call->peer, &beside))
        return;
    traffic->message_bytes[beside.axis] += cost;
    rank->sent_to[beside.place] += cost;
}

static EMU_HOT void count_bytes(struct emu_rank *rank, struct emu_traffic *traffic,
                                const struct emu_call *call)
{
    const struct emu_family_starts *starts = &rank->starts;
    uint64_t bytes = call->count * emu_dtype_bytes(call->dtype);
    if (call->kind == EMU_SEND || call->kind == EMU_RECV) {
        count_message(rank, traffic, call, bytes);
        return;
    }
    if (call->group >= starts->groups)
        return;
    uint32_t family = emu_starts_family(starts, call->group);
    traffic->family_bytes[family] +=
        emu_cost_bytes(call->kind, call->layout, bytes, starts->size[family]);
}

static EMU_HOT void count(struct emu_traffic *traffic, const struct emu_call *call)
{
    if ((unsigned)call->kind >= EMU_KIND_COUNT)
        return;
    traffic->calls[call->kind]++;
    if (call->kind != EMU_BARRIER)
        traffic->elements[call->kind] += call->count;
}

static struct recorder *recorder_of(struct emu_layer *layer)
{
    return (struct recorder *)layer;
}

/* Most ranks of a wide mesh send no message. */
static bool make_room(struct emu_rank *rank)
{
    if (!rank->sent_to)
        rank->sent_to = calloc(emu_beside_room(rank->roster->mesh), sizeof *rank->sent_to);
    return rank->sent_to != NULL;
}

static EMU_HOT enum emu_status wire_start(struct emu_layer *layer, const struct emu_call *call,
                                          struct emu_request **request)
{
    if (emu_kind_is_message(call->kind) && !make_room(layer->rank))
        return EMU_ENOMEM;
    count(recorder_of(layer)->traffic, call);
    count_bytes(layer->rank, recorder_of(layer)->traffic, call);
    return layer->below->ops.start(layer->below, call, request);
}

static EMU_HOT enum emu_status wire_wait(struct emu_layer *layer, struct emu_request *request)
{
    return layer->below->ops.wait(layer->below, request);
}

static EMU_HOT void record_begin(struct emu_rank *rank, const struct emu_call *call, uint64_t index)
{
    if (!rank->segment)
        return;
    rank->noted = NULL;
    emu_rank_note(rank, call, &rank->note);
    rank->note.index = index;
    rank->noted = call;
    emu_recorder_begin(rank->segment, rank->id, rank->recorded, &rank->note);
    emu_board_set_phase(rank->segment, rank->id, EMU_PHASE_BEFORE);
}

static EMU_HOT void record_end(const struct emu_rank *rank, uint64_t number, enum emu_status status)
{
    if (rank->segment) {
        emu_recorder_end(rank->segment, rank->id, number, status);
        emu_board_set_phase(rank->segment, rank->id, EMU_PHASE_NONE);
    }
}

static EMU_HOT enum emu_status asked_start(struct emu_layer *layer, const struct emu_call *call,
                                           struct emu_request **request)
{
    struct recorder *recorder = recorder_of(layer);
    struct emu_rank *rank = layer->rank;
    uint64_t *index = emu_counts_of(&recorder->counts, rank, call);
    count(recorder->traffic, call);
    record_begin(rank, call, index ? *index : 0);
    uint64_t number = rank->recorded;
    struct emu_request *begun = NULL;
    enum emu_status status = layer->below->ops.start(layer->below, call, &begun);
    rank->noted = NULL;
    rank->recorded++;
    if (status) {
        record_end(rank, number, status);
        return status;
    }
    if (index) /* a refused call has no number of its own */
        ++*index;
    begun->record = number;
    *request = begun;
    return EMU_OK;
}

static EMU_HOT enum emu_status asked_wait(struct emu_layer *layer, struct emu_request *request)
{
    uint64_t number = request->record; /* the request is gone after its wait */
    enum emu_status status = layer->below->ops.wait(layer->below, request);
    record_end(layer->rank, number, status);
    return status;
}

static void recorder_destroy(struct emu_layer *layer)
{
    emu_counts_finish(&recorder_of(layer)->counts);
}

static const struct emu_layer_ops asked_ops = {"asked-recorder", asked_start, asked_wait,
                                               recorder_destroy};
static const struct emu_layer_ops wire_ops = {"wire-recorder", wire_start, wire_wait,
                                              recorder_destroy};

static struct emu_layer *create(const struct emu_layer_ops *ops, struct emu_rank *rank,
                                struct emu_layer *below, struct emu_traffic *traffic)
{
    struct recorder *recorder = emu_handle_take(rank, sizeof *recorder);
    if (!recorder)
        return NULL;
    recorder->layer = (struct emu_layer){.ops = *ops, .below = below, .rank = rank};
    recorder->traffic = traffic;
    return &recorder->layer;
}

struct emu_layer *emu_asked_recorder_create(struct emu_rank *rank, struct emu_layer *below)
{
    return create(&asked_ops, rank, below, &rank->asked);
}

struct emu_layer *emu_wire_recorder_create(struct emu_rank *rank, struct emu_layer *below)
{
    return create(&wire_ops, rank, below, &rank->wired);
}
