/* What is each rank doing, and how is it rung? The board of one rank in the segment.
 *
 *   0    epoch        one writer, the rank: odd while it writes facts
 *   8    pulse        phase of the call it is in (bits 0-7), a counter above
 *   16   sleeps_on    offset of the futex word it may sleep on, 0: none
 *   24   calls        begun
 *   32   rest         even: awake; odd: sleeps, see rest.h
 *   64   facts        state, wait, step, since_ns, note of the call it waits in: one line
 *   128  bell         futex word: bits 0, 1 as in words.h, a counter above
 *   192  gone_ns      0, or when the kernel said that the process is gone
 *   256  wants        what its open requests would still do
 *   2048         the flight recorder, see recorder.h
 *
 * word       writers   readers    order           publishes            a stale read costs
 * epoch      the rank  launcher   release/acquire facts                a second reading
 * pulse      the rank  launcher   release/acquire nothing              a phase one step old
 * sleeps_on  the rank  aborter    seq_cst         where to wake        see emu_word_sleep
 *                      launcher   acquire         nothing              it slept a moment ago
 * calls      the rank  launcher   release/acquire the record of it     a call less
 * rest       the rank  launcher   seq_cst         facts and wants      one more look
 * wants      the rank  launcher   release/acquire what it waits for    see rest.h
 * bell       any       the rank   acq_rel         messages, takings    nothing: the kernel compares
 * gone_ns    launcher  any        release/acquire the rank's last acts one more wait, then a bell
 */
#ifndef EMU_SEG_BOARD_WORDS_H
#define EMU_SEG_BOARD_WORDS_H

#include "seg/board.h"
#include "seg/header.h"
#include "seg/note.h"
#include "seg/rest.h"

#include <stdatomic.h>

struct emu_board_facts {
    uint32_t state; /* enum emu_board_state */
    uint32_t wait;  /* enum emu_board_wait */
    uint64_t step;
    uint64_t since_ns;
    struct emu_note note; /* while WAITING */
};
#define EMU_BOARD_FACT_WORDS (sizeof(struct emu_board_facts) / sizeof(uint64_t))
_Static_assert(sizeof(struct emu_board_facts) == EMU_LINE, "one line");

struct emu_board {
    _Atomic uint64_t epoch;
    _Atomic uint64_t pulse;
    _Atomic uint64_t sleeps_on;
    _Atomic uint64_t calls;
    _Atomic uint64_t rest;
    alignas(EMU_LINE) _Atomic uint64_t facts[EMU_BOARD_FACT_WORDS];
    alignas(EMU_LINE) _Atomic uint32_t bell;
    alignas(EMU_LINE) _Atomic uint64_t gone_ns;
    alignas(EMU_LINE) _Atomic uint64_t wants[sizeof(struct emu_wants) / sizeof(uint64_t)];
    alignas(1024) unsigned char end[];
};
_Static_assert(sizeof(struct emu_board) <= EMU_STRIP_RECORDER, "half a page a rank");
_Static_assert(offsetof(struct emu_board, bell) == 128, "others' words on lines of their own");

static inline struct emu_board *emu_board_of(const struct emu_segment *segment, uint32_t rank)
{
    return (void *)(segment->base + segment->strips + rank * EMU_STRIP_BYTES);
}

/* Writers, the rank itself alone: it begins a call, waits in one, runs again, moves inside one. */
void emu_board_begin_call(const struct emu_segment *segment, uint32_t rank, uint64_t calls);
void emu_board_wait_in(const struct emu_segment *segment, uint32_t rank, enum emu_board_wait wait,
                       const struct emu_note *note);

#define EMU_PULSE_PHASE UINT64_C(0xff)

static inline void emu_board_set_phase(const struct emu_segment *segment, uint32_t rank,
                                       enum emu_phase phase)
{
    _Atomic uint64_t *pulse = &emu_board_of(segment, rank)->pulse;
    /* relaxed: the rank itself is the only writer */
    uint64_t beats = atomic_load_explicit(pulse, memory_order_relaxed) | EMU_PULSE_PHASE;
    atomic_store_explicit(pulse, beats + 1 + (uint64_t)phase, memory_order_release);
}

/* The same, it falls asleep or has awoken: another number, the same phase. */
void emu_board_beat(const struct emu_segment *segment, uint32_t rank);

/* Has the launcher said that this rank is gone? order: acquire, all that it ever did is visible. */
bool emu_board_gone(const struct emu_segment *segment, uint32_t rank);

/* Any process: something happened that the rank may wait for. order: release. */
void emu_bell_ring(const struct emu_segment *segment, uint32_t rank);
uint32_t emu_bell_look(const struct emu_segment *segment, uint32_t rank);

#endif
