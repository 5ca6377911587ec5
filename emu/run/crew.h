/* Which processes are the ranks, and what has become of each?
 *
 * All ranks are forked first and wait at a pipe for the word to go: if one cannot be started, none
 * has run a line of the caller's code. Fork from the main thread: a rank dies with the thread that
 * forked it.
 *
 * A fork copies all that the launcher has open, so nothing that grows with the ranks is opened
 * before the last fork: pidfds come after it, and each rank makes its own output pipes and hands
 * their reading ends over, a few ranks at a time, as bytes of the turn pipe allow it.
 */
#ifndef EMU_RUN_CREW_H
#define EMU_RUN_CREW_H

#include "check/scene.h"
#include "os/process.h"
#include "os/signals.h"
#include "run/job.h"
#include "run/output.h"

#include <stdbool.h>
#include <stdint.h>

struct emu_crew_rank {
    struct emu_process process;
    enum emu_fate fate;
    int code;
    uint64_t stopped_ns;   /* when it was last seen to stop */
    uint64_t continued_ns; /* when it was seen to go on after a stop; 0: never stopped */
    bool condemned;        /* the launcher has sent it SIGKILL because of a finding */
};

/* Whose process is this? */
struct emu_crew_number {
    pid_t pid;
    uint32_t rank;
};

struct emu_crew {
    uint32_t world;
    uint32_t started;
    uint32_t living;
    bool killed; /* the launcher has sent SIGKILL to all */
    int go[2];   /* ranks read one byte each before they begin */
    struct emu_crew_rank *ranks;
    struct emu_crew_number *numbers; /* all ranks, in the order of their pids */
};

/* What a rank needs to know at its birth. */
struct emu_crew_params {
    const struct emu_job *job;
    const struct emu_segment *segment;
    const struct emu_signals *signals;
    struct emu_output *output; /* NULL: ranks write to the launcher's streams */
};

/* Fork all ranks. On failure those that were started are ended again, with the reason. */
EMU_MUST_CHECK enum emu_status emu_crew_start(const struct emu_crew_params *params,
                                              struct emu_crew *crew, struct emu_reason *reason);

/* Let them begin. */
void emu_crew_go(struct emu_crew *crew);

/* Look at one rank. true: something has changed, see fate and code. */
bool emu_crew_look(struct emu_crew *crew, uint32_t rank);

/* A rank that has stopped or gone on without being looked at since. true: *rank is one; false: no
 * rank is, or processes of somebody else hide it and *hidden is set. */
bool emu_crew_changed(const struct emu_crew *crew, uint32_t *rank, bool *hidden);

/* A signal to every rank that lives. */
void emu_crew_signal(struct emu_crew *crew, int signal);

/* End one rank because of a finding; its fate will be EMU_FATE_ENDED. */
void emu_crew_condemn(struct emu_crew *crew, uint32_t rank);

/* Kill and reap all that live. Their fate is EMU_FATE_ENDED, unless they were faster. */
void emu_crew_kill(struct emu_crew *crew);

/* Accepts a crew that was never started; kills what lives. */
void emu_crew_finish(struct emu_crew *crew);

#endif
