/* Where do the k-th calls of the members of a group meet, and who decides how they end?
 *
 * Each group has a ring of EMU_SLOTS slots; call k meets in slot k mod EMU_SLOTS. A member signs
 * (writes what it asks for into its entry), deposits its first round of data and announces. Who
 * announces last compares the signatures, before a byte of result has moved. A payload larger than
 * one chunk of the stage goes in rounds, two of which lie in the stage at a time.
 *
 *   OPEN --all signed, equal, one round--> COMPLETE      word: decision | generation | tick
 *   OPEN --the same, and the last has folded--> FOLDED   every arrow is one compare-and-swap of the
 *   OPEN --all signed, equal, more rounds--> MATCHED     word, so there is one winner and every
 *   OPEN --all signed, equal, all lent--> LENT           member sees the same end.
 *   MATCHED --all deposited their last round--> COMPLETE
 *   LENT --all units of the work are done--> COMPLETE
 *   OPEN --signatures differ--> MISMATCH
 *   OPEN, MATCHED, LENT --a member is gone--> PEER
 *   COMPLETE, FOLDED --all departed--> OPEN of the next generation
 *
 * A group, as it lies in the segment:
 *   0    head     broken, reported                                   64
 *   64   slot 0   word, sum, came | units                            128
 *                 crew 0: came                                       64
 *                 ...                                                64 each
 *                 entry of member 0: see struct emu_slot_entry       192
 *                 ...                                                192 each
 *        slot 1   ...
 *
 * word          writers           readers   order    publishes                stale read costs
 * broken        any, min of index members   acq_rel  the first call that will one more wait: all
 *                                                    not happen, and why      words tick after it
 * reported      any, once         any       acq_rel  nothing (who appends)    -
 * slot.word     any, by CAS       members   acq_rel  the deposits of all, the nothing: sleepers are
 *                                                    decision, the reset      woken by a change
 * crew.came     its members, +1   its       acq_rel  as slot.came, to who     a spin or a yield
 *                                 members            completes the crew       more
 * slot.came     who completes a   members   acq_rel
 *               crew, +1
 *  deposited[p]                                      deposits of one round    one more look
 *  consumed[p]                                       that a chunk is free     one more look
 *  departed                                          that nobody reads        -
 * next_unit     workers, +1       workers   relaxed  nothing (who does it)    -
 * units_done    workers, +n       workers   acq_rel  outputs of the units     -
 * slot.sum      who folds         members   relaxed, published by the word
 * corrupt, folder  likewise; of what is lent workers, published by units_done
 * entry.posted  its member        any       release  the note beside it       a member seems absent
 * entry.done    its member        launcher  release  last round announced, or see below
 *                                                    all it gives was lent
 * entry.course  its member        any       seq_cst  lent, waits, works       see loan.h
 * entry.input   its member        workers   relaxed, published by posted
 * entry.output  its member        workers   relaxed, published by posted
 * entry.ledger  its member        workers   relaxed, published by posted
 * entry.sum     its member        members   relaxed, published and freed like the stage
 * stage         its member        members   plain, published by deposited, freed by consumed or
 *                                           departed; of what is lent: its sums, round 0 alone
 *
 * Members that take turns on cores count up in crews, member i in crew i modulo the number of
 * cores, whose line stays in the cache of their core; who completes a crew counts for it. A smaller
 * group has no crews, and each member counts for itself. Rounds of one parity share a counter: a
 * member can deposit round r+2 only after all consumed round r, hence after all deposited it, so a
 * crew has deposited round r when its count is its size * (r/2 + 1), all have when the slot's is
 * the number of crews * (r/2 + 1), and never too early. consumed likewise.
 *
 * A member may die between any two instructions. Its `done` is written after its announcement:
 * dead in between, the slot breaks although the data was there (CAS: for all or for none), or all
 * had announced and the launcher completes it. Who changes a word and dies before it wakes leaves
 * sleepers; emu_segment_fail_rank ticks and wakes every word of its groups. Who completes a crew
 * and dies before it counts for it has not announced: the slot breaks for all. Who departs last and
 * dies before the reset leaves a slot that nobody will need: it can make no later call.
 *
 * A killed member never blocks another's decision: everything is decided from counters by whoever
 * looks. One that is stopped between two counts is waited for like one that has not come. A broken
 * slot is never reused: its entries tell what was asked for.
 */
#ifndef EMU_SEG_SLOT_H
#define EMU_SEG_SLOT_H

#include "seg/header.h"
#include "seg/note.h"
#include "seg/words.h"

#include <stdbool.h>

#define EMU_SLOTS 8
#define EMU_INLINE_BYTES 64 /* payloads up to this lie in the entry itself */

