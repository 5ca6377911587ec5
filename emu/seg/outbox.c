#include "seg/outbox.h"

#include "seg/words.h"

#include <string.h>

struct shape {
    uint32_t messages, blocks, block_bytes, ferry_bytes;
};

/* Large worlds get small outboxes: only touched pages cost, but all of it is reserved. */
static struct shape shape_of(uint32_t world)
{
    if (world <= 64)
        return (struct shape){EMU_MESSAGES_MAX, EMU_BLOCKS_MAX, 4096, 65536};
    if (world <= 512)
        return (struct shape){128, 128, 1024, 16384};
    return (struct shape){64, 80, 1024, 4096};
}

_Static_assert(80 * 1024 >= EMU_BUFFERED_MAX, "a message that may be buffered fits when alone");
_Static_assert(sizeof(struct emu_outbox_head) % EMU_LINE == 0, "messages begin on a line");

uint64_t emu_outbox_bytes(uint32_t world)
{
    struct shape shape = shape_of(world);
    uint64_t bytes = sizeof(struct emu_outbox_head) +
                     shape.messages * (uint64_t)sizeof(struct emu_message) +
                     (uint64_t)shape.blocks * shape.block_bytes + 2 * (uint64_t)shape.ferry_bytes;
    return (bytes + EMU_PAGE - 1) & ~(EMU_PAGE - 1);
}

struct emu_outbox emu_outbox_of(const struct emu_segment *segment, uint32_t rank)
{
    struct shape shape = shape_of(segment->world);
    unsigned char *base = segment->base + segment->outboxes + rank * segment->outbox_bytes;
    struct emu_outbox box = {
        .head = (void *)base,
        .messages = (void *)(base + sizeof(struct emu_outbox_head)),
        .message_count = shape.messages,
        .block_count = shape.blocks,
        .block_bytes = shape.block_bytes,
        .ferry_bytes = shape.ferry_bytes,
    };
    box.blocks = (unsigned char *)(box.messages + shape.messages);
    box.ferry = box.blocks + (uint64_t)shape.blocks * shape.block_bytes;
    return box;
}

bool emu_outbox_read(const struct emu_segment *segment, uint32_t rank, uint32_t i,
                     struct emu_message_view *out)
{
    struct emu_outbox box = emu_outbox_of(segment, rank);
    if (i >= box.message_count)
        return false;
    uint64_t word = emu_message_look(&box.messages[i]);
    enum emu_message_state state = emu_message_state(word);
    if (state == EMU_MESSAGE_FREE || state == EMU_MESSAGE_TAKEN || state == EMU_MESSAGE_REFUSED)
        return false;
    struct emu_note note;
    emu_words_load(&note, box.messages[i].note, EMU_NOTE_WORDS);
    if (emu_message_sequence(emu_message_look(&box.messages[i])) != emu_message_sequence(word))
        return false;
    out->state = state;
    out->to = emu_message_dest(word);
    out->sequence = emu_message_sequence(word);
    emu_note_view(segment, rank, &note, &out->call);
    return true;
}

void emu_message_set(struct emu_message *message, enum emu_message_state state)
{
    /* relaxed: the state is ours to leave, nobody else writes the word now */
    uint64_t word = atomic_load_explicit(&message->word, memory_order_relaxed);
    atomic_store_explicit(&message->word, (word & ~UINT64_C(7)) | (uint64_t)state,
                          memory_order_release);
}

void emu_sender_init(struct emu_sender *sender, const struct emu_segment *segment, uint32_t rank)
{
    memset(sender, 0, sizeof *sender);
    sender->box = emu_outbox_of(segment, rank);
}

#define NO_BLOCK UINT32_MAX

static uint32_t blocks_for(const struct emu_outbox *box, uint64_t bytes)
{
    return (uint32_t)((bytes + box->block_bytes - 1) / box->block_bytes);
}

static void release_blocks(struct emu_sender *sender, struct emu_message *message)
{
    if (message->first_block == NO_BLOCK)
        return;
    uint32_t block = message->first_block;
    for (uint32_t left = blocks_for(&sender->box, message->bytes); left > 0; left--) {
        sender->taken[block] = false;
        block = sender->box.head->next[block];
    }
    message->first_block = NO_BLOCK;
}

void emu_sender_release(struct emu_sender *sender, struct emu_message *message)
{
    release_blocks(sender, message);
    message->tracked = 0;
    emu_message_set(message, EMU_MESSAGE_FREE);
}

