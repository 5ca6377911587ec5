#include "check/deadlock.h"

#include <stdlib.h>
#include <string.h>

enum emu_status emu_deadlock_init(struct emu_deadlock *deadlock, uint32_t world)
{
    *deadlock = (struct emu_deadlock){.world = world};
    deadlock->acts = calloc(world, 1);
    deadlock->core = calloc(world, 1);
    deadlock->knot = calloc(world, sizeof *deadlock->knot);
    deadlock->spare = calloc(5 * ((size_t)world + 1), sizeof *deadlock->spare);
    if (deadlock->acts && deadlock->core && deadlock->knot && deadlock->spare)
        return EMU_OK;
    emu_deadlock_finish(deadlock);
    return EMU_ENOMEM;
}

void emu_deadlock_finish(struct emu_deadlock *deadlock)
{
    free(deadlock->acts);
    free(deadlock->core);
    free(deadlock->knot);
    free(deadlock->spare);
    free(deadlock->waiters);
    *deadlock = (struct emu_deadlock){0};
}

/* The rank by whose name the list goes: its own, or one that was read before. */
static uint32_t owner_of(const struct emu_needs *needs, uint32_t rank)
{
    uint32_t shared = needs->ranks[rank].shared;
    return shared ? shared - 1 : rank;
}

/* Whose own list counts. */
static bool owns_list(const struct emu_needs *needs, uint32_t rank)
{
    return needs->ranks[rank].stand == EMU_STAND_WAITS && owner_of(needs, rank) == rank;
}

/* The lists turned round: waiters[ends[t - 1] .. ends[t]) own lists that rank t is in. */
static enum emu_status turn_round(struct emu_deadlock *deadlock, const struct emu_needs *needs,
                                  uint32_t *ends)
{
    if (needs->target_count > deadlock->waiter_room) {
        uint32_t *longer = realloc(deadlock->waiters, needs->target_count * sizeof *longer);
        if (!longer)
            return EMU_ENOMEM;
        deadlock->waiters = longer;
        deadlock->waiter_room = needs->target_count;
    }
    memset(ends, 0, (needs->world + (size_t)1) * sizeof *ends);
    for (uint32_t rank = 0; rank < needs->world; rank++)
        for (uint32_t i = 0; owns_list(needs, rank) && i < needs->ranks[rank].count; i++)
            ends[needs->targets[needs->ranks[rank].first + i] + 1]++;
    for (uint32_t rank = 0; rank < needs->world; rank++)
        ends[rank + 1] += ends[rank];
    for (uint32_t rank = 0; rank < needs->world; rank++) {
        const struct emu_need *need = &needs->ranks[rank];
        for (uint32_t i = 0; owns_list(needs, rank) && i < need->count; i++)
            deadlock->waiters[ends[needs->targets[need->first + i]]++] = rank;
    }
    return EMU_OK; /* each end has moved from the start of its row to the start of the next one */
}

/* The spread of F from rank to rank; all in the work space. */
struct spread {
    uint32_t *ends;    /* see turn_round */
    uint32_t *queue;   /* members of F whose lists are still to be looked at */
    uint32_t *missing; /* per list: who must still be found in F; 0: its waiters are */
    uint32_t *sharers; /* per list: 1 + the last rank that waits for it; 0: no more */
    uint32_t *before;  /* per rank: 1 + the one that shares its list and comes before */
    uint32_t queued;
};

static void begin_spread(struct emu_deadlock *deadlock, const struct emu_needs *needs,
                         struct spread *spread, bool stopped_act)
{
    uint32_t world = needs->world;
    memset(spread->sharers, 0, world * sizeof *spread->sharers);
    for (uint32_t rank = 0; rank < world; rank++) {
        const struct emu_need *need = &needs->ranks[rank];
        bool acts =
            need->stand == EMU_STAND_ACTS || (need->stand == EMU_STAND_STOPPED && stopped_act);
        deadlock->acts[rank] = acts;
        spread->missing[rank] = need->any ? 1 : need->count;
        if (acts)
            spread->queue[spread->queued++] = rank;
        if (need->stand != EMU_STAND_WAITS)
            continue;
        uint32_t owner = owner_of(needs, rank);
        spread->before[rank] = spread->sharers[owner];
        spread->sharers[owner] = rank + 1;
    }
}

/* One more of this list is in F; the last one needed brings all who wait for it. */
static void count_down(struct emu_deadlock *deadlock, struct spread *spread, uint32_t list)
{
    if (spread->missing[list] == 0 || --spread->missing[list] > 0)
        return;
    for (uint32_t next = spread->sharers[list]; next > 0; next = spread->before[next - 1]) {
        deadlock->acts[next - 1] = 1;
        spread->queue[spread->queued++] = next - 1;
    }
}

enum emu_status emu_deadlock_reach(struct emu_deadlock *deadlock, const struct emu_needs *needs,
                                   bool stopped_act)
{
    uint32_t world = needs->world;
    struct spread spread = {.ends = deadlock->spare};
    spread.queue = spread.ends + world + 1;
    spread.missing = spread.queue + world;
    spread.sharers = spread.missing + world;
    spread.before = spread.sharers + world;
    enum emu_status status = turn_round(deadlock, needs, spread.ends);
    if (status)
        return status;
    begin_spread(deadlock, needs, &spread, stopped_act);
    for (uint32_t next = 0; next < spread.queued; next++) {
        uint32_t rank = spread.queue[next];
        for (uint32_t i = rank ? spread.ends[rank - 1] : 0; i < spread.ends[rank]; i++)
            count_down(deadlock, &spread, deadlock->waiters[i]);
    }
    deadlock->dead = 0;
    for (uint32_t rank = 0; rank < world; rank++)
        deadlock->dead += emu_deadlock_holds(deadlock, needs, rank);
    return EMU_OK;
}

