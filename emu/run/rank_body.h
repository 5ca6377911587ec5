/* What does a rank's process do from its birth to its end? */
#ifndef EMU_RUN_RANK_BODY_H
#define EMU_RUN_RANK_BODY_H

#include "run/job.h"

struct emu_rank_body {
    const struct emu_job *job;
    const struct emu_segment *segment;
    uint32_t rank;
    int out_pipe, error_pipe; /* become standard output and error; -1: leave them */
    int go_pipe;              /* one byte lets it begin, the end of the pipe sends it home */
};

/* Runs in the rank's process; returns its exit code. */
int emu_rank_body_run(const struct emu_rank_body *body);

#endif
