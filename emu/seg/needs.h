/* Who must act before each waiting rank can go on?
 *
 * Read by the launcher while the ranks are at work, in three passes: the rest words (rest.h) and
 * what the sleepers have published; slots, outboxes and the gate; the rest words again. Where a
 * sleeper's word has changed the reading is not steady and says nothing.
 *
 * A need is what only somebody else's own doing can bring. What a waiting rank does by itself while
 * it waits (it deposits, takes and answers for all its open requests) is taken as done:
 *   collective   every member that has not started the call; where all have, who has not announced
 *                its last round and is awake or stopped: it has not deposited, folds, or has not
 *                freed a chunk; where all have, any who is awake or stopped: it works on loans
 *   receive      its sender, unless a message is there or about to come
 *   send         its receiver, unless that one waits with a receive for it;
 *                without room in the outbox: any receiver of what lies there
 *   gate         every rank that has not arrived at the step
 * All who wait in one call of a group, or at the gate, need the same: the list is read once and
 * shared, so that a reading costs O(ranks + lists) although thousands may wait for thousands.
 *
 * A rank whose condition holds, or that has met an end it does not know of yet, acts.
 *
 * Who has signed and is awake acts, or is stopped and may act: to wait for it is never part of a
 * deadlock (check/deadlock.h), it only tells who keeps whom waiting inside the call.
 */
#ifndef EMU_SEG_NEEDS_H
#define EMU_SEG_NEEDS_H

#include "seg/board.h"
#include "seg/rest.h"

#include <stdbool.h>
#include <stddef.h>

enum emu_stand {
    EMU_STAND_ACTS,    /* in its own code, or its wait is over */
    EMU_STAND_STOPPED, /* by a signal: acts once it is continued */
    EMU_STAND_WAITS,   /* for its needs, asleep */
    EMU_STAND_GONE     /* its process has ended */
};

/* What the launcher knows of a rank's process. */
enum emu_presence {
    EMU_PRESENT,
    EMU_PRESENT_STOPPED,
    EMU_LEAVING, /* about to be ended: acts, whatever it waits for */
    EMU_ABSENT
};

struct emu_need {
    enum emu_stand stand;
    enum emu_board_wait wait;  /* WAITS: on what; `note` tells the call */
    bool any;                  /* one of the targets suffices; else all must act */
    uint64_t rest;             /* the rest word, odd where it sleeps */
    uint64_t pulse;            /* see emu_board_pulse */
    uint64_t since_ns;         /* when the wait began */
    size_t first;              /* of its targets */
    uint32_t count;            /* of them; a rank that waits has at least one */
    uint32_t shared;           /* 0: the list is its own; else 1 + the rank whose list it is too */
    struct emu_call_view call; /* WAITS, but at a gate */
};

/* Where many wait for the same. */
struct emu_meeting {
    uint32_t group; /* UINT32_MAX: the gate */
    uint64_t index; /* of the call; or the step */
};

struct emu_needs {
    uint32_t world;
    bool steady;            /* nobody who sleeps has done anything meanwhile */
    bool busy;              /* somebody waits, but was awake to look around */
    struct emu_need *ranks; /* owned, like all below */
    uint32_t *targets;
    size_t target_count, target_room;
    struct emu_wants *wants;      /* work space, like the next two */
    uint32_t *readers;            /* 1 + who has read a list that others may share, by its hash */
    struct emu_meeting *meetings; /* what the readers wait in */
};

EMU_MUST_CHECK enum emu_status emu_needs_init(struct emu_needs *needs, uint32_t world);
void emu_needs_finish(struct emu_needs *needs);

/* presence: enum emu_presence of each rank. EMU_ENOMEM. */
EMU_MUST_CHECK enum emu_status emu_needs_read(const struct emu_segment *segment,
                                              const unsigned char *presence,
                                              struct emu_needs *needs);

#endif
