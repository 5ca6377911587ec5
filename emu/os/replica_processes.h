/* How many of n equal processes are still there? They say so themselves.
 *
 * Each replica waits for a question and answers it with its number; a killed one does not answer.
 * Up to 1,024 of them are known by their process numbers alone (descriptors would run out), which
 * stay theirs until they are reaped here. They die with the thread that started them.
 */
#ifndef EMU_OS_REPLICA_PROCESSES_H
#define EMU_OS_REPLICA_PROCESSES_H

#include "os/reason.h"

#include <meshemu/status.h>

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define EMU_REPLICAS_MOST 1024

struct emu_replicas {
    uint32_t count;
    int question[2]; /* closed by the parent: the question */
    int answer[2];
    pid_t pids[EMU_REPLICAS_MOST];
};

/* count: 1 to EMU_REPLICAS_MOST. EMU_ESYSTEM with the reason; nothing is left then. */
EMU_MUST_CHECK enum emu_status emu_replicas_start(struct emu_replicas *replicas, uint32_t count,
                                                  struct emu_reason *reason);

/* SIGKILL, and wait until it is gone. */
void emu_replicas_kill(struct emu_replicas *replicas, uint32_t index);

/* Ask all; alive[index] is set for each that answered within the time. Returns how many did. May be
 * called once. */
uint32_t emu_replicas_ask(struct emu_replicas *replicas, uint64_t timeout_ns, bool *alive);

/* End and reap whatever is left. */
void emu_replicas_finish(struct emu_replicas *replicas);

#endif
