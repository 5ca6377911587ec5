#include "run/rank_body.h"

#include "comm/rank.h"
#include "os/clock.h"
#include "os/cpu.h"
#include "os/handover.h"
#include "os/stream.h"
#include "seg/board.h"
#include "seg/incident_words.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#define CODE_SETUP 70 /* the rank's handle could not be made */

static bool wait_for_byte(int pipe)
{
    char byte;
    ssize_t got = emu_stream_read(pipe, &byte, 1);
    close(pipe);
    return got == 1;
}

/* Its input is empty, since ranks that share a terminal would take each other's lines. */
static void take_streams(int out, int error)
{
    int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (nothing >= 0)
        dup2(nothing, STDIN_FILENO);
    dup2(out, STDOUT_FILENO);
    dup2(error, STDERR_FILENO);
    int taken[3] = {nothing, out, error};
    for (int i = 0; i < 3; i++)
        if (taken[i] > STDERR_FILENO)
            close(taken[i]);
    setvbuf(stdout, NULL, _IOLBF, 0);
}

/* Its output goes to the launcher's reader, line by line. false: sent home. */
static bool hand_over_output(const struct emu_rank_body *body)
{
    if (body->outputs < 0)
        return true;
    if (!wait_for_byte(body->turn_pipe))
        return false;
    int out[2] = {-1, -1}, error[2] = {-1, -1};
    bool made = emu_stream_pipe(out) && emu_stream_pipe(error);
    struct emu_handover given = {body->rank, made ? 0 : errno, {out[0], error[0]}};
    bool sent = emu_handover_send(body->outputs, &given);
    close(body->outputs);
    emu_stream_close(&out[0]);
    emu_stream_close(&error[0]);
    if (!made || !sent)
        return false;
    take_streams(out[1], error[1]);
    return true;
}

/* Calls that were started and never waited for are a broken contract, told like a refused call. */
static void report_open_requests(const struct emu_rank_body *body, const struct emu_rank *rank)
{
    uint64_t open = emu_rank_open_requests(rank);
    if (open == 0)
        return;
    struct emu_incident incident = {
        .cause = EMU_INCIDENT_ARGUMENT,
        .status = EMU_EINVAL,
        .rank = body->rank,
        .group = EMU_GROUP_SELF,
        .enabled_ns = emu_clock_ns(),
        .call = {.kind = EMU_KIND_COUNT},
    };
    snprintf(incident.text, sizeof incident.text,
             "%" PRIu64 " started calls were never waited for: every emu_start needs one emu_wait",
             open);
    emu_incident_append(body->segment, &incident);
}

int emu_rank_body_run(const struct emu_rank_body *body)
{
    struct emu_rank *rank;
    if (!hand_over_output(body) || !wait_for_byte(body->go_pipe))
        return 0;
    if (body->job->pin && !emu_cpu_pin(body->rank)) {
        fprintf(stderr, "cannot start: the system refused to pin it to a processor\n");
        return CODE_SETUP;
    }
    if (body->job->own_body)
        emu_cpu_forgo_sequences();
    enum emu_status status = emu_rank_create(body->segment, body->rank, &rank);
    if (status != EMU_OK) {
        fprintf(stderr, "cannot start: %s\n", emu_status_text(status));
        return CODE_SETUP;
    }
    emu_board_set_state(body->segment, body->rank, EMU_BOARD_RUNNING);
    int code = body->job->body(rank, body->job->user);
    if (code == 0) /* a rank that says it failed has told its cause */
        report_open_requests(body, rank);
    emu_board_set_state(body->segment, body->rank, EMU_BOARD_ENDED);
    emu_rank_destroy(rank);
    return code;
}
