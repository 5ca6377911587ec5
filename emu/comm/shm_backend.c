/* Start and wait: the list of open requests.
 */
#include "base/hot.h"
#include "comm/arguments.h"
#include "comm/local.h"
#include "comm/shm.h"
#include "os/clock.h"
#include "os/cpu.h"
#include "seg/board_words.h"
#include "seg/incident_words.h"

#include <stdlib.h>
#include <string.h>

static struct shm_backend *backend_of(struct emu_layer *layer)
{
    return (struct shm_backend *)layer;
}

static void open_list_add(struct shm_backend *backend, struct shm_request *request)
{
    request->previous = backend->last;
    if (backend->last)
        backend->last->next = request;
    else
        backend->first = request;
    backend->last = request;
}

static void open_list_remove(struct shm_backend *backend, struct shm_request *request)
{
    if (request->previous)
        request->previous->next = request->next;
    else
        backend->first = request->next;
    if (request->next)
        request->next->previous = request->previous;
    else
        backend->last = request->previous;
}

static EMU_HOT bool step(struct shm_backend *backend, struct shm_request *request)
{
    if (request->done)
        return false;
    switch (request->base.call.kind) {
    case EMU_SEND:
        return shm_send_step(backend, request);
    case EMU_RECV:
        return shm_recv_step(backend, request);
    default:
        return shm_collective_step(backend, request);
    }
}

bool shm_step_all(struct shm_backend *backend)
{
    bool moved = false;
    for (struct shm_request *request = backend->first; request; request = request->next)
        moved = step(backend, request) || moved;
    return moved;
}

static enum emu_status check(const struct shm_backend *backend, const struct emu_call *call,
                             const struct shm_group *known, struct emu_refusal *refusal)
{
    if (known)
        return emu_call_check_member(call, known->me, known->ring.size, refusal);
    return emu_call_check(backend->segment->roster, backend->id, call, refusal);
}

static enum emu_status report_refusal(struct shm_backend *backend, const struct emu_call *call,
                                      const struct shm_group *known)
{
    struct emu_refusal refusal;
    enum emu_status status = check(backend, call, known, &refusal);
    struct emu_incident incident = {
        .cause = EMU_INCIDENT_ARGUMENT,
        .status = status,
        .rank = backend->id,
        .group = call->group,
        .enabled_ns = emu_clock_ns(),
    };
    emu_call_view_of(backend->segment, call, &incident.call);
    memcpy(incident.text, refusal.text, sizeof incident.text);
    emu_incident_append(backend->segment, &incident);
    return status;
}

static enum emu_status prepare(struct shm_backend *backend, struct shm_request *request,
                               struct shm_group *group)
{
    const struct emu_call *call = &request->base.call;
    if (shm_is_message(request)) {
        uint64_t *number = emu_counts_of(&backend->counts, backend->layer.rank, call);
        request->message = (struct shm_message){0};
        request->note.index = number ? (*number)++ : 0;
        return EMU_OK;
    }
    if (!group && call->group != EMU_GROUP_SELF)
        group = shm_group_of(backend, call->group);
    request->collective = (struct shm_collective){.group = group};
    if (group && group->ring.size > 1)
        return shm_collective_prepare(backend, request);
    emu_local_collective(call);
    shm_finish(request, EMU_OK);
    return EMU_OK;
}

/* Requests are kept: a program makes the same calls in every step. What is not set here is set when
 * it is prepared. */
static struct shm_request *new_request(struct shm_backend *backend, const struct emu_call *call)
{
    struct shm_request *made = backend->spare;
    if (made)
        backend->spare = made->next;
    else
        made = malloc(sizeof *made);
    if (!made)
        return NULL;
    made->base = (struct emu_request){.call = *call};
    made->previous = made->next = NULL;
    made->status = EMU_OK;
    made->done = false;
    return made;
}

static void keep_for_later(struct shm_backend *backend, struct shm_request *request)
{
    request->next = backend->spare;
    backend->spare = request;
}

static EMU_HOT enum emu_status shm_start(struct emu_layer *layer, const struct emu_call *call,
                                         struct emu_request **request)
{
    struct shm_backend *backend = backend_of(layer);
    struct shm_group *known = shm_group_known(backend, call);
    if (check(backend, call, known, NULL))
        return report_refusal(backend, call, known);
    struct shm_request *made = new_request(backend, call);
    if (!made)
        return EMU_ENOMEM;
    emu_rank_note(layer->rank, call, &made->note);
    enum emu_status status = prepare(backend, made, known);
    if (status) {
        keep_for_later(backend, made);
        return status;
    }
    open_list_add(backend, made);
    if (!made->done && emu_abort_look(backend->segment))
        shm_finish(made, EMU_EABORTED);
    step(backend, made);
    *request = &made->base;
    return EMU_OK;
}

static void drop(struct shm_backend *backend, struct shm_request *request)
{
    if (request->base.call.kind == EMU_SEND)
        shm_send_abandon(backend, request);
    else if (!shm_is_message(request))
        shm_collective_release(request);
    open_list_remove(backend, request);
    keep_for_later(backend, request);
}

static EMU_HOT enum emu_status shm_wait(struct emu_layer *layer, struct emu_request *request)
{
    struct shm_backend *backend = backend_of(layer);
    struct shm_request *mine = (struct shm_request *)request;
    if (!mine->done)
        shm_drive(backend, mine);
    enum emu_status status = mine->status;
    if (status == EMU_EPEER && emu_abort_look(backend->segment))
        status = EMU_EABORTED; /* peers that end because the run was ended are no cause */
    if (request->call.kind == EMU_RECV && !status)
        layer->rank->received = request->received;
    drop(backend, mine);
    return status;
}

static void shm_destroy(struct emu_layer *layer)
{
    struct shm_backend *backend = backend_of(layer);
    while (backend->first)
        drop(backend, backend->first);
    while (backend->spare) {
        struct shm_request *spare = backend->spare;
        backend->spare = spare->next;
        if (spare < backend->kept || spare >= backend->kept + SHM_REQUESTS_KEPT)
            free(spare);
    }
    free(backend->bench);
    emu_counts_finish(&backend->counts);
}

static const struct emu_layer_ops shm_ops = {"shm", shm_start, shm_wait, shm_destroy};

_Static_assert(sizeof(struct shm_backend) <= EMU_HANDLE_ROOM / 2, "in the rank's room");
_Static_assert(sizeof(struct shm_group) <= EMU_HANDLE_FAMILY_ROOM, "in the rank's room");

struct emu_layer *emu_shm_backend_create(struct emu_rank *rank)
{
    size_t groups_bytes = rank->roster->family_count * sizeof(struct shm_group);
    struct shm_backend *backend = emu_handle_take(rank, sizeof *backend);
    struct shm_group *groups = emu_handle_take(rank, groups_bytes);
    if (!backend || !groups)
        return NULL;
    backend->groups = groups;
    for (int i = 0; i < SHM_REQUESTS_KEPT; i++)
        keep_for_later(backend, &backend->kept[i]);
    backend->layer = (struct emu_layer){.ops = shm_ops, .rank = rank};
    backend->segment = rank->segment;
    backend->id = rank->id;
    emu_sender_init(&backend->sender, rank->segment, rank->id);
    return &backend->layer;
}
