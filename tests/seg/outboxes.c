#include "seg/outbox.h"
#include "small_segment.h"

#include <criterion/criterion.h>
#include <string.h>

static struct small_segment small;
static struct emu_sender sender;

static void open_outbox(void)
{
    cr_assert(small_open(&small, "dp=4"));
    emu_sender_init(&sender, &small.segment, 1);
}

static void close_outbox(void)
{
    small_close(&small);
}

TestSuite(outbox, .init = open_outbox, .fini = close_outbox);

static bool send(uint32_t to, int32_t tag, const void *bytes, uint64_t count)
{
    struct emu_call call = {
        .kind = EMU_SEND, .peer = to, .tag = tag, .count = count, .dtype = EMU_U8};
    struct emu_note note;
    struct emu_message *message = emu_sender_claim(&sender);
    if (!message || !emu_sender_fill(&sender, message, bytes, count))
        return false;
    emu_note_of(&call, 0, &note);
    emu_sender_publish(&sender, message, &note, EMU_MESSAGE_READY);
    return true;
}

static struct emu_message *match(uint32_t me, int32_t tag)
{
    struct emu_outbox box = emu_outbox_of(&small.segment, 1);
    return emu_outbox_match(&box, me, tag);
}

Test(outbox, gives_the_oldest_message_of_a_tag_to_its_destination)
{
    cr_assert(send(2, 5, "a", 1) && send(3, 5, "b", 1) && send(2, 6, "c", 1) && send(2, 5, "d", 1));
    cr_expect_null(match(0, 5));
    cr_expect_eq(match(2, 5)->inline_bytes[0], 'a');
    emu_message_set(match(2, 5), EMU_MESSAGE_TAKEN);
    cr_assert(send(2, 5, "e", 1)); /* reuses the first descriptor, but is younger than d */
    cr_expect_eq(match(2, 5)->inline_bytes[0], 'd');
    cr_expect_eq(match(2, 6)->inline_bytes[0], 'c');
    cr_expect_eq(match(3, 5)->inline_bytes[0], 'b');
}

Test(outbox, keeps_bytes_of_every_size_that_is_buffered)
{
    static const uint64_t sizes[] = {0, 1, 64, 65, 4095, 4096, 4097, 65535, 65536};
    static unsigned char in[65536], out[65536];
    struct emu_outbox box = emu_outbox_of(&small.segment, 1);
    for (size_t i = 0; i < sizeof in; i++)
        in[i] = (unsigned char)(i * 7 + i / 255);
    for (int round = 0; round < 40; round++)
        for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
            memset(out, 0, sizeof out);
            cr_assert(send(0, 1, in, sizes[s]), "blocks come back");
            emu_outbox_copy(&box, match(0, 1), out);
            cr_expect_eq(memcmp(in, out, sizes[s]), 0);
            emu_message_set(match(0, 1), EMU_MESSAGE_TAKEN);
        }
    cr_expect_not(send(0, 1, in, 65537), "larger is never buffered");
}

Test(outbox, says_when_blocks_or_descriptors_are_used_up)
{
    static unsigned char in[65536];
    for (int i = 0; i < 16; i++)
        cr_expect(send(0, 1, in, sizeof in), "16 times 64 KiB fit");
    cr_expect_not(send(0, 1, in, sizeof in));
    cr_expect(send(0, 1, in, 64), "a small one still does");
    while (send(2, 1, in, 0))
        ;
    cr_expect_null(emu_sender_claim(&sender));
    emu_message_set(match(0, 1), EMU_MESSAGE_TAKEN);
    cr_expect(send(0, 1, in, sizeof in));
}

Test(outbox, a_tracked_message_is_taken_back_by_its_sender_alone)
{
    struct emu_message *message = emu_sender_claim(&sender);
    struct emu_note note = {.peer = 2};
    cr_assert(emu_sender_fill(&sender, message, "x", 1));
    message->tracked = 1;
    emu_sender_publish(&sender, message, &note, EMU_MESSAGE_READY);
    emu_message_set(message, EMU_MESSAGE_TAKEN);
    cr_expect_neq(emu_sender_claim(&sender), message);
    emu_sender_release(&sender, message);
    cr_expect_eq(emu_sender_claim(&sender), message);
}
