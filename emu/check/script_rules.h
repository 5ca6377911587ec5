/* The state of a replay: what has been started, and what each rank waits for. See script_replay.h.
 */
#ifndef EMU_CHECK_SCRIPT_RULES_H
#define EMU_CHECK_SCRIPT_RULES_H

#include "config/script.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One half of a call that has been started: it is over when its other side has come as far. */
struct emu_replay_want {
    enum emu_kind kind; /* EMU_SEND, EMU_RECV, or a collective */
    const struct emu_script_op *op;
    uint32_t group; /* collective */
    uint32_t seen;  /* collective: members found to have started theirs, in group order */
    uint32_t peer;  /* message */
    uint64_t index; /* in the group, or among the messages of this pair and tag */
};

/* A started op: a sendrecv wants two things. */
struct emu_replay_call {
    struct emu_replay_want wants[2];
    uint32_t count;
};

/* Messages of one sender, receiver and tag. */
struct emu_replay_pair {
    uint32_t from, to;
    int32_t tag;
    bool used;
    uint64_t sends, recvs; /* started */
};

struct emu_replay_rank {
    struct emu_script_walk walk;
    struct emu_replay_call *open;        /* one a name of its entry; owned */
    struct emu_replay_call now;          /* a blocking call */
    const struct emu_script_op *waiting; /* a wait op that is not over */
    bool ended;
};

struct emu_replay {
    const struct emu_script *script;
    struct emu_replay_rank *ranks;
    uint64_t *started; /* [rank * families + family] collectives; owned */
    struct emu_replay_pair *pairs;
    size_t pair_room, pair_count; /* room is 0 or a power of two */
    uint64_t steps;
    bool no_memory;
};

EMU_MUST_CHECK enum emu_status emu_replay_init(struct emu_replay *replay,
                                               const struct emu_script *script);
void emu_replay_finish(struct emu_replay *replay);

/* Start the calls of an op on this rank. */
void emu_replay_start(struct emu_replay *replay, uint32_t rank, const struct emu_script_op *op,
                      struct emu_replay_call *call);

/* Is it over? Looks further only from where the last look ended. */
bool emu_replay_is_over(struct emu_replay *replay, uint32_t rank, struct emu_replay_want *want);

/* What this rank waits for now; NULL where it does not. */
struct emu_replay_want *emu_replay_waits_for(struct emu_replay *replay, uint32_t rank);

/* Does this want wait for that rank? */
bool emu_replay_awaits(const struct emu_replay *replay, const struct emu_replay_want *want,
                       uint32_t other);

#endif