enum emu_decision {
    EMU_SLOT_OPEN,     /* somebody has not signed yet */
    EMU_SLOT_MATCHED,  /* the signatures agree, data is moving */
    EMU_SLOT_COMPLETE, /* every member's data is there */
    EMU_SLOT_MISMATCH, /* the signatures differ; nothing moved */
    EMU_SLOT_PEER,     /* a member was gone before its data was there */
    EMU_SLOT_FOLDED,   /* as COMPLETE; the result of the fold lies at emu_ring_result */
    EMU_SLOT_LENT      /* the signatures agree, data is moving from buffer to buffer; see loan.h */
};

/* What a member tells of a call besides its note. */
struct emu_offer {
    uint64_t rounds;
    bool lent;              /* its buffers may be used by others until the call has ended */
    uint64_t input, output; /* where they lie, from the segment's base; 0: it has none */
    uint64_t ledger;        /* likewise its coefficients */
};

/* Three lines: what everyone looks at, the bytes of a short payload, what few calls need. */
struct emu_slot_entry {
    alignas(EMU_LINE) _Atomic uint64_t posted; /* index + 1 of the call in note; 0: being written */
    _Atomic uint64_t note[EMU_NOTE_WORDS];
    _Atomic uint64_t done;   /* index + 1 of the last call whose last round was announced */
    _Atomic uint64_t course; /* rounds of the call in note, and EMU_COURSE bits */
    unsigned char inline_bytes[EMU_INLINE_BYTES];
    _Atomic uint64_t sum[2]; /* of the deposit, by parity of the round; see comm/shm_checksum.c */
    _Atomic uint64_t input;  /* of the last call that was lent */
    _Atomic uint64_t output;
    _Atomic uint64_t ledger;
    unsigned char spare[24];
};
_Static_assert(sizeof(struct emu_slot_entry) == 192, "three lines a member");
_Static_assert(offsetof(struct emu_slot_entry, inline_bytes) == 64, "a line of its own");
_Static_assert(offsetof(struct emu_slot_entry, sum) == 128, "a line of its own");

/* How many have come so far, by what they came for. */
enum emu_turn { EMU_TURN_DEPOSITED, EMU_TURN_CONSUMED = 2, EMU_TURN_DEPARTED = 4, EMU_TURNS };

struct emu_slot {
    _Atomic uint32_t word;
    _Atomic uint32_t corrupt;         /* 1: what was folded did not fit its checksum */
    _Atomic uint32_t folder;          /* group rank of who folded */
    _Atomic uint64_t sum;             /* of the folded result */
    _Atomic uint64_t came[EMU_TURNS]; /* crews; members of a group without crews */
    alignas(EMU_LINE) _Atomic uint64_t next_unit;
    _Atomic uint64_t units_done;
};
_Static_assert(sizeof(struct emu_slot) == 128, "two lines, then crews and entries");

struct emu_slot_crew {
    alignas(EMU_LINE) _Atomic uint64_t came[EMU_TURNS]; /* members of this crew */
};
_Static_assert(sizeof(struct emu_slot_crew) == EMU_LINE, "a line that stays on its core");
#define EMU_CREWS_MAX 64
_Static_assert(offsetof(struct emu_slot, next_unit) == 64, "who comes fetches one line");

#define EMU_COURSE_LENT (UINT64_C(1) << 63)
#define EMU_COURSE_WAITS (UINT64_C(1) << 62) /* waits for this call and nothing else */
#define EMU_COURSE_WORKS (UINT64_C(1) << 61) /* may write to buffers of others */
#define EMU_COURSE_ROUNDS (EMU_COURSE_WORKS - 1)

struct emu_group_head {
    _Atomic uint64_t broken; /* see emu_breach */
    _Atomic uint32_t reported;
    alignas(EMU_LINE) unsigned char end[];
};
_Static_assert(sizeof(struct emu_group_head) == EMU_LINE, "one line");

/* A group with its place in the segment; private to a process, cheap to make (O(families)). */
struct emu_ring {
    const struct emu_segment *segment;
    struct emu_group members;
    uint32_t group;
    uint32_t size;
    uint32_t family;
    uint32_t crews;       /* 0: every member counts for itself */
    uint64_t chunk_bytes; /* of one round */
    uint64_t slot_bytes;
    struct emu_group_head *head;
};

/* The first call of a group that will not happen. */
struct emu_breach {
    bool broken;
    uint64_t index;
    enum emu_decision cause; /* EMU_SLOT_MISMATCH or EMU_SLOT_PEER */
    uint32_t rank;           /* PEER: who is gone; MISMATCH: who saw it */
};

/* Bytes of a group of `size` members in the segment. false: does not fit in 64 bits. */
bool emu_ring_bytes(uint32_t size, uint32_t cores, uint64_t *bytes);
struct emu_ring emu_ring_of(const struct emu_segment *segment, uint32_t group);
static inline struct emu_slot *emu_ring_slot(const struct emu_ring *ring, uint64_t index)
{
    return (void *)(ring->head->end + (index % EMU_SLOTS) * ring->slot_bytes);
}