bool emu_deadlock_holds(const struct emu_deadlock *deadlock, const struct emu_needs *needs,
                        uint32_t rank)
{
    return !deadlock->acts[rank] && needs->ranks[rank].stand == EMU_STAND_WAITS;
}

/* Strongly connected components of the deadlocked ranks, after Tarjan (1972), without recursion:
 * the path is a chain through `above`. Components are closed after all that they wait for. */
struct walk {
    const struct emu_needs *needs;
    struct emu_deadlock *deadlock;
    uint32_t *number; /* 1, 2, ... in order of the visit; 0: not visited */
    uint32_t *low;    /* the smallest number it reaches on the stack */
    uint32_t *edge;   /* needs looked at */
    uint32_t *stack;
    uint32_t *above; /* on the path */
    uint32_t visited, stacked;
};

#define CLOSED UINT32_MAX

static void open_rank(struct walk *walk, uint32_t rank)
{
    walk->number[rank] = walk->low[rank] = ++walk->visited;
    walk->edge[rank] = 0;
    walk->stack[walk->stacked++] = rank;
}

/* Pop the component of `top`. It is a knot where none of its ranks waits for another dead one; else
 * it follows the lowest knot that it waits for. Knots carry the lowest rank of them as name here.
 */
static void close_component(struct walk *walk, uint32_t top)
{
    struct emu_deadlock *deadlock = walk->deadlock;
    uint32_t first = walk->stacked, lowest = UINT32_MAX, follows = EMU_NO_KNOT;
    do {
        first--;
        lowest = walk->stack[first] < lowest ? walk->stack[first] : lowest;
        walk->low[walk->stack[first]] = CLOSED;
    } while (walk->stack[first] != top);
    for (uint32_t i = first; i < walk->stacked; i++) {
        const struct emu_need *need = &walk->needs->ranks[walk->stack[i]];
        for (uint32_t e = 0; e < need->count; e++) {
            uint32_t target = walk->needs->targets[need->first + e];
            if (emu_deadlock_holds(deadlock, walk->needs, target) &&
                deadlock->knot[target] < follows)
                follows = deadlock->knot[target];
        }
    }
    for (uint32_t i = first; i < walk->stacked; i++) {
        deadlock->knot[walk->stack[i]] = follows == EMU_NO_KNOT ? lowest : follows;
        deadlock->core[walk->stack[i]] = follows == EMU_NO_KNOT;
    }
    walk->stacked = first;
}

/* The next deadlocked rank that `rank` waits for; its own number where there is none left. */
static uint32_t next_target(struct walk *walk, uint32_t rank)
{
    const struct emu_need *need = &walk->needs->ranks[rank];
    while (walk->edge[rank] < need->count) {
        uint32_t target = walk->needs->targets[need->first + walk->edge[rank]++];
        if (target != rank && emu_deadlock_holds(walk->deadlock, walk->needs, target))
            return target;
    }
    return rank;
}

static void walk_from(struct walk *walk, uint32_t start)
{
    uint32_t rank = start;
    walk->above[start] = start;
    open_rank(walk, start);
    for (;;) {
        uint32_t target = next_target(walk, rank);
        if (target != rank && walk->number[target] == 0) {
            walk->above[target] = rank;
            open_rank(walk, target);
            rank = target;
        } else if (target != rank) {
            if (walk->low[target] != CLOSED && walk->number[target] < walk->low[rank])
                walk->low[rank] = walk->number[target];
        } else {
            uint32_t low = walk->low[rank];
            if (low == walk->number[rank])
                close_component(walk, rank);
            if (rank == start)
                return;
            rank = walk->above[rank];
            if (low < walk->low[rank])
                walk->low[rank] = low;
        }
    }
}

/* From the lowest rank of each knot to 0, 1, ... */
static void number_knots(struct emu_deadlock *deadlock)
{
    uint32_t *names = deadlock->spare;
    deadlock->knots = 0;
    for (uint32_t rank = 0; rank < deadlock->world; rank++)
        if (deadlock->core[rank] && deadlock->knot[rank] == rank)
            names[rank] = deadlock->knots++;
    for (uint32_t rank = 0; rank < deadlock->world; rank++)
        if (deadlock->knot[rank] != EMU_NO_KNOT)
            deadlock->knot[rank] = names[deadlock->knot[rank]];
}

void emu_deadlock_tie(struct emu_deadlock *deadlock, const struct emu_needs *needs)
{
    uint32_t world = deadlock->world;
    struct walk walk = {.needs = needs, .deadlock = deadlock};
    walk.number = deadlock->spare;
    walk.low = walk.number + world;
    walk.edge = walk.low + world;
    walk.stack = walk.edge + world;
    walk.above = walk.stack + world;
    memset(walk.number, 0, world * sizeof *walk.number);
    memset(deadlock->core, 0, world);
    for (uint32_t rank = 0; rank < world; rank++)
        deadlock->knot[rank] = EMU_NO_KNOT;
    for (uint32_t rank = 0; rank < world; rank++)
        if (emu_deadlock_holds(deadlock, needs, rank) && walk.number[rank] == 0)
            walk_from(&walk, rank);
    number_knots(deadlock);
}
