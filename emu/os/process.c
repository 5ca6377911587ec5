#include "os/process.h"

#include "os/stream.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* Present only in programs built for coverage. Not __gcov_dump: the linker takes that one in on
 * demand alone, and a weak reference is no demand. */
extern void __gcov_exit(void) __attribute__((weak));
extern int __llvm_profile_write_file(void) __attribute__((weak));

_Noreturn void emu_process_end(int code)
{
    fflush(NULL);
    if (__gcov_exit)
        __gcov_exit();
    if (__llvm_profile_write_file)
        __llvm_profile_write_file();
    _exit(code >= 0 && code <= 255 ? code : 255);
}

static _Noreturn void run_child(int (*body)(void *context), void *context, pid_t parent)
{
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != parent)
        _exit(255);
    emu_process_end(body(context));
}

enum emu_status emu_process_start(int (*body)(void *context), void *context,
                                  struct emu_process *child, struct emu_reason *reason)
{
    pid_t parent = getpid();
    fflush(NULL);
    pid_t pid = fork();
    if (pid < 0)
        return emu_reason_set(reason,
                              "cannot start a process: %s; use fewer ranks, or raise the limit on "
                              "processes (ulimit -u) or of the pids cgroup",
                              strerror(errno));
    if (pid == 0)
        run_child(body, context, parent);
    *child = (struct emu_process){.pid = pid, .pidfd = -1};
    return EMU_OK;
}

enum emu_status emu_process_watch(struct emu_process *child, struct emu_reason *reason)
{
    child->pidfd = pidfd_open(child->pid, 0);
    if (child->pidfd >= 0)
        return EMU_OK;
    int error = errno;
    kill(child->pid, SIGKILL);
    while (waitpid(child->pid, NULL, 0) < 0 && errno == EINTR)
        ;
    return emu_reason_set(reason, "cannot watch a process (pidfd_open, Linux 5.4): %s",
                          strerror(error));
}

enum emu_status emu_process_fork(int (*body)(void *context), void *context,
                                 struct emu_process *child, struct emu_reason *reason)
{
    struct emu_process started;
    enum emu_status status = emu_process_start(body, context, &started, reason);
    if (status == EMU_OK)
        status = emu_process_watch(&started, reason);
    if (status == EMU_OK)
        *child = started;
    return status;
}

static enum emu_process_change change_of(const siginfo_t *info, int *code)
{
    *code = info->si_status;
    switch (info->si_code) {
    case CLD_EXITED:
        return EMU_PROCESS_EXITED;
    case CLD_KILLED:
    case CLD_DUMPED:
        return EMU_PROCESS_KILLED;
    case CLD_CONTINUED:
        return EMU_PROCESS_CONTINUED;
    default:
        return EMU_PROCESS_STOPPED;
    }
}

static enum emu_process_change ask(const struct emu_process *process, int options, int *code)
{
    siginfo_t info = {0};
    int answer;
    idtype_t by = process->pidfd >= 0 ? P_PIDFD : P_PID;
    id_t id = (id_t)(process->pidfd >= 0 ? process->pidfd : process->pid);
    do
        answer = waitid(by, id, &info, options);
    while (answer < 0 && errno == EINTR);
    if (answer < 0) {
        *code = 0;
        return EMU_PROCESS_LOST;
    }
    if (info.si_pid == 0)
        return EMU_PROCESS_SAME;
    return change_of(&info, code);
}

enum emu_process_change emu_process_look(const struct emu_process *process, int *code)
{
    return ask(process, WEXITED | WSTOPPED | WCONTINUED | WNOHANG, code);
}

pid_t emu_process_changed(void)
{
    siginfo_t info = {0};
    if (waitid(P_ALL, 0, &info, WSTOPPED | WCONTINUED | WNOHANG | WNOWAIT) != 0)
        return 0;
    return info.si_pid;
}

enum emu_process_change emu_process_wait(const struct emu_process *process, int *code)
{
    return ask(process, WEXITED, code);
}

void emu_process_signal(const struct emu_process *process, int signal)
{
    /* Fails only for a process that is gone, which is no news here. Before it has a pidfd it was
     * not reaped, so that its number is still its own. */
    if (process->pidfd >= 0)
        pidfd_send_signal(process->pidfd, signal, NULL, 0);
    else
        kill(process->pid, signal);
}

void emu_process_forget(struct emu_process *process)
{
    emu_stream_close(&process->pidfd);
}