/* Take back what receivers have done with; the lowest descriptors first, they are in cache. */
struct emu_message *emu_sender_claim(struct emu_sender *sender)
{
    struct emu_outbox *box = &sender->box;
    /* relaxed: the sender is the only writer of `used` */
    uint32_t used = atomic_load_explicit(&box->head->used, memory_order_relaxed);
    struct emu_message *found = NULL;
    for (uint32_t i = 0; i < used; i++) {
        struct emu_message *message = &box->messages[i];
        enum emu_message_state state = emu_message_state(emu_message_look(message));
        bool over = state == EMU_MESSAGE_TAKEN || state == EMU_MESSAGE_REFUSED;
        if (over && !message->tracked) {
            emu_sender_release(sender, message);
            state = EMU_MESSAGE_FREE;
        }
        if (state == EMU_MESSAGE_FREE && !found)
            found = message;
    }
    if (!found && used < box->message_count) {
        found = &box->messages[used];
        atomic_store_explicit(&box->head->used, used + 1, memory_order_release);
    }
    if (found)
        found->first_block = NO_BLOCK;
    return found;
}

static uint32_t free_blocks(const struct emu_sender *sender)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < sender->box.block_count; i++)
        count += !sender->taken[i];
    return count;
}

static uint32_t take_block(struct emu_sender *sender)
{
    uint32_t block = 0;
    while (sender->taken[block])
        block++;
    sender->taken[block] = true;
    return block;
}

bool emu_sender_fill(struct emu_sender *sender, struct emu_message *message, const void *bytes,
                     uint64_t count)
{
    struct emu_outbox *box = &sender->box;
    message->bytes = count;
    if (count <= EMU_INLINE_MESSAGE) {
        if (count > 0)
            memcpy(message->inline_bytes, bytes, count);
        return true;
    }
    if (count > EMU_BUFFERED_MAX || free_blocks(sender) < blocks_for(box, count))
        return false;
    uint32_t last = NO_BLOCK;
    for (uint64_t at = 0; at < count; at += box->block_bytes) {
        uint64_t part = count - at < box->block_bytes ? count - at : box->block_bytes;
        uint32_t block = take_block(sender);
        memcpy(box->blocks + (uint64_t)block * box->block_bytes, (const unsigned char *)bytes + at,
               part);
        if (last == NO_BLOCK)
            message->first_block = block;
        else
            box->head->next[last] = (uint16_t)block;
        last = block;
    }
    return true;
}

uint64_t emu_sender_publish(struct emu_sender *sender, struct emu_message *message,
                            const struct emu_note *note, enum emu_message_state state)
{
    uint64_t sequence = sender->sequence++;
    emu_words_store(message->note, note, EMU_NOTE_WORDS);
    atomic_store_explicit(&message->word, emu_message_word(sequence, note->peer, state),
                          memory_order_release);
    return sequence;
}

static bool is_waiting(uint64_t word)
{
    return emu_message_state(word) == EMU_MESSAGE_READY ||
           emu_message_state(word) == EMU_MESSAGE_OFFERED;
}

static struct emu_message *scan(const struct emu_outbox *box, uint32_t dest, int32_t tag)
{
    uint32_t used = atomic_load_explicit(&box->head->used, memory_order_acquire);
    struct emu_message *first = NULL;
    uint64_t lowest = UINT64_MAX;
    for (uint32_t i = 0; i < used; i++) {
        struct emu_message *message = &box->messages[i];
        uint64_t word = emu_message_look(message);
        if (!is_waiting(word) || emu_message_dest(word) != dest)
            continue;
        if (emu_message_tag(message) == tag && emu_message_sequence(word) < lowest) {
            lowest = emu_message_sequence(word);
            first = message;
        }
    }
    return first;
}

/* An earlier message may have been put behind the scan's back into a descriptor that the scan had
 * passed. It was published before the later one that was found: the next scan sees it. */
struct emu_message *emu_outbox_match(const struct emu_outbox *box, uint32_t dest, int32_t tag)
{
    struct emu_message *found = scan(box, dest, tag);
    for (;;) {
        struct emu_message *again = found ? scan(box, dest, tag) : NULL;
        if (again == found)
            return found;
        found = again;
    }
}

void emu_outbox_copy(const struct emu_outbox *box, const struct emu_message *message, void *to)
{
    if (message->bytes <= EMU_INLINE_MESSAGE) {
        if (message->bytes > 0)
            memcpy(to, message->inline_bytes, message->bytes);
        return;
    }
    uint32_t block = message->first_block;
    for (uint64_t at = 0; at < message->bytes; at += box->block_bytes) {
        uint64_t left = message->bytes - at;
        memcpy((unsigned char *)to + at, box->blocks + (uint64_t)block * box->block_bytes,
               left < box->block_bytes ? left : box->block_bytes);
        block = box->head->next[block];
    }
}
