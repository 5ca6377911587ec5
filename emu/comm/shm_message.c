/* One send or receive through outboxes. See seg/outbox.h for the protocol. */
#include "comm/shm.h"
#include "os/clock.h"
#include "seg/board_words.h"
#include "seg/incident_words.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static uint64_t chunks_of(uint64_t bytes, const struct emu_outbox *box)
{
    return (bytes + box->ferry_bytes - 1) / box->ferry_bytes;
}

static uint64_t chunk_size(uint64_t bytes, uint64_t chunk, const struct emu_outbox *box)
{
    uint64_t left = bytes - chunk * box->ferry_bytes;
    return left < box->ferry_bytes ? left : box->ferry_bytes;
}

static unsigned char *chunk_place(const struct emu_outbox *box, uint64_t chunk)
{
    return box->ferry + (chunk % 2) * box->ferry_bytes;
}

/* The other side is gone: nothing more will come. */
static void fail_peer(struct shm_backend *backend, struct shm_request *request)
{
    uint32_t peer = request->base.call.peer;
    struct emu_incident incident = {
        .cause = EMU_INCIDENT_PEER,
        .status = EMU_EPEER,
        .rank = peer,
        .caller = backend->id,
        .group = EMU_GROUP_SELF,
        .index = request->note.index,
        .enabled_ns = atomic_load_explicit(&emu_board_of(backend->segment, peer)->gone_ns,
                                           memory_order_acquire),
    };
    emu_note_view(backend->segment, backend->id, &request->note, &incident.call);
    emu_incident_append(backend->segment, &incident);
    shm_finish(request, EMU_EPEER);
}

/* Sends to one rank enter the outbox in start order. */
static bool is_behind_another_send(const struct shm_request *request)
{
    for (const struct shm_request *earlier = request->previous; earlier;
         earlier = earlier->previous)
        if (earlier->base.call.kind == EMU_SEND && !earlier->done &&
            earlier->message.stage == SHM_MESSAGE_NEW &&
            earlier->base.call.peer == request->base.call.peer)
            return true;
    return false;
}

static bool put_in_outbox(struct shm_backend *backend, struct shm_request *request)
{
    struct shm_message *own = &request->message;
    const struct emu_call *call = &request->base.call;
    if (is_behind_another_send(request))
        return false;
    struct emu_message *message = emu_sender_claim(&backend->sender);
    if (!message)
        return false;
    own->bytes = call->count * emu_dtype_bytes(call->dtype);
    bool buffered = emu_sender_fill(&backend->sender, message, call->input, own->bytes);
    bool returns_at_once = buffered && !backend->layer.rank->strict;
    message->tracked = !returns_at_once;
    own->message = message;
    own->sequence = emu_sender_publish(&backend->sender, message, &request->note,
                                       buffered ? EMU_MESSAGE_READY : EMU_MESSAGE_OFFERED);
    own->stage = SHM_MESSAGE_POSTED;
    emu_bell_ring(backend->segment, call->peer);
    if (returns_at_once)
        shm_finish(request, EMU_OK);
    return true;
}

/* The ferry carries one message at a time, and only once its receiver has accepted. */
static bool board_ferry(struct shm_backend *backend, struct shm_request *request)
{
    struct emu_outbox_head *head = backend->sender.box.head;
    if (backend->ferrying)
        return false;
    backend->ferrying = request;
    request->message.loading = true;
    /* relaxed: published by ferry_owner */
    atomic_store_explicit(&head->ferry_put, 0, memory_order_relaxed);
    atomic_store_explicit(&head->ferry_taken, 0, memory_order_relaxed);
    atomic_store_explicit(&head->ferry_owner, request->message.sequence + 1, memory_order_release);
    return true;
}

static bool load_ferry(struct shm_backend *backend, struct shm_request *request)
{
    struct shm_message *own = &request->message;
    const struct emu_outbox *box = &backend->sender.box;
    bool moved = false;
    while (own->chunks < chunks_of(own->bytes, box)) {
        uint64_t taken = atomic_load_explicit(&box->head->ferry_taken, memory_order_acquire);
        if (own->chunks >= taken + 2)
            break;
        const unsigned char *from = request->base.call.input;
        enum emu_lap lap = emu_handle_enter(backend->layer.rank, EMU_LAP_FOLD);
        memcpy(chunk_place(box, own->chunks), from + own->chunks * box->ferry_bytes,
               chunk_size(own->bytes, own->chunks, box));
        emu_handle_enter(backend->layer.rank, lap);
        own->chunks++;
        atomic_store_explicit(&box->head->ferry_put, own->chunks, memory_order_release);
        moved = true;
    }
    if (moved)
        emu_bell_ring(backend->segment, request->base.call.peer);
    return moved;
}

static void end_send(struct shm_backend *backend, struct shm_request *request)
{
    emu_sender_release(&backend->sender, request->message.message);
    if (backend->ferrying == request)
        backend->ferrying = NULL;
}

bool shm_send_step(struct shm_backend *backend, struct shm_request *request)
{
    struct shm_message *own = &request->message;
    bool gone = emu_board_gone(backend->segment, request->base.call.peer);
    if (own->stage == SHM_MESSAGE_NEW) {
        bool moved = put_in_outbox(backend, request);
        if (!moved && gone)
            fail_peer(backend, request);
        return moved || gone;
    }
    enum emu_message_state state = emu_message_state(emu_message_look(own->message));
    if (state == EMU_MESSAGE_TAKEN || state == EMU_MESSAGE_REFUSED) {
        end_send(backend, request);
        shm_finish(request, state == EMU_MESSAGE_TAKEN ? EMU_OK : EMU_EMISMATCH);
        return true;
    }
    if (gone) {
        end_send(backend, request);
        fail_peer(backend, request);
        return true;
    }
    bool moved = state == EMU_MESSAGE_ACCEPTED && !own->loading && board_ferry(backend, request);
    return (own->loading && load_ferry(backend, request)) || moved;
}

