#include "seg/words.h"

#include "os/futex.h"
#include "seg/board_words.h"
#include "seg/header.h"

#include <limits.h>

bool emu_word_replace(_Atomic uint32_t *word, uint32_t seen, uint32_t wanted)
{
    if (!atomic_compare_exchange_strong_explicit(word, &seen, wanted & ~EMU_WORD_SLEEPERS,
                                                 memory_order_acq_rel, memory_order_acquire))
        return false;
    if (seen & EMU_WORD_SLEEPERS)
        emu_futex_wake(word, INT_MAX);
    return true;
}

/* Dekker with emu_abort_post: either we see the abort, or it sees where we sleep and changes the
 * word; both sides store first and look then, sequentially consistent. */
void emu_word_sleep(const struct emu_segment *segment, uint32_t rank, _Atomic uint32_t *word,
                    uint32_t seen, int64_t timeout_ns)
{
    if (!(seen & EMU_WORD_SLEEPERS) &&
        !atomic_compare_exchange_strong_explicit(word, &seen, seen | EMU_WORD_SLEEPERS,
                                                 memory_order_acq_rel, memory_order_acquire))
        return;
    struct emu_board *board = emu_board_of(segment, rank);
    uint64_t offset = (uint64_t)((unsigned char *)word - segment->base);
    atomic_store_explicit(&board->sleeps_on, offset, memory_order_seq_cst);
    if (!atomic_load_explicit(&emu_header_of(segment)->abort, memory_order_seq_cst))
        emu_futex_wait(word, seen | EMU_WORD_SLEEPERS, timeout_ns);
    /* relaxed: a stale offset costs the aborter one needless wake */
    atomic_store_explicit(&board->sleeps_on, 0, memory_order_relaxed);
}
