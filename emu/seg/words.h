/* How are several words written by one process and read by others without a lock?
 *
 * As a row of 64-bit atomics. Every store is a release and every load an acquire (free on x86), so
 * that a sequence counter around the row needs no fence: the stores of the row cannot move above
 * the store that makes the counter odd, its loads not below the second look at the counter.
 *
 * Bits that every word somebody sleeps on has in common (slot words, bells, gate answers):
 *   bit 0  ABORT     the run was ended; set by emu_abort_post alone, never cleared
 *   bit 1  SLEEPERS  somebody may sleep on the word: who changes it must wake, and clears the bit
 * The abort lies in the word itself because "look at the abort flag, then sleep" can miss it
 * between the two; a changed word makes the kernel refuse to sleep.
 */
#ifndef EMU_SEG_WORDS_H
#define EMU_SEG_WORDS_H

#include "seg/segment.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define EMU_WORD_ABORT UINT32_C(1)
#define EMU_WORD_SLEEPERS UINT32_C(2)

static inline void emu_words_store(_Atomic uint64_t *to, const void *from, size_t words)
{
    for (size_t i = 0; i < words; i++) {
        uint64_t word;
        memcpy(&word, (const unsigned char *)from + i * sizeof word, sizeof word);
        atomic_store_explicit(&to[i], word, memory_order_release);
    }
}

static inline void emu_words_load(void *to, const _Atomic uint64_t *from, size_t words)
{
    for (size_t i = 0; i < words; i++) {
        uint64_t word = atomic_load_explicit(&from[i], memory_order_acquire);
        memcpy((unsigned char *)to + i * sizeof word, &word, sizeof word);
    }
}

/* Replace `seen` by `wanted` (its SLEEPERS bit is cleared, its ABORT bit must be that of seen) and
 * wake the sleepers, if any. false: the word was another; nothing happened.
 * order: seq_cst. */
bool emu_word_replace(_Atomic uint32_t *word, uint32_t seen, uint32_t wanted);

/* The same, but only who sleeps in EMU_LANE_WORK is woken; the SLEEPERS bit stays for the others,
 * who sleep on. For a change that they need not see. */
bool emu_word_replace_for_work(_Atomic uint32_t *word, uint32_t seen, uint32_t wanted);

#define EMU_LANE_WORK UINT32_C(1)
#define EMU_LANE_REST UINT32_C(2)
#define EMU_LANE_ALL UINT32_MAX

struct emu_sleep {
    _Atomic uint32_t *word;
    uint32_t seen;
    int64_t timeout_ns; /* < 0: until the word changes */
    uint32_t lanes;     /* EMU_LANE_ALL, or those in which one may be woken */
};

/* Sleep while *word == seen. rank tells its board where it sleeps, so that emu_abort_post finds
 * it. Returns early at will: look at the word again. */
void emu_word_sleep(const struct emu_segment *segment, uint32_t rank,
                    const struct emu_sleep *sleep);

#endif
