#include "run/crew.h"

#include "os/clock.h"
#include "os/handover.h"
#include "os/stream.h"
#include "run/rank_body.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#define TURNS 64        /* ranks that hand over at a time; their messages fit in any socket */
#define PATIENCE_MS 100 /* before we look for signals */

/* How the ranks' output pipes reach the launcher; all -1 where they write to its own streams. */
struct exchange {
    int turn[2];     /* one byte for each rank that may hand over: few at a time fit in a socket */
    int handover[2]; /* see os/handover.h */
};

static void close_exchange(struct exchange *exchange)
{
    for (int i = 0; i < 2; i++) {
        emu_stream_close(&exchange->turn[i]);
        emu_stream_close(&exchange->handover[i]);
    }
}

struct birth {
    const struct emu_crew *crew;
    const struct emu_crew_params *params;
    const struct exchange *exchange;
    uint32_t rank;
};

/* Descriptors of the launcher have no business in a rank. */
static void close_launchers(const struct birth *birth)
{
    int fds[] = {birth->params->signals->fd, birth->crew->go[1], birth->exchange->turn[1],
                 birth->exchange->handover[0]};
    for (size_t i = 0; i < sizeof fds / sizeof fds[0]; i++)
        emu_stream_close(&fds[i]);
    if (birth->params->output)
        emu_output_close_in_child(birth->params->output);
}

static int be_rank(void *context)
{
    const struct birth *birth = context;
    close_launchers(birth);
    emu_signals_restore_child(birth->params->signals);
    struct emu_rank_body body = {
        .job = birth->params->job,
        .segment = birth->params->segment,
        .rank = birth->rank,
        .outputs = birth->exchange->handover[1],
        .turn_pipe = birth->exchange->turn[0],
        .go_pipe = birth->crew->go[0],
    };
    return emu_rank_body_run(&body);
}

/* Fork them all, and only then open what grows with them. */
static enum emu_status fork_ranks(struct emu_crew *crew, const struct emu_crew_params *params,
                                  const struct exchange *exchange, struct emu_reason *reason)
{
    enum emu_status status = EMU_OK;
    for (uint32_t rank = 0; rank < crew->world && status == EMU_OK; rank++) {
        struct birth birth = {crew, params, exchange, rank};
        status = emu_process_start(be_rank, &birth, &crew->ranks[rank].process, reason);
        if (status == EMU_OK)
            crew->started = crew->living = rank + 1;
    }
    for (uint32_t rank = 0; rank < crew->world && status == EMU_OK; rank++) {
        status = emu_process_watch(&crew->ranks[rank].process, reason);
        if (status != EMU_OK)
            crew->ranks[rank].fate = EMU_FATE_ENDED; /* and is reaped */
    }
    return status;
}

static int compare_numbers(const void *a, const void *b)
{
    pid_t left = ((const struct emu_crew_number *)a)->pid;
    pid_t right = ((const struct emu_crew_number *)b)->pid;
    return (left > right) - (left < right);
}

static void number_ranks(struct emu_crew *crew)
{
    for (uint32_t rank = 0; rank < crew->world; rank++)
        crew->numbers[rank] = (struct emu_crew_number){crew->ranks[rank].process.pid, rank};
    qsort(crew->numbers, crew->world, sizeof *crew->numbers, compare_numbers);
}

/* One rank's pipes. A rank that dies or is stopped before it has handed them over has none. */
static enum emu_status take_one(const struct emu_handover *got, uint32_t world,
                                struct emu_output *output, struct emu_reason *reason)
{
    if (got->from < world && got->error == 0 &&
        emu_output_add(output, got->from, got->fds[0], got->fds[1]))
        return EMU_OK;
    return emu_reason_set(reason, "cannot make a pipe for the output of rank %u: %s",
                          (unsigned)got->from, strerror(got->error ? got->error : errno));
}

