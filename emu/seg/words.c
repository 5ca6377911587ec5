#include "seg/words.h"

#include "base/hot.h"
#include "os/futex.h"
#include "seg/board_words.h"
#include "seg/header.h"

#include <limits.h>

EMU_HOT bool emu_word_replace(_Atomic uint32_t *word, uint32_t seen, uint32_t wanted)
{
    if (!atomic_compare_exchange_strong_explicit(word, &seen, wanted & ~EMU_WORD_SLEEPERS,
                                                 memory_order_seq_cst, memory_order_acquire))
        return false;
    if (seen & EMU_WORD_SLEEPERS)
        emu_futex_wake(word, INT_MAX);
    return true;
}

bool emu_word_replace_for_work(_Atomic uint32_t *word, uint32_t seen, uint32_t wanted)
{
    uint32_t kept = seen & EMU_WORD_SLEEPERS;
    if (!atomic_compare_exchange_strong_explicit(word, &seen, (wanted & ~EMU_WORD_SLEEPERS) | kept,
                                                 memory_order_seq_cst, memory_order_acquire))
        return false;
    if (kept)
        emu_futex_wake_in(word, EMU_LANE_WORK);
    return true;
}

/* Dekker with emu_abort_post: either we see the abort, or it sees where we sleep and changes the
 * word; both sides store first and look then, sequentially consistent. */
EMU_HOT void emu_word_sleep(const struct emu_segment *segment, uint32_t rank,
                            const struct emu_sleep *sleep)
{
    _Atomic uint32_t *word = sleep->word;
    uint32_t seen = sleep->seen;
    if (!(seen & EMU_WORD_SLEEPERS) &&
        !atomic_compare_exchange_strong_explicit(word, &seen, seen | EMU_WORD_SLEEPERS,
                                                 memory_order_acq_rel, memory_order_acquire))
        return;
    struct emu_board *board = emu_board_of(segment, rank);
    uint64_t offset = (uint64_t)((unsigned char *)word - segment->base);
    atomic_store_explicit(&board->sleeps_on, offset, memory_order_seq_cst);
    if (!atomic_load_explicit(&emu_header_of(segment)->abort, memory_order_seq_cst))
        emu_futex_wait_in(word, seen | EMU_WORD_SLEEPERS, sleep->timeout_ns, sleep->lanes);
    /* relaxed: a stale offset costs the aborter one needless wake */
    atomic_store_explicit(&board->sleeps_on, 0, memory_order_relaxed);
}
