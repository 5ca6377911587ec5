/* How does a rank carry out its calls over the segment? The parts of the shm backend.
 *
 *   shm_backend.c      start, wait: the list of open requests, progress
 *   shm_checksum.c     do bytes arrive as they were sent?
 *   shm_collective.c   one collective through its slot (seg/slot.h)
 *   shm_cut.c          how a collective whose buffers are lent is cut
 *   shm_lent.c         units of a collective whose buffers are lent (seg/loan.h)
 *   shm_message.c      one send or receive through outboxes (seg/outbox.h)
 *   shm_rounds.c       bytes into the stage, and from there to the outputs
 *   shm_wait.c         while nothing moves: spin, yield, sleep
 *   shm_wants.c        what the launcher is told of open requests before the rank sleeps
 *
 * Progress: whoever waits for any request advances all open requests of its rank, in start order;
 * nothing advances while the rank runs its own code. A step never blocks. A request is finished
 * when `done`; its status is then what its wait will answer.
 */
#ifndef EMU_COMM_SHM_H
#define EMU_COMM_SHM_H

#include "comm/counts.h"
#include "comm/handle.h"
#include "comm/parts.h"
#include "seg/note.h"
#include "seg/outbox.h"
#include "seg/rest.h"
#include "seg/slot.h"

#include <stdbool.h>

#define SHM_LEADERS_MAX 64
#define SHM_REQUESTS_KEPT 2

/* A group as its member sees it. Its leaders work on lent buffers: one on each core, as far as
 * ranks are spread over them by number; in a group of no more members than cores all. */
struct shm_group {
    bool known; /* the ring is filled in */
    bool leads; /* this member is a leader */
    uint32_t leader_count;
    struct emu_ring ring;
    uint32_t me;                       /* group rank */
    uint64_t next_index;               /* of the next call to start */
    uint64_t next_posted;              /* calls are signed in this order */
    uint32_t leaders[SHM_LEADERS_MAX]; /* the first of them, group ranks */
};

struct shm_collective {
    struct shm_group *group;
    uint64_t payload;      /* bytes of this member's input */
    uint64_t payload_max;  /* of any member's */
    uint64_t ledger_bytes; /* of coefficients that travel, behind payload_max at ledger_at */
    uint64_t ledger_at;
    uint64_t bytes;     /* of this member's deposits: payload and coefficients */
    uint64_t bytes_max; /* of any member's */
    uint64_t rounds;    /* at least 1 */
    uint64_t lead;      /* rounds that carry nothing: 1 in a call that might be lent, else 0 */
    bool lent;          /* this member lends its buffers */
    bool works;         /* it takes units, if all have lent */
    bool awaited;       /* its rank waits for it */
    bool last_folds;
    uint64_t rounds_given; /* deposited; 0: not signed yet */
    uint64_t rounds_taken;
    bool corrupt; /* this member saw that bytes did not fit their checksum */
    void *copy;   /* of an input that the output would overwrite too early; owned */
};

enum shm_message_stage {
    SHM_MESSAGE_NEW,    /* send: not in the outbox; recv: no message met */
    SHM_MESSAGE_POSTED, /* send: in the outbox, not over */
    SHM_MESSAGE_FERRIED /* recv: accepted, the bytes are coming */
};

struct shm_message {
    enum shm_message_stage stage;
    struct emu_message *message;
    uint64_t sequence;
    uint64_t bytes;  /* of the message */
    uint64_t chunks; /* ferried: written (send) or read (recv) so far */
    bool loading;    /* send: it has the ferry */
};

struct shm_request {
    struct emu_request base;
    struct shm_request *previous, *next; /* open requests, in start order */
    struct emu_note note;
    enum emu_status status;
    bool done;
    union {
        struct shm_collective collective;
        struct shm_message message;
    };
};

/* Lies in the room of its rank; what every call looks at stands first. */
struct shm_backend {
    struct emu_layer layer;
    const struct emu_segment *segment;
    uint32_t id;
    bool sleepy; /* yields are slow for now: a foreign process has a core */
    struct shm_request *first, *last;
    struct shm_request *spare;                  /* requests for calls to come, linked by next */
    struct shm_group *groups;                   /* by family; as many as the roster has */
    struct shm_request kept[SHM_REQUESTS_KEPT]; /* the first that were spare */
    unsigned char *bench;         /* where a block of a unit is folded; NULL before the first */
    struct shm_request *ferrying; /* the send that has the ferry */
    struct emu_counts counts;
    struct emu_sender sender;
};

static inline bool shm_is_message(const struct shm_request *request)
{
    return request->base.call.kind == EMU_SEND || request->base.call.kind == EMU_RECV;
}

static inline void shm_finish(struct shm_request *request, enum emu_status status)
{
    request->status = status;
    request->done = true;
}

/* The group as this rank sees it, which must be a member; filled in by the first call of it. */
struct shm_group *shm_group_of(struct shm_backend *backend, uint32_t id);

/* The group of a collective; NULL: this rank has not called it before, or the call is none. */
static inline struct shm_group *shm_group_known(struct shm_backend *backend,
                                                const struct emu_call *call)
{
    const struct emu_family_starts *starts = &backend->layer.rank->starts;
    if ((unsigned)call->kind >= EMU_KIND_COUNT || call->kind == EMU_SEND ||
        call->kind == EMU_RECV || call->group >= starts->groups)
        return NULL;
    struct shm_group *group = &backend->groups[emu_starts_family(starts, call->group)];
    return group->known && group->ring.group == call->group ? group : NULL;
}