static void allow(const struct exchange *exchange, uint32_t count)
{
    static const char turns[TURNS];
    emu_stream_write(exchange->turn[1], turns, count);
}

/* Until all have handed over. Who is killed meanwhile does not, nor does who is stopped: then a
 * signal or the deadline of the run ends the waiting, and the supervisor goes on from there. */
static enum emu_status take_outputs(const struct emu_crew *crew,
                                    const struct emu_crew_params *params, struct exchange *exchange,
                                    struct emu_reason *reason)
{
    uint64_t begun = emu_clock_ns(), limit = params->job->timeout_ns;
    emu_stream_close(&exchange->handover[1]);
    allow(exchange, TURNS);
    for (uint32_t left = crew->world; left > 0;) {
        struct emu_handover got;
        enum emu_status status = EMU_OK;
        switch (emu_handover_receive(exchange->handover[0], PATIENCE_MS, &got)) {
        case EMU_HANDOVER_CAME:
            left--;
            status = take_one(&got, crew->world, params->output, reason);
            break;
        case EMU_HANDOVER_NOTHING:
            if (emu_signals_end_is_pending() || (limit && emu_clock_ns() - begun >= limit))
                return EMU_OK;
            break;
        case EMU_HANDOVER_CLOSED:
            return EMU_OK;
        case EMU_HANDOVER_REFUSED:
            return emu_reason_set(reason, "cannot take the output pipes of the ranks: %s",
                                  strerror(errno));
        }
        if (status != EMU_OK)
            return status;
        allow(exchange, 1); /* after a time without news too: its holder may have died */
    }
    return EMU_OK;
}

static bool open_pipes(struct emu_crew *crew, const struct emu_crew_params *params,
                       struct exchange *exchange)
{
    return emu_stream_pipe(crew->go) &&
           (!params->output ||
            (emu_stream_pipe(exchange->turn) && emu_handover_open(exchange->handover)));
}

enum emu_status emu_crew_start(const struct emu_crew_params *params, struct emu_crew *crew,
                               struct emu_reason *reason)
{
    struct exchange exchange = {{-1, -1}, {-1, -1}};
    enum emu_status status = EMU_OK;
    *crew = (struct emu_crew){.world = params->segment->world, .go = {-1, -1}};
    crew->ranks = calloc(crew->world, sizeof *crew->ranks);
    crew->numbers = calloc(crew->world, sizeof *crew->numbers);
    if (!crew->ranks || !crew->numbers) {
        emu_reason_set(reason, "out of memory");
        status = EMU_ENOMEM;
    } else if (!open_pipes(crew, params, &exchange)) {
        status = emu_reason_set(reason, "cannot make a pipe: %s", strerror(errno));
    } else {
        status = fork_ranks(crew, params, &exchange, reason);
    }
    if (status == EMU_OK && params->output)
        status = take_outputs(crew, params, &exchange, reason);
    close_exchange(&exchange);
    if (status == EMU_OK)
        number_ranks(crew);
    else
        emu_crew_finish(crew);
    return status;
}

void emu_crew_go(struct emu_crew *crew)
{
    /* Our own reading end is still open: ranks that were killed meanwhile are no broken pipe. */
    static const char bytes[256];
    for (uint32_t left = crew->world, part; left > 0; left -= part) {
        part = left < sizeof bytes ? left : sizeof bytes;
        emu_stream_write(crew->go[1], bytes, part);
    }
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

bool emu_crew_changed(const struct emu_crew *crew, uint32_t *rank, bool *hidden)
{
    struct emu_crew_number wanted = {emu_process_changed(), 0};
    *hidden = false;
    if (wanted.pid == 0)
        return false;
    const struct emu_crew_number *found =
        bsearch(&wanted, crew->numbers, crew->world, sizeof wanted, compare_numbers);
    *hidden = !found;
    if (found)
        *rank = found->rank;
    return found != NULL;
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
    free(crew->numbers);
    *crew = (struct emu_crew){.go = {-1, -1}};
}
