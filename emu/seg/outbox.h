/* Where is a message between its send and its receive?
 *
 * In the outbox of its sender, which outlives the sender. A message is a descriptor and its bytes:
 * in the descriptor itself (up to EMU_INLINE_MESSAGE), in a chain of blocks (buffered), or not yet
 * there at all (large, or no room): then the receiver accepts it and the bytes pass through the
 * two chunks of the sender's ferry, one message at a time.
 *
 *   FREE --sender--> READY --receiver--> TAKEN --sender--> FREE            buffered
 *   FREE --sender--> OFFERED --receiver--> ACCEPTED --receiver--> TAKEN    by ferry
 *                    READY, OFFERED --receiver--> REFUSED --sender--> FREE the receiver cannot
 *                                                                         take it
 *   outbox of one rank:
 *   0      head       descriptors used so far, ferry words
 *   256    next       chain of blocks
 *          messages   128 bytes each: what is told of it, and the bytes of a short one
 *          blocks     block_bytes each
 *          ferry      two chunks of ferry_bytes
 *
 * word           writers            readers     order    publishes           a stale read costs
 * used           the sender         receivers   release  -                   a message seen later;
 *                                                                            its bell rings after
 * message.word   sender; receiver   all ranks   acq_rel  the message, and    one more look, after
 *                as in the picture  (for dest)           that it was taken   the bell
 * bytes,         the sender         its dest    plain, published by message.word
 * first_block
 * tracked        the sender         the sender  plain
 * note           the sender         dest, any   release  what was sent       a torn note, seen by
 *                                                                            its sequence: dropped
 * ferry_owner    the sender         receivers   release  which message moves one more look
 * ferry_put      the sender         the owner   release  chunks written      one more look
 * ferry_taken    the owner's dest   the sender  release  chunks free again   one more look
 *
 * Order: the sequence number of the sender decides which of its messages with one tag is first.
 * The destination is part of the word, because others look at it while the sender reuses it.
 */
#ifndef EMU_SEG_OUTBOX_H
#define EMU_SEG_OUTBOX_H

#include "seg/header.h"
#include "seg/note.h"

#include <stdbool.h>
#include <string.h>

#define EMU_INLINE_MESSAGE 64
#define EMU_MESSAGES_MAX 256
#define EMU_BLOCKS_MAX 256
#define EMU_BUFFERED_MAX UINT64_C(65536) /* a larger message is never buffered */

enum emu_message_state {
    EMU_MESSAGE_FREE,
    EMU_MESSAGE_READY,
    EMU_MESSAGE_OFFERED,
    EMU_MESSAGE_ACCEPTED,
    EMU_MESSAGE_TAKEN,
    EMU_MESSAGE_REFUSED
};

struct emu_message {
    _Atomic uint64_t word; /* sequence (40 bits) | dest (21) | state (3) */
    uint64_t bytes;
    uint32_t first_block;
    uint32_t tracked; /* the sender waits for it: it takes the descriptor back itself */
    _Atomic uint64_t note[EMU_NOTE_WORDS]; /* of the send: peer is the destination */
    unsigned char inline_bytes[EMU_INLINE_MESSAGE];
};
_Static_assert(sizeof(struct emu_message) == 128, "two lines a message");

struct emu_outbox_head {
    _Atomic uint32_t used;                          /* descriptors at or above were never used */
    alignas(EMU_LINE) _Atomic uint64_t ferry_owner; /* sequence + 1; 0: none */
    _Atomic uint64_t ferry_put;
    alignas(EMU_LINE) _Atomic uint64_t ferry_taken;
    alignas(EMU_LINE) uint16_t next[EMU_BLOCKS_MAX];
};

/* One outbox with its place in the segment; private to a process. */
struct emu_outbox {
    struct emu_outbox_head *head;
    struct emu_message *messages;
    unsigned char *blocks;
    unsigned char *ferry;
    uint32_t message_count;
    uint32_t block_count;
    uint32_t block_bytes;
    uint32_t ferry_bytes; /* of one chunk */
};

/* A message as the launcher reads it. */
struct emu_message_view {
    enum emu_message_state state;
    uint32_t to;
    uint64_t sequence;
    struct emu_call_view call; /* the send */
};

uint64_t emu_outbox_bytes(uint32_t world);
struct emu_outbox emu_outbox_of(const struct emu_segment *segment, uint32_t rank);

/* Message i of a rank's outbox (below EMU_MESSAGES_MAX); false where there is none waiting to be
 * received (FREE, TAKEN and REFUSED are not). Callers: the launcher. */
bool emu_outbox_read(const struct emu_segment *segment, uint32_t rank, uint32_t i,
                     struct emu_message_view *out);

static inline enum emu_message_state emu_message_state(uint64_t word)
{
    return (enum emu_message_state)(word & 7);
}
static inline uint32_t emu_message_dest(uint64_t word)
{
    return (uint32_t)(word >> 3) & ((1u << 21) - 1);
}
static inline uint64_t emu_message_sequence(uint64_t word)
{
    return word >> 24;
}
static inline uint64_t emu_message_word(uint64_t sequence, uint32_t dest,
                                        enum emu_message_state state)
{
    return sequence << 24 | (uint64_t)dest << 3 | (uint64_t)state;
}
static inline uint64_t emu_message_look(const struct emu_message *message)
{
    return atomic_load_explicit(&message->word, memory_order_acquire);
}

/* The tag. Others than the dest may see that of another message: the descriptor may be reused
 * meanwhile. */
static inline int32_t emu_message_tag(const struct emu_message *message)
{
    uint64_t word = atomic_load_explicit(
        &message->note[offsetof(struct emu_note, tag) / sizeof word], memory_order_acquire);
    int32_t tag;
    _Static_assert(offsetof(struct emu_note, tag) % sizeof word == 0, "first in its word");
    memcpy(&tag, &word, sizeof tag);
    return tag;
}

/* Change the state alone. Only one process may do so in each state, see the picture. */
void emu_message_set(struct emu_message *message, enum emu_message_state state);

/* The sender's own books: which blocks are in use. Private to the sending process. */
struct emu_sender {
    struct emu_outbox box;
    uint64_t sequence;
    bool taken[EMU_BLOCKS_MAX];
};
void emu_sender_init(struct emu_sender *sender, const struct emu_segment *segment, uint32_t rank);

/* A free descriptor (NULL: none), and the bytes put into it. false: no room, nothing written. */
struct emu_message *emu_sender_claim(struct emu_sender *sender);
bool emu_sender_fill(struct emu_sender *sender, struct emu_message *message, const void *bytes,
                     uint64_t count);
/* Take back a descriptor that its dest has done with (or that has no living dest). */
void emu_sender_release(struct emu_sender *sender, struct emu_message *message);

/* READY or OFFERED; bytes and tracked are set before. The destination is note->peer. Returns its
 * number. */
uint64_t emu_sender_publish(struct emu_sender *sender, struct emu_message *message,
                            const struct emu_note *note, enum emu_message_state state);

/* Receiver: the first READY or OFFERED message for `dest` with this tag; NULL: none. */
struct emu_message *emu_outbox_match(const struct emu_outbox *box, uint32_t dest, int32_t tag);
/* The bytes of a READY message. */
void emu_outbox_copy(const struct emu_outbox *box, const struct emu_message *message, void *to);

#endif
