#include "os/replica_processes.h"

#include "os/clock.h"
#include "os/process.h"
#include "os/stream.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>

struct birth {
    struct emu_replicas *replicas;
    uint32_t index;
};

/* Wait until nobody holds the questioner's end any more, then answer once. */
static int be_replica(void *context)
{
    const struct birth *birth = context;
    struct emu_replicas *all = birth->replicas;
    char byte;
    emu_stream_close(&all->question[1]);
    emu_stream_close(&all->answer[0]);
    while (emu_stream_read(all->question[0], &byte, 1) > 0)
        ;
    return emu_stream_write(all->answer[1], &birth->index, sizeof birth->index) ? 0 : 1;
}

static void close_all(struct emu_replicas *replicas)
{
    for (int i = 0; i < 2; i++) {
        emu_stream_close(&replicas->question[i]);
        emu_stream_close(&replicas->answer[i]);
    }
}

static bool open_all(struct emu_replicas *replicas)
{
    *replicas = (struct emu_replicas){.question = {-1, -1}, .answer = {-1, -1}};
    return emu_stream_pipe(replicas->question) && emu_stream_pipe(replicas->answer);
}

static enum emu_status start_one(struct emu_replicas *replicas, struct emu_reason *reason)
{
    struct birth birth = {replicas, replicas->count};
    struct emu_process child;
    enum emu_status status = emu_process_fork(be_replica, &birth, &child, reason);
    if (status != EMU_OK)
        return status;
    replicas->pids[replicas->count++] = child.pid;
    emu_process_forget(&child);
    return EMU_OK;
}

enum emu_status emu_replicas_start(struct emu_replicas *replicas, uint32_t count,
                                   struct emu_reason *reason)
{
    signal(SIGCHLD, SIG_DFL); /* ignored, the numbers of dead replicas would go to strangers */
    if (!open_all(replicas)) {
        emu_reason_set(reason, "cannot make a pipe: %s", strerror(errno));
        close_all(replicas);
        return EMU_ESYSTEM;
    }
    enum emu_status status = EMU_OK;
    while (replicas->count < count && status == EMU_OK)
        status = start_one(replicas, reason);
    emu_stream_close(&replicas->question[0]);
    emu_stream_close(&replicas->answer[1]);
    if (status != EMU_OK)
        emu_replicas_finish(replicas);
    return status;
}

static void reap(pid_t *pid)
{
    while (*pid > 0 && waitpid(*pid, NULL, 0) < 0 && errno == EINTR)
        ;
    *pid = 0;
}

void emu_replicas_kill(struct emu_replicas *replicas, uint32_t index)
{
    if (replicas->pids[index] <= 0)
        return;
    kill(replicas->pids[index], SIGKILL);
    reap(&replicas->pids[index]);
}

/* Is there an answer, or the end of all answers, before the deadline? */
static bool wait_for_answer(int fd, uint64_t deadline_ns)
{
    uint64_t now = emu_clock_ns();
    struct pollfd ready = {.fd = fd, .events = POLLIN};
    int left_ms = now < deadline_ns ? (int)((deadline_ns - now) / 1000000) + 1 : 0;
    int answer = poll(&ready, 1, left_ms);
    return answer > 0 || (answer < 0 && errno == EINTR);
}

uint32_t emu_replicas_ask(struct emu_replicas *replicas, uint64_t timeout_ns, bool *alive)
{
    uint64_t deadline_ns = emu_clock_ns() + timeout_ns;
    uint32_t up = 0;
    memset(alive, 0, replicas->count * sizeof *alive);
    emu_stream_close(&replicas->question[1]);
    while (wait_for_answer(replicas->answer[0], deadline_ns)) {
        uint32_t index; /* written whole: a pipe keeps so few bytes together */
        if (emu_stream_read(replicas->answer[0], &index, sizeof index) != sizeof index)
            break;
        if (index >= replicas->count || alive[index])
            continue;
        alive[index] = true;
        up++;
    }
    return up;
}

void emu_replicas_finish(struct emu_replicas *replicas)
{
    for (uint32_t i = 0; i < replicas->count; i++)
        emu_replicas_kill(replicas, i);
    close_all(replicas);
    replicas->count = 0;
}
