/* What does a rank's process do from its birth to its end? */
#ifndef EMU_RUN_RANK_BODY_H
#define EMU_RUN_RANK_BODY_H

#include "run/job.h"

struct emu_rank_body {
    const struct emu_job *job;
    const struct emu_segment *segment;
    uint32_t rank;
    int outputs; /* where the reading ends of its standard output and error are handed over (see
                    os/handover.h), when a byte of turn_pipe allows it; -1: leave both as they are
                  */
    int turn_pipe;
    int go_pipe; /* one byte lets it begin, the end of the pipe sends it home */
};

/* Runs in the rank's process; returns its exit code. */
int emu_rank_body_run(const struct emu_rank_body *body);

#endif