/* Fill in a new request, whose note has all but its index. EMU_ENOMEM: nothing to undo. */
enum emu_status shm_collective_prepare(struct shm_backend *backend, struct shm_request *request);
void shm_collective_release(struct shm_request *request);

/* Advance as far as possible without waiting; true if anything changed. */
bool shm_collective_step(struct shm_backend *backend, struct shm_request *request);
bool shm_send_step(struct shm_backend *backend, struct shm_request *request);
bool shm_recv_step(struct shm_backend *backend, struct shm_request *request);

/* The rank waits for this collective and will not return before it is over. */
void shm_collective_await(struct shm_request *request);

/* Bytes [from, to) of [start, start + size) that fall into a round, as offsets in a member's
 * deposits; first: the byte with which the round begins. Empty: from == to. */
struct shm_stretch {
    uint64_t from, to, first;
};
struct shm_stretch shm_round_stretch(const struct shm_collective *own, uint64_t round,
                                     uint64_t start, uint64_t size);

/* Deposit the next round and announce it; true: see emu_slot_arrive. */
bool shm_give_round(struct shm_backend *backend, struct shm_request *request);

/* Take what this member wants of the next round; is_folded: from the result of who came last. */
void shm_take_round(struct shm_backend *backend, struct shm_request *request, bool is_folded);

/* Fold the deposits of the only round for all members: the caller came last. */
void shm_fold_for_all(const struct shm_backend *backend, struct shm_request *request);

/* May this call's buffers be lent, as far as its signature tells? All members answer alike. */
bool shm_may_lend(const struct shm_backend *backend, const struct shm_request *request);

/* Fill in what this member lends; false: its buffers cannot be lent. */
bool shm_offer(const struct shm_backend *backend, const struct shm_request *request,
               struct emu_offer *offer);

/* How all members cut a call that is lent: see shm_cut.c. In bytes, multiples of a line. */
struct shm_cut {
    uint64_t unit, ledger_unit; /* of an input, of the coefficients */
    uint64_t block;
    uint64_t sum_block;         /* 0: there are no checksums, and nothing below */
    uint64_t sums, ledger_sums; /* of the longest input, of the coefficients behind it */
};
struct shm_cut shm_cut_of(const struct shm_collective *own);

/* How many pieces cover so many bytes? */
uint64_t shm_pieces(uint64_t bytes, uint64_t piece);

/* Is there room to fold a unit? Made before the first call that might be lent. */
bool shm_has_bench(struct shm_backend *backend);

/* Take units of a call that is LENT until none is left. */
void shm_lent_work(struct shm_backend *backend, struct shm_request *request);

/* Of a call that has ended well: was it worked on where its buffers lie? Else its second round was
 * given. */
static inline bool shm_went_lent(const struct shm_collective *own)
{
    return own->lent && own->rounds_given == 1;
}

/* The call has ended well, and this member has not departed. */
void shm_lent_end(const struct shm_backend *backend, struct shm_request *request);

void shm_enter_phase(const struct shm_backend *backend, const struct shm_request *request,
                     enum emu_phase phase);

/* Do others wait for what this open request still has to do? */
bool shm_collective_owes(const struct shm_request *request);

/* One wait, as far as the launcher knows of it. */
struct shm_wait {
    bool shown;  /* the call is on the board */
    bool moved;  /* something was done since the open requests were published */
    bool napped; /* it has slept without being shown */
    struct emu_rest rest;
};

/* Advance all open requests as far as they go without waiting; true if anything changed. */
bool shm_step_all(struct shm_backend *backend);

/* Advance everything until the request is done or the run is over. */
void shm_drive(struct shm_backend *backend, struct shm_request *request);

/* Publish what the open requests would still do while `waited` is awaited. */
void shm_publish_wants(const struct shm_backend *backend, const struct shm_request *waited,
                       struct emu_rest *rest);

/* Before a round is deposited: its checksum. Before it is taken: does it fit? If not the call goes
 * on to its end and answers EMU_ECORRUPT, and the launcher is told. */
void shm_checksum_give(const struct shm_request *request);
void shm_checksum_verify(const struct shm_backend *backend, struct shm_request *request);

/* The same where one folds for all: it verifies every deposit and sums its result; a deposit that
 * does not fit makes the call answer EMU_ECORRUPT everywhere. */
void shm_checksum_verify_all(const struct shm_backend *backend, struct shm_request *request);
void shm_checksum_give_result(const struct shm_request *request, const unsigned char *result);
void shm_checksum_verify_result(const struct shm_backend *backend, struct shm_request *request,
                                const unsigned char *result);

/* The same of what is lent. The owner sums its blocks before it says that it has come; a worker
 * verifies a block before it uses a byte of it. Once the call has ended: was all as it was? */
struct shm_lent_block {
    uint32_t source;
    bool is_ledger;
    uint64_t at, bytes; /* in the source's input, or in its coefficients */
};
void shm_checksum_lend(const struct shm_request *request);
void shm_checksum_verify_lent(const struct shm_backend *backend, struct shm_request *request,
                              const struct shm_cut *cut, const struct shm_lent_block *block);
void shm_checksum_end(struct shm_request *request);

/* avg: divide the sums of coefficients by the number of members; other ops: nothing. */
void shm_share_coefficients(const struct shm_request *request, uint64_t *sums, uint64_t count);

/* The send will not be waited for: its descriptor is nobody's affair any more. */
void shm_send_abandon(struct shm_backend *backend, struct shm_request *request);

#endif
