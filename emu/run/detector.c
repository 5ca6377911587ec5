#include "run/detector.h"

#include "os/clock.h"

#include <stdlib.h>
#include <string.h>

#define AGAIN_NS UINT64_C(1000000) /* after a reading that was not steady */
#define REST_FACTOR 9              /* pauses are this many times as long as looks */
#define CLOCK_MIN_NS UINT64_C(2000000)
#define CLOCK_MAX_NS UINT64_C(50000000)
#define READINGS 8  /* before others get a turn */
#define LOOKS_MIN 5 /* a launcher that was held up itself has seen nothing of the time between */

enum emu_status emu_detector_init(struct emu_detector *detector, uint32_t world)
{
    *detector = (struct emu_detector){0};
    detector->presence = calloc(world, 1);
    detector->kept = calloc(world, 1);
    detector->late = calloc(world, sizeof *detector->late);
    detector->watched = calloc(world, sizeof *detector->watched);
    if (detector->presence && detector->kept && detector->late && detector->watched &&
        emu_needs_init(&detector->needs, world) == EMU_OK &&
        emu_deadlock_init(&detector->deadlock, world) == EMU_OK)
        return EMU_OK;
    emu_detector_finish(detector);
    return EMU_ENOMEM;
}

void emu_detector_finish(struct emu_detector *detector)
{
    free(detector->presence);
    free(detector->kept);
    free(detector->late);
    free(detector->watched);
    emu_needs_finish(&detector->needs);
    emu_deadlock_finish(&detector->deadlock);
    *detector = (struct emu_detector){0};
}

static void look_at(struct emu_detector *detector, uint64_t when_ns)
{
    if (detector->due_ns == 0 || when_ns < detector->due_ns)
        detector->due_ns = when_ns;
}

void emu_detector_wake(struct emu_detector *detector)
{
    look_at(detector, detector->last_ns + REST_FACTOR * detector->cost_ns + 1);
}

static enum emu_presence presence_of(const struct emu_crew_rank *rank)
{
    if (emu_fate_is_gone(rank->fate))
        return EMU_ABSENT;
    if (rank->condemned)
        return EMU_LEAVING;
    return rank->fate == EMU_FATE_STOPPED ? EMU_PRESENT_STOPPED : EMU_PRESENT;
}

/* For how long has each rank been awake without moving on? */
static void watch_pulses(struct emu_detector *detector)
{
    for (uint32_t rank = 0; rank < detector->needs.world; rank++) {
        const struct emu_need *need = &detector->needs.ranks[rank];
        struct emu_watched *watched = &detector->watched[rank];
        if (detector->presence[rank] != EMU_PRESENT || need->rest % 2)
            watched->since_ns = 0;
        else if (watched->since_ns == 0 || watched->pulse != need->pulse)
            *watched = (struct emu_watched){need->pulse, detector->last_ns, 1};
        else
            watched->looks++;
    }
}

bool emu_detector_read(struct emu_detector *detector, const struct emu_segment *segment,
                       const struct emu_crew *crew, enum emu_status *status)
{
    uint64_t begun = emu_clock_ns();
    for (uint32_t rank = 0; rank < crew->world; rank++)
        detector->presence[rank] = (unsigned char)presence_of(&crew->ranks[rank]);
    detector->needs.steady = false;
    *status = EMU_OK;
    for (int i = 0; i < READINGS && !detector->needs.steady && *status == EMU_OK; i++)
        *status = emu_needs_read(segment, detector->presence, &detector->needs);
    detector->last_ns = emu_clock_ns();
    detector->cost_ns = detector->last_ns - begun;
    detector->due_ns = 0;
    watch_pulses(detector);
    bool steady = *status == EMU_OK && detector->needs.steady;
    if (!steady || detector->needs.busy)
        look_at(detector, detector->last_ns + AGAIN_NS + REST_FACTOR * detector->cost_ns);
    return steady;
}

bool emu_detector_finds_knots(struct emu_detector *detector, enum emu_status *status)
{
    *status = emu_deadlock_reach(&detector->deadlock, &detector->needs, true);
    if (*status != EMU_OK || detector->deadlock.dead == 0)
        return false;
    emu_deadlock_tie(&detector->deadlock, &detector->needs);
    return true;
}

bool emu_detector_is_stuck(const struct emu_detector *detector, const struct emu_board_view *board,
                           uint32_t rank)
{
    const struct emu_watched *watched = &detector->watched[rank];
    return emu_board_inside_call(board) && !board->asleep && watched->since_ns > 0 &&
           watched->looks >= LOOKS_MIN && watched->pulse == board->pulse;
}

/* In its own code, or awake inside a call: since when? */
static bool busy_since(const struct emu_detector *detector, const struct emu_patience *patience,
                       uint32_t rank, uint64_t *since)
{
    const struct emu_rank_seen *seen = &patience->scene->ranks[rank];
    uint64_t continued_ns = patience->crew->ranks[rank].continued_ns;
    if (detector->presence[rank] != EMU_PRESENT || detector->needs.ranks[rank].rest % 2 ||
        seen->board.asleep)
        return false;
    *since = detector->watched[rank].since_ns;
    if (emu_board_inside_call(&seen->board))
        return emu_detector_is_stuck(detector, &seen->board, rank);
    if (seen->board.state != EMU_BOARD_RUNNING)
        return false;
    *since = seen->board.since_ns > continued_ns ? seen->board.since_ns : continued_ns;
    for (uint32_t i = 0; i < seen->call_count; i++) {
        const struct emu_recorded_call *call = &seen->calls[i];
        uint64_t last = call->ended_ns ? call->ended_ns : call->started_ns;
        *since = last > *since ? last : *since;
    }
    return true;
}

