/* Would this script get through if no send were buffered?
 *
 * A pure simulation of the calls of all ranks under strict rules: a send returns when its receive
 * has met it, a collective when all members have called. Whether a call can return depends on
 * counters that only grow (the k-th send and the k-th receive of one pair and tag meet, the k-th
 * calls of all members of a group meet), so the order in which ranks are advanced changes nothing
 * and one round to the end is the proof. What takes time, and what ends a rank early, is as in the
 * script; signatures are not compared: a script that broke is not replayed.
 */
#ifndef EMU_CHECK_SCRIPT_REPLAY_H
#define EMU_CHECK_SCRIPT_REPLAY_H

#include "config/script.h"

#include <meshemu/finding.h>
#include <meshemu/status.h>

enum emu_replay_verdict {
    EMU_REPLAY_NOT_MADE, /* strict semantics, or a run with a fault */
    EMU_REPLAY_PASS,
    EMU_REPLAY_STUCK,    /* ranks wait for each other */
    EMU_REPLAY_TOO_LONG, /* given up: more than EMU_REPLAY_MAX_STEPS */
};

#define EMU_REPLAY_MAX_STEPS UINT64_C(20000000) /* calls, and looks at members */

struct emu_script_replay {
    enum emu_replay_verdict verdict;
    uint64_t steps;
    uint32_t stuck; /* ranks that do not get to their end: the circles, and who waits for them or
                       for a rank that has ended */
};

/* Replay and, where ranks wait for each other in a circle, add one UNSAFE_BUFFERING note with the
 * circle's ranks and what each waits for. EMU_ENOMEM. */
EMU_MUST_CHECK enum emu_status emu_script_replay(const struct emu_script *script,
                                                 struct emu_script_replay *replay,
                                                 struct emu_findings *findings);

#endif
