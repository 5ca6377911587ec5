/* What is each rank doing right now?
 *
 * Every rank publishes on its board what it does and, while it waits, for what. The launcher reads
 * boards at any time; a reading is consistent when the epoch was even and unchanged around it
 * (sequence lock, one writer). A board outlives its rank.
 */
#ifndef EMU_SEG_BOARD_H
#define EMU_SEG_BOARD_H

#include "seg/segment.h"

#include <meshemu/comm.h>
#include <meshemu/finding.h>

#include <stdbool.h>
#include <stdint.h>

enum emu_board_state {
    EMU_BOARD_STARTING, /* not yet in its body */
    EMU_BOARD_RUNNING,  /* in its own code */
    EMU_BOARD_WAITING,  /* in a call or at a gate, see wait */
    EMU_BOARD_ENDED     /* its body returned */
};

enum emu_board_wait { EMU_WAIT_NOTHING, EMU_WAIT_SLOT, EMU_WAIT_MESSAGE, EMU_WAIT_GATE };

/* Where inside a call the rank is (fault addresses and crash findings name it). */
enum emu_phase {
    EMU_PHASE_NONE,
    EMU_PHASE_BEFORE,
    EMU_PHASE_SIGNATURE,
    EMU_PHASE_DEPOSIT,
    EMU_PHASE_COPYOUT
};

/* A consistent copy of one board. */
struct emu_board_view {
    enum emu_board_state state;
    enum emu_board_wait wait;
    enum emu_phase phase;
    bool asleep;    /* until a word changes; it may have told nobody, and seem to run */
    uint64_t pulse; /* another number with each phase, and each told sleep and awakening */
    uint64_t epoch;
    struct emu_call_view call; /* the call it is in, or was in last; valid if calls > 0 */
    uint64_t calls;            /* calls begun */
    uint64_t step;             /* training step (1-based), 0 before the first */
    uint64_t since_ns;         /* CLOCK_MONOTONIC of the last change of state */
};

void emu_board_look(const struct emu_segment *segment, uint32_t rank, struct emu_board_view *view);

/* The pulse alone. A rank that was awake at two looks with the same pulse has not told of sleep nor
 * moved on in a call between them. A stale reading costs nothing: it is as old at both. */
uint64_t emu_board_pulse(const struct emu_segment *segment, uint32_t rank);

/* Writers, the rank itself alone. */
void emu_board_set_state(const struct emu_segment *segment, uint32_t rank,
                         enum emu_board_state state);
void emu_board_set_step(const struct emu_segment *segment, uint32_t rank, uint64_t step);

/* Short words for people: "running", "waiting", ...; "before", "signature", ... */
const char *emu_board_state_name(enum emu_board_state state);
const char *emu_phase_name(enum emu_phase phase);

/* The last calls a rank began, newest last, at most 256; returns how many were written. Readable
 * after the rank's death. A call being written at that moment is left out. */
struct emu_recorded_call {
    struct emu_call_view call;
    uint64_t started_ns, ended_ns; /* CLOCK_MONOTONIC; ended 0: not ended */
    enum emu_status status;        /* of an ended call */
};
uint32_t emu_recorder_read(const struct emu_segment *segment, uint32_t rank,
                           struct emu_recorded_call *out, uint32_t room);

#endif
