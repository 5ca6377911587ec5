/* Start, wait, and what a rank does while nothing moves.
 *
 * Waiting: with a core for each rank a short spin first, a shorter one where all of this core have
 * come to a call of all ranks; then up to 16 yields, then the futex (on two cores a yield that
 * finds its peer running costs half of a wake). A yield that took longer than 2.5 ms + 4 us a rank
 * tells that a foreign process holds the core: for the next 10 ms all ranks use the futex at once,
 * and those that are bound to a core are let loose. Beyond 256 ranks a core nobody yields (on two
 * cores a barrier of 512 took 1.1 ms with yields and 4 without, one of 4096 took 80 and 48), and
 * the first sleep of a wait is told to nobody.
 *
 * A rank whose other open requests owe something to others sleeps in turns; otherwise it
 * sleeps on the one word that its wait depends on, for ever.
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

#define YIELDS_MAX 16
#define CROWD_PER_CORE UINT64_C(256) /* a yield would hardly ever find the call over */
#define SPINS_MAX 1000
#define SPINS_ABROAD 60 /* about half of a switch */
#define SLOW_YIELD_NS UINT64_C(2500000)
#define SLOW_YIELD_RANK_NS UINT64_C(4000)
#define FUTEX_SPELL_NS UINT64_C(10000000)
#if defined(__x86_64__)
#define TICK_NS_MOST 1 /* counters of 1 GHz and more; a slower one is judged a little late */
#else
#define TICK_NS_MOST 100 /* 10 MHz */
#endif
#define SHORT_SLEEP_NS 200000

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

static bool step_all(struct shm_backend *backend)
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

/* The word that changes when this request can move. */
static _Atomic uint32_t *word_of(struct shm_backend *backend, const struct shm_request *request)
{
    if (shm_is_message(request))
        return &emu_board_of(backend->segment, backend->id)->bell;
    return emu_slot_word(&request->collective.group->ring, request->note.index);
}

static bool others_owe(const struct shm_backend *backend, const struct shm_request *waited)
{
    for (const struct shm_request *other = backend->first; other; other = other->next)
        if (other != waited && !other->done &&
            (shm_is_message(other) || shm_collective_owes(other)))
            return true;
    return false;
}

/* The whole run sleeps in place of yielding, and runs where it can, until then. */
static void fall_sleepy(struct shm_backend *backend, uint64_t until)
{
    struct emu_header *header = emu_header_of(backend->segment);
    if (atomic_load_explicit(&header->sleepy_until, memory_order_relaxed) < until)
        atomic_store_explicit(&header->sleepy_until, until, memory_order_relaxed);
}

static void yield_watchfully(struct shm_backend *backend)
{
    enum emu_lap lap = emu_handle_enter(backend->layer.rank, EMU_LAP_WAIT);
    const struct emu_ticks *begun = &backend->segment->begun;
    uint64_t slow_ns = SLOW_YIELD_NS + SLOW_YIELD_RANK_NS * backend->segment->world;
    uint64_t before = emu_ticks_now(begun);
    emu_cpu_yield();
    uint64_t ticks = emu_ticks_now(begun) - before;
    emu_handle_enter(backend->layer.rank, lap);
    if (ticks * TICK_NS_MOST <= slow_ns)
        return; /* whatever the rate of the counter is */
    struct emu_ticks_rate rate = emu_ticks_rate(begun);
    if (emu_ticks_span_ns(&rate, ticks) > slow_ns)
        fall_sleepy(backend, emu_clock_ns() + FUTEX_SPELL_NS);
}

/* All ranks change their mode together: some that yield beside some that sleep cost every call a
 * wake. */
static bool is_sleepy(struct shm_backend *backend)
{
    uint64_t until =
        atomic_load_explicit(&emu_header_of(backend->segment)->sleepy_until, memory_order_relaxed);
    bool sleepy = until != 0 && emu_clock_ns() < until;
    if (sleepy != backend->sleepy) {
        if (sleepy)
            emu_cpu_loosen();
        else
            emu_cpu_tighten();
        backend->sleepy = sleepy;
    }
    return sleepy;
}

static bool is_crowd(const struct shm_backend *backend)
{
    return backend->segment->world > CROWD_PER_CORE * (uint64_t)backend->segment->ways.cores;
}

static bool may_yield(struct shm_backend *backend, int yields)
{
    return yields < YIELDS_MAX && !is_crowd(backend) && !is_sleepy(backend);
}

