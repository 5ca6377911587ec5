/* How does a rank tell the launcher that it will do nothing until something changes?
 *
 * By its rest word (board_words.h). Even: the rank is awake, or sleeps untold (the first sleep of a
 * wait in a crowd, see comm/shm_backend.c, no longer than emu_rest_tell_ns); it may do anything.
 * Odd: it sleeps, or is about to; what it waits for and what it would still do for others while it
 * waits lies on its board (facts and wants) and does not change. The rank makes the word even
 * before it looks at anything, and moves on to another number when it has done something. So a
 * launcher that reads the same odd number twice knows that the rank did nothing in between but
 * look: whatever it read meanwhile of that rank's notes, signatures and messages belongs together.
 *
 * An open request that is not the awaited one matters too, since a rank that waits advances all of
 * them. Collectives that are signed and messages that are sent can be seen by everyone; `wants`
 * lists the rest: receives that have met no message, sends without room, calls not signed yet.
 */
#ifndef EMU_SEG_REST_H
#define EMU_SEG_REST_H

#include "seg/header.h"
#include "seg/words.h"

#include <stdbool.h>
#include <stdint.h>

#define EMU_WANTS_MAX 64
/* Who has slept this long in one wait tells the launcher, once: as long as a call of all ranks may
 * take where each must have its turn on a core. Shorter, thousands of ranks would wake up in every
 * call only to say that they wait. */
#define EMU_REST_TELL_NS UINT64_C(1000000)
#define EMU_REST_TURN_NS UINT64_C(16000)
static inline uint64_t emu_rest_tell_ns(const struct emu_segment *segment)
{
    uint64_t turns = EMU_REST_TURN_NS * segment->world;
    return turns > EMU_REST_TELL_NS ? turns : EMU_REST_TELL_NS;
}

enum emu_want_what {
    EMU_WANT_CALLS, /* with: group; index: the newest call that was started and is not signed */
    EMU_WANT_SENDS, /* with: the receiver; count: that many have no room yet */
    EMU_WANT_RECVS  /* with: the sender; count: that many have met no message */
};

struct emu_want {
    uint32_t what; /* enum emu_want_what */
    uint32_t with;
    int32_t tag;
    uint32_t count;
    uint64_t index;
};

enum emu_wait_stage {
    EMU_STAGE_NEW,   /* send: without room; recv: has met no message */
    EMU_STAGE_POSTED /* send: in the outbox under `sequence`; recv: bytes are coming */
};

struct emu_wants {
    uint64_t sequence;
    uint32_t stage; /* enum emu_wait_stage, of an awaited message */
    uint32_t ahead; /* an awaited recv: receives of this sender and tag that come first */
    uint32_t count; /* of items */
    uint32_t more;  /* 1: items that did not fit were left out */
    struct emu_want items[EMU_WANTS_MAX];
};
#define EMU_WANTS_HEAD_WORDS (offsetof(struct emu_wants, items) / sizeof(uint64_t))
#define EMU_WANT_WORDS (sizeof(struct emu_want) / sizeof(uint64_t))
_Static_assert(sizeof(struct emu_want) == 24 && offsetof(struct emu_wants, items) == 24,
               "whole words");

/* Add to the item of the same kind, peer (or group) and tag, or a new one. */
void emu_wants_add(struct emu_wants *wants, const struct emu_want *one);

/* The item; NULL: none. */
const struct emu_want *emu_wants_find(const struct emu_wants *wants, enum emu_want_what what,
                                      uint32_t with, int32_t tag);

/* One wait of one rank, private to it. */
struct emu_rest {
    uint64_t begun_ns;
    bool told;
};

/* Before the first sleep of a wait, and again after something was done: what is waited for. The
 * facts of the board are written before. */
void emu_rest_publish(const struct emu_segment *segment, uint32_t rank, struct emu_rest *rest,
                      const struct emu_wants *wants);

/* Sleep on *word as emu_word_sleep does, with the rest word odd meanwhile; news are posted once
 * when the wait has lasted emu_rest_tell_ns. */
void emu_rest_sleep(const struct emu_segment *segment, uint32_t rank, struct emu_rest *rest,
                    const struct emu_sleep *sleep);

/* The launcher: the rest word. order: acquire, facts and wants of an odd number are visible. */
uint64_t emu_rest_look(const struct emu_segment *segment, uint32_t rank);

/* The launcher: what was published, torn unless the rest word was the same odd number around. */
void emu_rest_wants(const struct emu_segment *segment, uint32_t rank, struct emu_wants *wants);

#endif