void shm_send_abandon(struct shm_backend *backend, struct shm_request *request)
{
    struct shm_message *own = &request->message;
    if (request->done || own->stage != SHM_MESSAGE_POSTED)
        return;
    own->message->tracked = 0;
    if (backend->ferrying == request)
        backend->ferrying = NULL;
}

/* Receives of one source and tag meet messages in start order. */
static bool is_behind_another_receive(const struct shm_request *request)
{
    const struct emu_call *call = &request->base.call;
    for (const struct shm_request *earlier = request->previous; earlier;
         earlier = earlier->previous)
        if (earlier->base.call.kind == EMU_RECV && !earlier->done &&
            earlier->message.stage == SHM_MESSAGE_NEW && earlier->base.call.peer == call->peer &&
            earlier->base.call.tag == call->tag)
            return true;
    return false;
}

static void refuse_message(struct shm_backend *backend, struct shm_request *request,
                           struct emu_message *message, const struct emu_note *sent)
{
    struct emu_incident incident = {
        .cause = EMU_INCIDENT_MESSAGE,
        .status = EMU_EMISMATCH,
        .rank = backend->id,
        .group = EMU_GROUP_SELF,
        .index = request->note.index,
        .enabled_ns = emu_clock_ns(),
    };
    emu_note_view(backend->segment, backend->id, &request->note, &incident.call);
    emu_note_view(backend->segment, request->base.call.peer, sent, &incident.sent);
    snprintf(incident.text, sizeof incident.text,
             "a message of %" PRIu64 " %s met a receive of up to %" PRIu64 " %s", sent->count,
             emu_dtype_name((enum emu_dtype)sent->dtype), request->base.call.count,
             emu_dtype_name(request->base.call.dtype));
    emu_message_set(message, EMU_MESSAGE_REFUSED);
    emu_incident_append(backend->segment, &incident);
    shm_finish(request, EMU_EMISMATCH);
}

static void meet_message(struct shm_backend *backend, struct shm_request *request,
                         const struct emu_outbox *box, struct emu_message *message)
{
    struct shm_message *own = &request->message;
    const struct emu_call *call = &request->base.call;
    struct emu_note sent;
    emu_words_load(&sent, message->note, EMU_NOTE_WORDS);
    uint64_t word = emu_message_look(message);
    if (sent.dtype != (uint8_t)call->dtype || sent.count > call->count) {
        refuse_message(backend, request, message, &sent);
    } else if (emu_message_state(word) == EMU_MESSAGE_READY) {
        request->base.received = sent.count;
        emu_outbox_copy(box, message, call->output);
        emu_message_set(message, EMU_MESSAGE_TAKEN);
        shm_finish(request, EMU_OK);
    } else {
        request->base.received = sent.count;
        own->message = message;
        own->bytes = message->bytes;
        own->sequence = emu_message_sequence(word);
        own->stage = SHM_MESSAGE_FERRIED;
        emu_message_set(message, EMU_MESSAGE_ACCEPTED);
    }
    emu_bell_ring(backend->segment, call->peer);
}

static bool unload_ferry(struct shm_backend *backend, struct shm_request *request,
                         const struct emu_outbox *box)
{
    struct shm_message *own = &request->message;
    if (atomic_load_explicit(&box->head->ferry_owner, memory_order_acquire) != own->sequence + 1)
        return false;
    uint64_t put = atomic_load_explicit(&box->head->ferry_put, memory_order_acquire);
    bool moved = own->chunks < put;
    for (; own->chunks < put; own->chunks++) {
        unsigned char *to = request->base.call.output;
        enum emu_lap lap = emu_handle_enter(backend->layer.rank, EMU_LAP_FOLD);
        memcpy(to + own->chunks * box->ferry_bytes, chunk_place(box, own->chunks),
               chunk_size(own->bytes, own->chunks, box));
        emu_handle_enter(backend->layer.rank, lap);
        atomic_store_explicit(&box->head->ferry_taken, own->chunks + 1, memory_order_release);
    }
    if (own->chunks == chunks_of(own->bytes, box)) {
        emu_message_set(own->message, EMU_MESSAGE_TAKEN);
        shm_finish(request, EMU_OK);
    }
    if (moved)
        emu_bell_ring(backend->segment, request->base.call.peer);
    return moved;
}

bool shm_recv_step(struct shm_backend *backend, struct shm_request *request)
{
    const struct emu_call *call = &request->base.call;
    struct emu_outbox box = emu_outbox_of(backend->segment, call->peer);
    /* Before the outbox is looked at: what a gone rank had sent is there then. */
    bool gone = emu_board_gone(backend->segment, call->peer);
    bool moved = false;
    if (request->message.stage == SHM_MESSAGE_NEW) {
        if (is_behind_another_receive(request))
            return false;
        struct emu_message *message = emu_outbox_match(&box, backend->id, call->tag);
        if (message) {
            meet_message(backend, request, &box, message);
            moved = true;
        }
    }
    if (!request->done && request->message.stage == SHM_MESSAGE_FERRIED)
        moved = unload_ferry(backend, request, &box) || moved;
    if (!request->done && gone && !moved) {
        fail_peer(backend, request);
        return true;
    }
    return moved;
}
