/* How does one thread read signals like messages, while a program that called us keeps its own
 * ways?
 *
 * Between watch and restore the calling thread (and every thread it starts) blocks the signals that
 * would end a run, and they are read from a descriptor. SIGCHLD is back to its default meanwhile:
 * if the caller ignores it, children would vanish without an exit status. SIGHUP stays ignored
 * where it was (nohup).
 */
#ifndef EMU_OS_SIGNALS_H
#define EMU_OS_SIGNALS_H

#include "os/reason.h"

#include <meshemu/status.h>

#include <signal.h>
#include <stdbool.h>

struct emu_signals {
    int fd; /* readable (poll) when a signal has come */
    sigset_t old_mask;
    struct sigaction old_child;
};

/* What came in: any of these may be true. */
struct emu_signals_news {
    int end; /* SIGINT, SIGTERM or SIGHUP; 0: none */
    bool child;
    bool resume; /* SIGCONT */
};

EMU_MUST_CHECK enum emu_status emu_signals_watch(struct emu_signals *signals,
                                                 struct emu_reason *reason);

/* All signals that have come since the last call; does not wait. */
struct emu_signals_news emu_signals_take(const struct emu_signals *signals);

/* Has a signal come that ends a run? Takes nothing. */
bool emu_signals_end_is_pending(void);

/* In a forked child: the mask and actions of before. */
void emu_signals_restore_child(const struct emu_signals *signals);

/* Undo the watch. Signals that came and were not taken are dropped. */
void emu_signals_restore(struct emu_signals *signals);

#endif
