/* How do the others learn that a rank is gone, or that the run is over?
 *
 * Both walk what ranks may sleep on, change each word and wake. A word that has changed cannot be
 * slept on, so the order against ranks that are just about to sleep does not matter.
 */
#include "os/clock.h"
#include "os/futex.h"
#include "seg/board_words.h"
#include "seg/gate_words.h"
#include "seg/header.h"
#include "seg/slot.h"
#include "seg/words.h"

#include <assert.h>
#include <limits.h>

uint32_t emu_abort_look(const struct emu_segment *segment)
{
    return atomic_load_explicit(&emu_header_of(segment)->abort, memory_order_acquire);
}

void emu_abort_post(const struct emu_segment *segment, uint32_t cause)
{
    uint32_t none = 0;
    atomic_compare_exchange_strong_explicit(&emu_header_of(segment)->abort, &none, cause,
                                            memory_order_seq_cst, memory_order_seq_cst);
    for (uint32_t rank = 0; rank < segment->world; rank++) {
        uint64_t offset =
            atomic_load_explicit(&emu_board_of(segment, rank)->sleeps_on, memory_order_seq_cst);
        if (offset == 0)
            continue;
        _Atomic uint32_t *word = (void *)(segment->base + offset);
        atomic_fetch_or_explicit(word, EMU_WORD_ABORT, memory_order_acq_rel);
        emu_futex_wake(word, INT_MAX);
    }
    emu_gate_ring(segment);
    emu_news_post(segment);
}

static void break_groups_of(const struct emu_segment *segment, uint32_t rank)
{
    for (uint32_t f = 0; f < segment->roster->family_count; f++) {
        uint32_t group;
        if (emu_roster_group_of(segment->roster, f, rank, &group) != EMU_OK)
            continue;
        struct emu_ring ring = emu_ring_of(segment, group);
        int64_t member = emu_group_index(&ring.members, rank);
        assert(member >= 0);
        struct emu_breach breach = {
            .broken = true,
            .index = emu_ring_next_of(&ring, (uint32_t)member),
            .cause = EMU_SLOT_PEER,
            .rank = rank,
        };
        emu_ring_break(&ring, &breach);
    }
}

/* Ring a rank that may wait for a message. The ring wakes who sleeps on the bell; the second wake
 * is for a sender that had changed the bell and died before it woke, which only a rank that shows
 * where it sleeps can need. */
static void ring_once_more(const struct emu_segment *segment, uint32_t rank)
{
    struct emu_board *board = emu_board_of(segment, rank);
    if (emu_board_gone(segment, rank))
        return;
    emu_bell_ring(segment, rank);
    if (atomic_load_explicit(&board->sleeps_on, memory_order_seq_cst))
        emu_futex_wake(&board->bell, INT_MAX);
}

void emu_segment_lose_rank(const struct emu_segment *segment, uint32_t rank)
{
    struct emu_board *board = emu_board_of(segment, rank);
    if (emu_board_gone(segment, rank))
        return;
    atomic_store_explicit(&board->gone_ns, emu_clock_ns(), memory_order_release);
    atomic_fetch_add_explicit(&emu_header_of(segment)->failed, 1, memory_order_acq_rel);
    break_groups_of(segment, rank);
}

void emu_segment_tell_lost(const struct emu_segment *segment)
{
    for (uint32_t other = 0; other < segment->world; other++)
        ring_once_more(segment, other);
    emu_gate_ring(segment);
    emu_news_post(segment);
}

void emu_segment_fail_rank(const struct emu_segment *segment, uint32_t rank)
{
    emu_segment_lose_rank(segment, rank);
    emu_segment_tell_lost(segment);
}
