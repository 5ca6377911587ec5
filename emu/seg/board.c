#include "seg/board.h"

#include "os/clock.h"
#include "os/futex.h"
#include "seg/board_words.h"
#include "seg/recorder.h"
#include "seg/words.h"

#define PULSE_STEP (EMU_PULSE_PHASE + 1)

static void write_facts(struct emu_board *board, const struct emu_board_facts *facts)
{
    /* relaxed: the rank itself is the only writer */
    uint64_t epoch = atomic_load_explicit(&board->epoch, memory_order_relaxed);
    atomic_store_explicit(&board->epoch, epoch + 1, memory_order_relaxed);
    emu_words_store(board->facts, facts, EMU_BOARD_FACT_WORDS);
    atomic_store_explicit(&board->epoch, epoch + 2, memory_order_release);
}

static struct emu_board_facts own_facts(struct emu_board *board)
{
    struct emu_board_facts facts;
    emu_words_load(&facts, board->facts, EMU_BOARD_FACT_WORDS);
    return facts;
}

void emu_board_set_state(const struct emu_segment *segment, uint32_t rank,
                         enum emu_board_state state)
{
    struct emu_board *board = emu_board_of(segment, rank);
    struct emu_board_facts facts = own_facts(board);
    facts.state = state;
    facts.wait = EMU_WAIT_NOTHING;
    facts.since_ns = emu_clock_ns();
    write_facts(board, &facts);
    if (state == EMU_BOARD_ENDED)
        emu_news_post(segment);
}

void emu_board_set_step(const struct emu_segment *segment, uint32_t rank, uint64_t step)
{
    struct emu_board *board = emu_board_of(segment, rank);
    struct emu_board_facts facts = own_facts(board);
    facts.step = step;
    write_facts(board, &facts);
}

void emu_board_wait_in(const struct emu_segment *segment, uint32_t rank, enum emu_board_wait wait,
                       const struct emu_note *note)
{
    struct emu_board *board = emu_board_of(segment, rank);
    struct emu_board_facts facts = own_facts(board);
    facts.state = EMU_BOARD_WAITING;
    facts.wait = wait;
    facts.since_ns = emu_clock_ns();
    if (note)
        facts.note = *note;
    write_facts(board, &facts);
}

void emu_board_begin_call(const struct emu_segment *segment, uint32_t rank, uint64_t calls)
{
    struct emu_board *board = emu_board_of(segment, rank);
    atomic_store_explicit(&board->calls, calls, memory_order_release);
}

void emu_board_beat(const struct emu_segment *segment, uint32_t rank)
{
    _Atomic uint64_t *pulse = &emu_board_of(segment, rank)->pulse;
    /* relaxed: the rank itself is the only writer */
    atomic_store_explicit(pulse, atomic_load_explicit(pulse, memory_order_relaxed) + PULSE_STEP,
                          memory_order_release);
}

uint64_t emu_board_pulse(const struct emu_segment *segment, uint32_t rank)
{
    return atomic_load_explicit(&emu_board_of(segment, rank)->pulse, memory_order_acquire);
}

bool emu_board_gone(const struct emu_segment *segment, uint32_t rank)
{
    return atomic_load_explicit(&emu_board_of(segment, rank)->gone_ns, memory_order_acquire) != 0;
}

/* The call it waits in, else the newest that it began. */
static void look_call(const struct emu_segment *segment, uint32_t rank,
                      const struct emu_board_facts *facts, struct emu_board_view *view)
{
    struct emu_recorded_call newest;
    if (facts->state == EMU_BOARD_WAITING && facts->wait != EMU_WAIT_GATE)
        emu_note_view(segment, rank, &facts->note, &view->call);
    else if (view->calls > 0 && emu_recorder_read(segment, rank, &newest, 1) == 1)
        view->call = newest.call;
}

void emu_board_look(const struct emu_segment *segment, uint32_t rank, struct emu_board_view *view)
{
    struct emu_board *board = emu_board_of(segment, rank);
    struct emu_board_view seen = {0};
    struct emu_board_facts facts;
    /* A rank that was killed while it wrote leaves an odd epoch for ever: settle for a torn
     * reading after as many tries as no living writer needs. */
    for (int tries = 0; tries < 1000; tries++) {
        seen.epoch = atomic_load_explicit(&board->epoch, memory_order_acquire);
        emu_words_load(&facts, board->facts, EMU_BOARD_FACT_WORDS);
        if (seen.epoch % 2 == 0 &&
            atomic_load_explicit(&board->epoch, memory_order_relaxed) == seen.epoch)
            break;
    }
    seen.state = (enum emu_board_state)facts.state;
    seen.wait = (enum emu_board_wait)facts.wait;
    seen.step = facts.step;
    seen.since_ns = facts.since_ns;
    seen.asleep = atomic_load_explicit(&board->sleeps_on, memory_order_acquire) != 0;
    seen.pulse = emu_board_pulse(segment, rank);
    seen.phase = (enum emu_phase)(seen.pulse & EMU_PULSE_PHASE);
    seen.calls = atomic_load_explicit(&board->calls, memory_order_acquire);
    look_call(segment, rank, &facts, &seen);
    *view = seen;
}

uint32_t emu_bell_look(const struct emu_segment *segment, uint32_t rank)
{
    return atomic_load_explicit(&emu_board_of(segment, rank)->bell, memory_order_acquire);
}

void emu_bell_ring(const struct emu_segment *segment, uint32_t rank)
{
    _Atomic uint32_t *bell = &emu_board_of(segment, rank)->bell;
    uint32_t seen;
    do
        seen = atomic_load_explicit(bell, memory_order_acquire);
    while (!emu_word_replace(bell, seen, seen + 4)); /* the counter begins at bit 2 */
}

const char *emu_board_state_name(enum emu_board_state state)
{
    switch (state) {
    case EMU_BOARD_STARTING:
        return "starting";
    case EMU_BOARD_RUNNING:
        return "running";
    case EMU_BOARD_WAITING:
        return "waiting";
    case EMU_BOARD_ENDED:
        return "ended";
    }
    return "?";
}

const char *emu_phase_name(enum emu_phase phase)
{
    switch (phase) {
    case EMU_PHASE_NONE:
        return "none";
    case EMU_PHASE_BEFORE:
        return "before";
    case EMU_PHASE_SIGNATURE:
        return "signature";
    case EMU_PHASE_DEPOSIT:
        return "deposit";
    case EMU_PHASE_COPYOUT:
        return "copyout";
    }
    return "?";
}
