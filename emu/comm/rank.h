/* How is a rank's handle made, and what does a call pass on its way?
 *
 * Every call passes a stack of filters with one entry point:
 *     asked-recorder -> fault -> wire-recorder -> backend
 * A filter may look, change, drop or repeat calls; a backend carries them out. Both have the same
 * vtable. Backends: shm (processes or threads over a segment), self (groups of one, no segment).
 */
#ifndef EMU_COMM_RANK_H
#define EMU_COMM_RANK_H

#include "seg/board.h"
#include "seg/segment.h"

#include <meshemu/comm.h>

struct emu_layer;
struct emu_stopwatch;

/* One layer of the stack. */
struct emu_layer_ops {
    const char *name;
    /* Begin the call; it may complete at once. On success *request belongs to the caller until
     * `wait`. On failure nothing was started. The call's fields are copied, its buffers borrowed.
     */
    enum emu_status (*start)(struct emu_layer *layer, const struct emu_call *call,
                             struct emu_request **request);
    /* Finish a request of this layer and free it, whatever the answer. */
    enum emu_status (*wait)(struct emu_layer *layer, struct emu_request *request);
    /* Free the layer; requests never waited for are dropped. Accepts half-built layers. */
    void (*destroy)(struct emu_layer *layer);
};

struct emu_layer {
    struct emu_layer_ops ops; /* here, so that a call need not fetch them from elsewhere */
    struct emu_layer *below;  /* NULL for a backend */
    struct emu_rank *rank;    /* borrowed */
};

/* A rank over a segment (backend shm, recorders on), or over nothing (backend self: every family
 * of the roster must have groups of one; the arena lies in `memory`). The handle is private to its
 * process or thread. ENOMEM. */
EMU_MUST_CHECK enum emu_status emu_rank_create(const struct emu_segment *segment, uint32_t id,
                                               struct emu_rank **rank);
EMU_MUST_CHECK enum emu_status emu_rank_create_self(const struct emu_roster *roster, void *memory,
                                                    uint64_t bytes, struct emu_rank **rank);
void emu_rank_destroy(struct emu_rank *rank);

/* Put a layer on top of the backend's wire-recorder and below the asked-recorder (fault filters).
 */
void emu_rank_push(struct emu_rank *rank, struct emu_layer *layer);

const struct emu_segment *emu_rank_segment(const struct emu_rank *rank); /* NULL: self */
const struct emu_roster *emu_rank_roster(const struct emu_rank *rank);

/* Strict semantics: a send returns when its receive has met it (default: a send that fits is
 * buffered and returns at once). Changes sends that start later. */
void emu_rank_set_strict(struct emu_rank *rank, bool strict);

/* Bytes of its input that a member has just written where the others will read them. */
struct emu_deposit {
    unsigned char *bytes; /* NULL: the phase moves none */
    uint64_t first;       /* place of the first byte in the member's input */
    uint64_t size;
};

/* Somebody who is told when a collective of this rank enters a phase inside the backend: before it
 * signs, after it has deposited and before that is announced, before it takes the result. In a
 * group of one there are no phases. For fault filters. */
struct emu_phase_watch {
    void (*entered)(void *user, enum emu_phase phase, const struct emu_call *call,
                    const struct emu_deposit *deposit);
    void *user;
};

/* Replaces the watch before; one whose `entered` is NULL is none. */
void emu_rank_watch_phases(struct emu_rank *rank, struct emu_phase_watch watch);

/* What passed the top and the bottom of the stack: equal where no filter changed anything. */
struct emu_traffic {
    uint64_t calls[EMU_KIND_COUNT];
    uint64_t elements[EMU_KIND_COUNT]; /* sum of count */
    /* Bytes at their stated cost (mesh/cost.h): of collectives by family, of messages by the one
     * axis along which the two ranks differ (others are left out). */
    uint64_t family_bytes[EMU_ROSTER_MAX_FAMILIES];
    uint64_t message_bytes[EMU_MESH_MAX_AXES];
};
const struct emu_traffic *emu_rank_asked(const struct emu_rank *rank);
const struct emu_traffic *emu_rank_wired(const struct emu_rank *rank);

/* Of the messages in emu_rank_wired the bytes to each rank beside this one, by place
 * (mesh/beside.h): their sum is that of message_bytes. NULL: it has sent none. */
const uint64_t *emu_rank_sent_to(const struct emu_rank *rank);

/* Calls of this rank that ended well and went from buffer to buffer: `lent` of seg/ways.h. */
uint64_t emu_rank_lent_calls(const struct emu_rank *rank);

/* What a rank spends its time on. In a call, whatever is not one of the others is its protocol:
 * arguments, filters, recorders, signatures, looking whether a peer has moved. */
enum emu_lap {
    EMU_LAP_COMPUTE, /* its own code, between calls */
    EMU_LAP_CALL,
    EMU_LAP_WAIT,  /* in calls: yielding or asleep */
    EMU_LAP_FOLD,  /* in calls: copying and folding payload */
    EMU_LAP_CHECK, /* sums over payload, coefficients, the record of a step */
    EMU_LAP_GATE,  /* at the gate behind a step, see seg/gate.h */
    EMU_LAP_COUNT
};

/* The rank's stopwatch, whose laps are those above. It does not run until somebody starts it; then
 * calls enter their laps and return to the one they came from. */
struct emu_stopwatch *emu_rank_stopwatch(struct emu_rank *rank);

/* Go over to a lap; returns the one before. */
enum emu_lap emu_rank_enter(struct emu_rank *rank, enum emu_lap lap);

/* Note the training step on the board. */
void emu_rank_set_step(struct emu_rank *rank, uint64_t step);

/* Number of started calls that nobody has waited for. */
uint64_t emu_rank_open_requests(const struct emu_rank *rank);

#endif
