/* Which ranks can never act again, and which of them are the cause?
 *
 * F is the least set of ranks that may still act: those that act, and those whose needs F can meet
 * (all of them, or one where one suffices). A rank outside F that has not ended is deadlocked: only
 * ranks that wait for each other could help it. Proof: all deadlocked ranks slept at one moment (a
 * steady reading, seg/needs.h); the first of them to act again would need an act of one of the
 * others before. So no time-out is involved, and a rank that is late, computes, or was satisfied
 * and not yet scheduled is never accused: it is in F.
 *
 * Stopped ranks may act (they can be continued), so who waits for one is not deadlocked; asked what
 * would be if they were never continued, F without them tells who waits for a stopped rank.
 *
 * A knot is a set of deadlocked ranks that wait, directly or through others of the knot, for each
 * other and for nobody else: each knot is a cause of its own. Every other deadlocked rank waits for
 * a knot, directly or through others, and is a consequence of the lowest numbered one.
 *
 * Pure functions. F costs O(ranks + lists of needs), each shared list counted once; knots, which
 * are asked for only where somebody is deadlocked, O(ranks + needs). Work space is given by
 * emu_deadlock_init.
 */
#ifndef EMU_CHECK_DEADLOCK_H
#define EMU_CHECK_DEADLOCK_H

#include "seg/needs.h"

#include <stdbool.h>
#include <stdint.h>

#define EMU_NO_KNOT UINT32_MAX

struct emu_deadlock {
    uint32_t world;
    uint32_t knots;      /* how many, numbered in order of their lowest rank */
    uint32_t dead;       /* deadlocked ranks */
    unsigned char *acts; /* per rank: in F; owned, like all below */
    unsigned char *core; /* per rank: member of a knot */
    uint32_t *knot;      /* per rank: the knot that it is in or waits for, or EMU_NO_KNOT */
    uint32_t *spare;     /* work space: 5 words a rank */
    uint32_t *waiters;   /* whose lists each rank is in, rank by rank */
    size_t waiter_room;
};

EMU_MUST_CHECK enum emu_status emu_deadlock_init(struct emu_deadlock *deadlock, uint32_t world);
void emu_deadlock_finish(struct emu_deadlock *deadlock);

/* F alone. stopped_act: whether stopped ranks belong to it. EMU_ENOMEM. */
EMU_MUST_CHECK enum emu_status emu_deadlock_reach(struct emu_deadlock *deadlock,
                                                  const struct emu_needs *needs, bool stopped_act);

/* Is the rank deadlocked, by the latest reach? */
bool emu_deadlock_holds(const struct emu_deadlock *deadlock, const struct emu_needs *needs,
                        uint32_t rank);

/* After a reach: knots. Nothing is done where nobody is deadlocked. */
void emu_deadlock_tie(struct emu_deadlock *deadlock, const struct emu_needs *needs);

#endif
