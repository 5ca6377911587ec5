/* What does a rank do while nothing moves?
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
#include "comm/shm.h"
#include "os/clock.h"
#include "os/cpu.h"
#include "seg/board_words.h"
#include "seg/header.h"

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

EMU_HOT void shm_drive(struct shm_backend *backend, struct shm_request *request)
{
    struct shm_wait wait = {.moved = true};
    struct emu_sleep sleep = {.word = word_of(backend, request)};
    int yields = 0;
    if (!shm_is_message(request))
        shm_collective_await(request);
    while (!request->done) {
        sleep.seen = atomic_load_explicit(sleep.word, memory_order_acquire);
        if (shm_step_all(backend)) {
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
