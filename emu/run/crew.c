#include "run/crew.h"

#include "os/clock.h"
#include "os/stream.h"
#include "run/rank_body.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

/* Descriptors of the launcher have no business in a rank. */
static void close_launchers(const struct emu_crew *crew, const struct emu_crew_params *params)
{
    for (uint32_t rank = 0; rank < crew->started; rank++) {
        int fd = crew->ranks[rank].process.pidfd;
        emu_stream_close(&fd);
    }
    int signals = params->signals->fd, go = crew->go[1];
    emu_stream_close(&signals);
    emu_stream_close(&go);
    if (params->output)
        emu_output_close_in_child(params->output);
}

struct birth {
    const struct emu_crew *crew;
    const struct emu_crew_params *params;
    uint32_t rank;
    int out, error; /* writing ends; -1: raw */
};

static int be_rank(void *context)
{
    const struct birth *birth = context;
    close_launchers(birth->crew, birth->params);
    emu_signals_restore_child(birth->params->signals);
    struct emu_rank_body body = {
        .job = birth->params->job,
        .segment = birth->params->segment,
        .rank = birth->rank,
        .out_pipe = birth->out,
        .error_pipe = birth->error,
        .go_pipe = birth->crew->go[0],
    };
    return emu_rank_body_run(&body);
}

/* One rank: its pipes, its process. */
static enum emu_status start_rank(struct emu_crew *crew, const struct emu_crew_params *params,
                                  uint32_t rank, struct emu_reason *reason)
{
    int out[2] = {-1, -1}, error[2] = {-1, -1};
    if (params->output && (!emu_stream_pipe(out) || !emu_stream_pipe(error))) {
        emu_reason_set(reason, "cannot make a pipe for the output of rank %u: %s", (unsigned)rank,
                       strerror(errno));
        emu_stream_close(&out[0]);
        emu_stream_close(&out[1]);
        return EMU_ESYSTEM;
    }
    if (params->output)
        emu_output_add(params->output, rank, out[0], error[0]);
    struct birth birth = {crew, params, rank, out[1], error[1]};
    enum emu_status status = emu_process_fork(be_rank, &birth, &crew->ranks[rank].process, reason);
    emu_stream_close(&out[1]);
    emu_stream_close(&error[1]);
    if (status != EMU_OK)
        return status;
    crew->started++;
    crew->living++;
    return EMU_OK;
}

enum emu_status emu_crew_start(const struct emu_crew_params *params, struct emu_crew *crew,
                               struct emu_reason *reason)
{
    *crew = (struct emu_crew){.world = params->segment->world, .go = {-1, -1}};
    crew->ranks = calloc(crew->world, sizeof *crew->ranks);
    if (!crew->ranks) {
        emu_reason_set(reason, "out of memory");
        return EMU_ENOMEM;
    }
    if (!emu_stream_pipe(crew->go)) {
        emu_crew_finish(crew);
        return emu_reason_set(reason, "cannot make a pipe: %s", strerror(errno));
    }
    for (uint32_t rank = 0; rank < crew->world; rank++) {
        enum emu_status status = start_rank(crew, params, rank, reason);
        if (status != EMU_OK) {
            emu_crew_finish(crew);
            return status;
        }
    }
    return EMU_OK;
}

void emu_crew_go(struct emu_crew *crew)
{
    /* Our own reading end is still open: ranks that were killed meanwhile are no broken pipe. */
    char byte = 1;
    for (uint32_t rank = 0; rank < crew->world; rank++)
        emu_stream_write(crew->go[1], &byte, 1);
    emu_stream_close(&crew->go[0]);
    emu_stream_close(&crew->go[1]);
}

bool emu_crew_look(struct emu_crew *crew, uint32_t rank)
{
    struct emu_crew_rank *one = &crew->ranks[rank];
    int code = 0;
    switch (emu_process_look(&one->process, &code)) {
    case EMU_PROCESS_SAME:
        return false;
    case EMU_PROCESS_STOPPED:
        one->fate = EMU_FATE_STOPPED;
        one->stopped_ns = emu_clock_ns();
        return true;
    case EMU_PROCESS_CONTINUED:
        one->fate = EMU_FATE_ALIVE;
        return true;
    case EMU_PROCESS_EXITED:
        one->fate = EMU_FATE_EXITED;
        break;
    case EMU_PROCESS_KILLED:
        one->fate =
            (crew->killed || one->condemned) && code == SIGKILL ? EMU_FATE_ENDED : EMU_FATE_KILLED;
        break;
    case EMU_PROCESS_LOST:
        one->fate = EMU_FATE_LOST;
        break;
    }
    one->code = code;
    crew->living--;
    emu_process_forget(&one->process);
    return true;
}

void emu_crew_signal(struct emu_crew *crew, int signal)
{
    for (uint32_t rank = 0; rank < crew->started; rank++)
        if (!emu_fate_is_gone(crew->ranks[rank].fate))
            emu_process_signal(&crew->ranks[rank].process, signal);
}

void emu_crew_condemn(struct emu_crew *crew, uint32_t rank)
{
    struct emu_crew_rank *one = &crew->ranks[rank];
    if (emu_fate_is_gone(one->fate) || one->condemned)
        return;
    one->condemned = true;
    emu_process_signal(&one->process, SIGKILL);
}

void emu_crew_kill(struct emu_crew *crew)
{
    crew->killed = true;
    emu_crew_signal(crew, SIGKILL);
}

void emu_crew_finish(struct emu_crew *crew)
{
    emu_stream_close(&crew->go[0]);
    emu_stream_close(&crew->go[1]);
    emu_crew_kill(crew);
    for (uint32_t rank = 0; rank < crew->started; rank++) {
        int code;
        if (emu_fate_is_gone(crew->ranks[rank].fate))
            continue;
        emu_process_wait(&crew->ranks[rank].process, &code);
        emu_process_forget(&crew->ranks[rank].process);
    }
    free(crew->ranks);
    *crew = (struct emu_crew){.go = {-1, -1}};
}
