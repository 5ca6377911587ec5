/* How does a program of one's own become a mesh of processes?
 *
 * emu_launch reserves one shared segment, forks one process per rank from the calling thread, runs
 * `body` in each and supervises them: a rank that is killed, exits early or makes a call that the
 * others do not match is named in a finding, at once. When emu_launch returns no process, segment
 * or file is left, whatever happened.
 *
 * MESHEMU_FAULT in the environment injects faults of processes, calls and payloads, between
 * semicolons: MESHEMU_FAULT='skip_call rank=1 label=gradient' (see meshemu faults CONFIG --list).
 * MESHEMU_JSON=FILE writes the report with its findings as JSON, MESHEMU_RECORD=FILE the last 256
 * calls of every rank, as --json and --record of meshemu run do; "-" is standard output, where the
 * ranks' lines go to standard error then. Of several launches the last one's file stays.
 */
#ifndef MESHEMU_LAUNCH_H
#define MESHEMU_LAUNCH_H

#include <meshemu/comm.h>
#include <meshemu/finding.h>
#include <meshemu/status.h>

#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Zero means the default of every member but mesh. */
struct emu_launch_options {
    const char *mesh;     /* "dp=2,tp=2" */
    const char *groups;   /* further groups over several axes: "dp,cp; cp,dp" */
    uint64_t arena_bytes; /* for emu_rank_alloc, per rank; default 16 MiB, touched on use only. Long
                             payloads from and into arenas go straight there. */
    uint64_t timeout_ns;  /* ends all ranks with a STALL finding; default: none */
    bool raw_output; /* leave the ranks' stdout and stderr alone (default: line by line, tagged) */
    bool keep_going; /* a failed rank does not end the others: they see EMU_EPEER */
    uint64_t stall_after_ns; /* budget of a rank that keeps others waiting, in its own code or awake
                                inside a call without moving on, counted per wait; default: none, it
                                is never a fault */
    uint64_t stop_grace_ns;  /* how long all others may wait for a stopped rank; default: 2 s */
    bool no_checksums; /* do not sum what collectives move: nothing then answers EMU_ECORRUPT */
};

struct emu_outcome; /* what happened; owned by the caller */

/* Run body on every rank of the mesh; its return value is the rank's exit code (0: all is well).
 *
 * user     visible in each rank as a copy of the caller's memory at the time of the call
 * outcome  set whenever the ranks were started; free it with emu_outcome_destroy
 * returns  EMU_OK: the ranks ran (the outcome tells how), EMU_EINVAL: options or environment,
 *          EMU_ESYSTEM: the system refused; a message is on stderr and nothing was started or left
 *          behind. EMU_ESYSTEM also where a file of the environment could not be written at the
 *          end: the ranks have run then, and there is no outcome
 * callers  one at a time per process, from the main thread (a rank dies with the forking thread)
 */
EMU_PUBLIC EMU_MUST_CHECK enum emu_status emu_launch(const struct emu_launch_options *options,
                                                     int (*body)(struct emu_rank *rank, void *user),
                                                     void *user, struct emu_outcome **outcome);

/* true: every rank returned 0, there is no finding of severity fault, and every fault of
 * MESHEMU_FAULT has acted. */
EMU_PUBLIC bool emu_outcome_passed(const struct emu_outcome *outcome);

/* The findings; owned by the outcome. */
EMU_PUBLIC const struct emu_findings *emu_outcome_findings(const struct emu_outcome *outcome);

/* Exit code of a rank, or 128 + signal where one killed it. */
EMU_PUBLIC int emu_outcome_exit_code(const struct emu_outcome *outcome, uint32_t rank);

/* Print the findings for a person; says so when there are none. Names faults that did not act. */
EMU_PUBLIC void emu_outcome_print(const struct emu_outcome *outcome, FILE *stream);

EMU_PUBLIC void emu_outcome_destroy(struct emu_outcome *outcome);

#ifdef __cplusplus
}
#endif
#endif