static inline struct emu_slot_crew *emu_ring_crew(const struct emu_ring *ring, uint64_t index,
                                                  uint32_t crew)
{
    struct emu_slot_crew *crews = (void *)(emu_ring_slot(ring, index) + 1);
    return &crews[crew];
}

static inline struct emu_slot_entry *emu_ring_entry(const struct emu_ring *ring, uint64_t index,
                                                    uint32_t member)
{
    struct emu_slot_entry *entries = (void *)emu_ring_crew(ring, index, ring->crews);
    return &entries[member];
}

struct emu_breach emu_ring_breach(const struct emu_ring *ring);

/* Where a member's deposit of this round lies. bytes: the largest deposit of any member in the
 * whole call (EMU_INLINE_BYTES or less lies in the entry). */
unsigned char *emu_ring_deposit(const struct emu_ring *ring, uint64_t index, uint32_t member,
                                uint64_t round, uint64_t bytes);

/* Where who comes last leaves what it folded in a call of one round: room for one chunk. */
unsigned char *emu_ring_result(const struct emu_ring *ring, uint64_t index);

/* May call `index` be signed (the slot has been left by the call EMU_SLOTS before)? */
bool emu_slot_free(const struct emu_ring *ring, uint64_t index);

/* How did call `index` go? Of a slot that has moved on: COMPLETE. Of one not yet reached: OPEN.
 * order: acquire; COMPLETE: all deposits are visible. */
enum emu_decision emu_slot_decision(const struct emu_ring *ring, uint64_t index);

/* Members, in this order: sign, write the deposit of round 0, announce(0); then for each round:
 * wait until it is deposited, read it, consume; announce the next. After COMPLETE and the last
 * read: depart. Whose buffers are lent deposits nothing in round 0. */
void emu_slot_sign(const struct emu_ring *ring, uint64_t index, uint32_t member,
                   const struct emu_note *note, const struct emu_offer *offer);

/* arrive: true if the caller came last in round 0, all deposits being visible: it must judge, with
 * folded if the fold of all deposits lies at emu_ring_result. Until then the call stays open; if
 * the caller dies it is judged without a fold. announce: arrive, and judge without a fold. */
bool emu_slot_arrive(const struct emu_ring *ring, uint64_t index, uint32_t member, uint64_t round,
                     uint64_t rounds);
bool emu_slot_agrees(const struct emu_ring *ring, uint64_t index); /* do all signatures? */
void emu_slot_judge(const struct emu_ring *ring, uint64_t index, uint32_t member, bool folded);
void emu_slot_announce(const struct emu_ring *ring, uint64_t index, uint32_t member, uint64_t round,
                       uint64_t rounds);
bool emu_slot_deposited(const struct emu_ring *ring, uint64_t index, uint64_t round);
void emu_slot_consume(const struct emu_ring *ring, uint64_t index, uint32_t member, uint64_t round);
bool emu_slot_consumed(const struct emu_ring *ring, uint64_t index, uint64_t round);
void emu_slot_depart(const struct emu_ring *ring, uint64_t index, uint32_t member);

/* Has all of this member's crew signed an open call? Then nobody on its core can bring it about.
 * false in groups without crews. */
bool emu_slot_waits_abroad(const struct emu_ring *ring, uint64_t index, uint32_t member);

/* The group breaks at `index`: later calls answer the same, open slots from there on are decided.
 * A breach with a smaller index that is there already stays. Callers: who found the mismatch, the
 * launcher for a rank that is gone. */
void emu_ring_break(const struct emu_ring *ring, const struct emu_breach *breach);

/* A member that called at or after a breach: end its slot, and tell the launcher once. */
void emu_ring_meet_breach(const struct emu_ring *ring, uint64_t index);

/* Append the incident of a breach, once for each group, and post news. */
void emu_breach_report(const struct emu_ring *ring, const struct emu_breach *breach);

/* The first call of this member whose data is not there, after its process has gone. */
uint64_t emu_ring_next_of(const struct emu_ring *ring, uint32_t member);

/* One arrow of the picture; false: the slot was not in `from` of this call. Callers: slot.c,
 * loan.c.
 */
bool emu_slot_shift(const struct emu_ring *ring, uint64_t index, enum emu_decision from,
                    enum emu_decision to);

/* Change nothing but the word, so that nobody falls asleep over news that lies elsewhere. */
void emu_slot_tick(const struct emu_ring *ring, uint64_t index);

/* The word to sleep on while waiting for a change of this slot. */
static inline _Atomic uint32_t *emu_slot_word(const struct emu_ring *ring, uint64_t index)
{
    return &emu_ring_slot(ring, index)->word;
}

#endif
