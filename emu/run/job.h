/* How are the ranks of a mesh started, watched and ended?
 *
 * The launcher plans the segment, checks it against the machine's limits, maps it, forks one
 * process per rank from the calling (main) thread and supervises: pidfds tell deaths, the segment's
 * news word tells broken calls. An optional auditor runs in a thread of the launcher beside the
 * ranks. When emu_job_run returns nothing is left of the run but what it hands back.
 */
#ifndef EMU_RUN_JOB_H
#define EMU_RUN_JOB_H

#include "check/outcome.h"
#include "mesh/roster.h"
#include "seg/segment.h"

#include <meshemu/comm.h>
#include <meshemu/finding.h>
#include <meshemu/status.h>

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct emu_hold_bell; /* run/hold_bell.h */

struct emu_job {
    const struct emu_roster *roster;
    uint64_t arena_bytes;
    uint64_t record_bytes;
    int (*body)(struct emu_rank *rank, void *user); /* in each rank's process */
    bool own_body; /* it is ours and uses no restartable sequences (os/cpu.h) */
    void (*auditor)(const struct emu_segment *segment,
                    void *user); /* NULL: none; must return soon after
                                    EMU_EPEER or EMU_EABORTED */
    void *user;
    uint64_t timeout_ns;     /* 0: none; then all ranks end with a STALL finding */
    uint64_t stall_after_ns; /* budget of a rank that keeps others waiting, in its own code or awake
                                inside a call without moving on, counted per wait; 0: none, it is
                                never a fault */
    uint64_t stop_grace_ns;  /* how long all others may wait for a stopped rank; 0: 2 s */
    bool raw_output;         /* ranks write to the launcher's stdout and stderr directly */
    int64_t only_output;     /* show this rank's output alone; -1: all */
    bool keep_going;         /* survivors of a failed rank go on */
    bool keep_records;       /* hand back the flight recorders */
    bool checksums;          /* see whether bytes arrive as they were sent */
    bool pin;                /* rank i to allowed processor i modulo their number */
    bool hold_on_finding; /* --stop-on-finding: SIGSTOP the ranks, print pids, wait for a key or a
                             signal */
    struct emu_hold_bell *bell; /* with hold_on_finding: by which the auditor has the ranks held;
                                   NULL: it never does. Borrowed */
    int output_fd;              /* where tagged output goes: 1, or 2 with --json - */
};

/* EMU_ESYSTEM, EMU_ENOMEM: a message is on stderr, nothing was started or left behind. */
EMU_MUST_CHECK enum emu_status emu_job_run(const struct emu_job *job,
                                           struct emu_job_result *result);
void emu_job_result_finish(struct emu_job_result *result);

#endif
