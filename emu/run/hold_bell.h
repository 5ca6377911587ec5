/* How does the auditor, in its own thread, have the ranks held at a fault that it found?
 *
 * It rings and waits; the supervisor hears it in its poll, holds the ranks (hold.h) and answers. A
 * bell that nobody hears any more answers at once, so an auditor never waits for a run that is
 * over.
 *
 *   word       writer      readers     order
 *   finding    who rings   supervisor  published by the write to `asked` (a system call)
 *   closed     supervisor  who rings   release/acquire; `answered` stays readable after it
 */
#ifndef EMU_RUN_HOLD_BELL_H
#define EMU_RUN_HOLD_BELL_H

#include "os/reason.h"

#include <meshemu/finding.h>
#include <meshemu/status.h>

#include <stdatomic.h>
#include <stdbool.h>

struct emu_hold_bell {
    int asked;    /* readable: somebody waits */
    int answered; /* readable: go on */
    const struct emu_finding *finding;
    atomic_bool closed;
};

EMU_MUST_CHECK enum emu_status emu_hold_bell_init(struct emu_hold_bell *bell,
                                                  struct emu_reason *reason);
void emu_hold_bell_finish(struct emu_hold_bell *bell);

/* Have the ranks held because of this finding, which must not move meanwhile; returns when they may
 * go on. NULL: no bell, nothing happens. Callers: one thread at a time, not the supervisor's. */
void emu_hold_bell_ring(struct emu_hold_bell *bell, const struct emu_finding *finding);

/* The supervisor: has somebody asked? Answer after the hold. */
bool emu_hold_bell_asked(struct emu_hold_bell *bell);
void emu_hold_bell_answer(struct emu_hold_bell *bell);

/* The supervisor: nobody listens from now on. */
void emu_hold_bell_close(struct emu_hold_bell *bell);

#endif