/* How long may somebody on another core be waited for, before a yield? With a core for each rank a
 * yield would be a call for nothing. Where all ranks take part and all of this core have come, a
 * yield would only switch to who cannot move either: a short spin spares the switch back (on two
 * cores 8 barriers of 8 ranks in the time of 7). */
static int spins_for(const struct shm_backend *backend, const struct shm_request *request)
{
    if (backend->segment->world <= backend->segment->ways.cores)
        return SPINS_MAX;
    if (shm_is_message(request))
        return 0;
    const struct shm_group *group = request->collective.group;
    bool whole = group->ring.size == backend->segment->world;
    return whole && emu_slot_waits_abroad(&group->ring, request->note.index, group->me)
               ? SPINS_ABROAD
               : 0;
}

/* Once for each wait; true: the word has changed. */
static bool spin(const struct shm_backend *backend, const struct shm_request *request,
                 const struct emu_sleep *sleep)
{
    for (int spins = spins_for(backend, request); spins > 0; spins--) {
        if (atomic_load_explicit(sleep->word, memory_order_acquire) != sleep->seen)
            return true;
        emu_cpu_relax();
    }
    return false;
}

/* How long may a rank sleep that still owes something to others? Once it has told the launcher that
 * nothing moves, so long that not all of many ranks are seen awake in turn: then nobody could say
 * that all wait. */
static int64_t turn_ns(const struct shm_backend *backend, const struct shm_wait *wait)
{
    int64_t all_ns = (int64_t)EMU_REST_TURN_NS * backend->segment->world;
    return wait->rest.told && all_ns > SHORT_SLEEP_NS ? all_ns : SHORT_SLEEP_NS;
}

/* Who may have to work while the others sleep on? */
static uint32_t lanes_of(const struct shm_request *request)
{
    bool works = shm_is_message(request) || request->collective.works;
    return works ? EMU_LANE_ALL : EMU_LANE_REST;
}

/* What the launcher must know before we sleep. The note of the call once for each wait, the rest
 * whenever something has moved. */
static void show_wait(struct shm_backend *backend, const struct shm_request *request,
                      struct shm_wait *wait)
{
    if (!wait->shown)
        emu_board_wait_in(backend->segment, backend->id,
                          shm_is_message(request) ? EMU_WAIT_MESSAGE : EMU_WAIT_SLOT,
                          &request->note);
    if (wait->moved)
        shm_publish_wants(backend, request, &wait->rest);
    wait->shown = true;
    wait->moved = false;
}

/* Sleep until something may have changed. In a crowd every wait is a sleep, and what the launcher
 * would be told of it lies in pages gone cold: the first sleep is as long as a rank may sleep
 * before it tells anything, and told only if it was in vain. */
static EMU_HOT void rest(struct shm_backend *backend, const struct shm_request *request,
                         struct shm_wait *wait, struct emu_sleep *sleep)
{
    enum emu_lap lap = emu_handle_enter(backend->layer.rank, EMU_LAP_WAIT);
    if (!wait->napped && !wait->shown && sleep->timeout_ns < 0 && is_crowd(backend)) {
        wait->napped = true;
        sleep->timeout_ns = (int64_t)emu_rest_tell_ns(backend->segment);
        emu_word_sleep(backend->segment, backend->id, sleep);
    } else {
        show_wait(backend, request, wait);
        emu_rest_sleep(backend->segment, backend->id, &wait->rest, sleep);
    }
    emu_handle_enter(backend->layer.rank, lap);
}

/* Advance everything until the request is done or the run is over. */
static EMU_HOT void drive(struct shm_backend *backend, struct shm_request *request)
{
    struct shm_wait wait = {.moved = true};
    struct emu_sleep sleep = {.word = word_of(backend, request)};
    int yields = 0;
    if (!shm_is_message(request))
        shm_collective_await(request);
    while (!request->done) {
        sleep.seen = atomic_load_explicit(sleep.word, memory_order_acquire);
        if (step_all(backend)) {
            yields = 0;
            wait.moved = true;
        } else if (yields == 0 && spin(backend, request, &sleep)) {
            yields = 1;
        } else if (emu_abort_look(backend->segment)) {
            shm_finish(request, EMU_EABORTED);
        } else if (may_yield(backend, yields)) {
            yield_watchfully(backend);
            yields++;
        } else {
            sleep.lanes = lanes_of(request);
            sleep.timeout_ns = others_owe(backend, request) ? turn_ns(backend, &wait) : -1;
            rest(backend, request, &wait, &sleep);
        }
    }
    if (wait.shown)
        emu_board_set_state(backend->segment, backend->id, EMU_BOARD_RUNNING);
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
        drive(backend, mine);
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