/* Mark all who wait for the rank, directly or through others; the one that has waited longest. */
static bool longest_waiter(struct emu_detector *detector, uint32_t rank, uint32_t *longest)
{
    const struct emu_needs *needs = &detector->needs;
    bool found = false;
    memset(detector->kept, 0, needs->world);
    detector->kept[rank] = 1;
    for (bool more = true; more;) {
        more = false;
        for (uint32_t other = 0; other < needs->world; other++) {
            const struct emu_need *need = &needs->ranks[other];
            if (need->shared && detector->kept[need->shared - 1])
                more |= !detector->kept[other], detector->kept[other] = 1;
            for (uint32_t i = 0; i < need->count && !detector->kept[other]; i++)
                if (detector->kept[needs->targets[need->first + i]])
                    detector->kept[other] = 1, more = true;
        }
    }
    for (uint32_t other = 0; other < needs->world; other++) {
        if (!detector->kept[other] || other == rank)
            continue;
        if (!found || needs->ranks[other].since_ns < needs->ranks[*longest].since_ns)
            *longest = other;
        found = true;
    }
    return found;
}

bool emu_detector_waits_long(const struct emu_detector *detector, uint64_t budget_ns)
{
    for (uint32_t rank = 0; rank < detector->needs.world; rank++) {
        const struct emu_need *need = &detector->needs.ranks[rank];
        if (need->stand == EMU_STAND_WAITS && detector->last_ns > need->since_ns &&
            detector->last_ns - need->since_ns >= budget_ns)
            return true;
    }
    return false;
}

/* For how long has the rank kept this waiter waiting? 0: it has not. */
static uint64_t kept_for(struct emu_detector *detector, const struct emu_patience *patience,
                         uint32_t rank, uint32_t waiter)
{
    uint64_t since, now = patience->scene->now_ns;
    uint64_t waits_since = detector->needs.ranks[waiter].since_ns;
    if (!busy_since(detector, patience, rank, &since))
        return 0;
    since = waits_since > since ? waits_since : since;
    return now > since ? now - since : 0;
}

/* All who keep the same one waiting, nearly as long. */
static void gather_late(struct emu_detector *detector, const struct emu_patience *patience,
                        struct emu_late *late)
{
    uint64_t nearly = patience->budget_ns - patience->budget_ns / 10;
    uint32_t longest;
    for (uint32_t rank = 0; rank < detector->needs.world; rank++)
        if (rank != late->waiter && kept_for(detector, patience, rank, late->waiter) >= nearly &&
            longest_waiter(detector, rank, &longest) && detector->kept[late->waiter])
            detector->late[late->count++] = rank;
    late->ranks = detector->late;
}

bool emu_detector_finds_late(struct emu_detector *detector, const struct emu_patience *patience,
                             struct emu_late *late)
{
    for (uint32_t rank = 0; rank < detector->needs.world; rank++) {
        uint32_t waiter = rank;
        if (kept_for(detector, patience, rank, rank) < patience->budget_ns ||
            !longest_waiter(detector, rank, &waiter))
            continue;
        uint64_t kept_ns = kept_for(detector, patience, rank, waiter);
        if (kept_ns < patience->budget_ns)
            continue;
        *late = (struct emu_late){
            .waiter = waiter, .kept_ns = kept_ns, .budget_ns = patience->budget_ns};
        gather_late(detector, patience, late);
        return true;
    }
    return false;
}

static bool all_wait_for_stopped(const struct emu_detector *detector)
{
    bool stopped = false;
    for (uint32_t rank = 0; rank < detector->needs.world; rank++) {
        if (detector->deadlock.acts[rank])
            return false;
        stopped |= detector->needs.ranks[rank].stand == EMU_STAND_STOPPED;
    }
    return stopped;
}

bool emu_detector_finds_stopped(struct emu_detector *detector, uint64_t grace_ns,
                                enum emu_status *status)
{
    *status = EMU_OK;
    bool any = false;
    if (detector->needs.busy)
        return false; /* a waiting rank that looks around seems to act */
    for (uint32_t rank = 0; rank < detector->needs.world; rank++)
        any |= detector->presence[rank] == EMU_PRESENT_STOPPED;
    if (any)
        *status = emu_deadlock_reach(&detector->deadlock, &detector->needs, false);
    if (!any || *status != EMU_OK || !all_wait_for_stopped(detector)) {
        detector->stopped_since_ns = 0;
        return false;
    }
    if (detector->stopped_since_ns == 0)
        detector->stopped_since_ns = detector->last_ns;
    return detector->last_ns - detector->stopped_since_ns >= grace_ns;
}

void emu_detector_plan(struct emu_detector *detector, uint64_t budget_ns, uint64_t grace_ns)
{
    bool waits = false, stopped = false;
    for (uint32_t rank = 0; rank < detector->needs.world; rank++) {
        waits |= detector->needs.ranks[rank].stand == EMU_STAND_WAITS;
        stopped |= detector->presence[rank] == EMU_PRESENT_STOPPED;
    }
    uint64_t patience = UINT64_MAX;
    if (waits && budget_ns)
        patience = budget_ns;
    if (stopped && grace_ns < patience)
        patience = grace_ns;
    if (patience == UINT64_MAX)
        return;
    uint64_t pause = patience / 20;
    pause = pause < CLOCK_MIN_NS ? CLOCK_MIN_NS : pause > CLOCK_MAX_NS ? CLOCK_MAX_NS : pause;
    look_at(detector, detector->last_ns + pause + REST_FACTOR * detector->cost_ns);
}
