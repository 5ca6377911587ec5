/* How is a child process started so that it cannot be lost, and what has become of it?
 *
 * A child dies with the thread that forked it, however that ends (PR_SET_PDEATHSIG, and a second
 * look at the parent for the moment before it was set). It is known by a pidfd, so a signal never
 * hits a stranger that got the same number. News of it come from the kernel alone.
 */
#ifndef EMU_OS_PROCESS_H
#define EMU_OS_PROCESS_H

#include "os/reason.h"

#include <meshemu/status.h>

#include <sys/types.h>

struct emu_process {
    pid_t pid;
    int pidfd; /* readable (poll) once the process is gone; -1: none */
};

enum emu_process_change {
    EMU_PROCESS_SAME,
    EMU_PROCESS_EXITED,    /* code: exit code */
    EMU_PROCESS_KILLED,    /* code: signal */
    EMU_PROCESS_STOPPED,   /* code: signal */
    EMU_PROCESS_CONTINUED, /* code: SIGCONT */
    EMU_PROCESS_LOST,      /* somebody else has taken its exit status */
};

/* Fork a child that runs body, without a pidfd yet (-1): those of thousands of siblings would be
 * copied by every later fork. See emu_process_fork, which does both. */
EMU_MUST_CHECK enum emu_status emu_process_start(int (*body)(void *context), void *context,
                                                 struct emu_process *child,
                                                 struct emu_reason *reason);

/* Give it its pidfd. Its number cannot belong to a stranger: the caller has not reaped it. On
 * EMU_ESYSTEM it was ended and reaped. */
EMU_MUST_CHECK enum emu_status emu_process_watch(struct emu_process *child,
                                                 struct emu_reason *reason);

/* Fork a child that runs body and ends with its answer (see emu_process_end). Flushes all streams
 * first, so that nothing buffered is written twice.
 * returns  in the parent alone: EMU_OK, EMU_ESYSTEM with the reason (no child is left) */
EMU_MUST_CHECK enum emu_status emu_process_fork(int (*body)(void *context), void *context,
                                                struct emu_process *child,
                                                struct emu_reason *reason);

/* End this process: streams are flushed and profiles written, but no exit handler runs, since those
 * of a forked child belong to its parent. Codes that do not fit in a byte become 255: failure must
 * not turn into 0. Leak checkers run at exit and so never see a child: ranks as threads do. */
_Noreturn void emu_process_end(int code);

/* What has changed since the last look? Does not wait. A process that is gone is reaped by it. */
enum emu_process_change emu_process_look(const struct emu_process *process, int *code);

/* A child of this process, of anyone's making, that has stopped or gone on, and of which
 * emu_process_look would tell so; 0: none has. Costs one walk over the children, in the kernel. */
pid_t emu_process_changed(void);

/* Wait until it is gone, and reap it; stops and continues pass unseen. */
enum emu_process_change emu_process_wait(const struct emu_process *process, int *code);

void emu_process_signal(const struct emu_process *process, int signal);

/* Close the pidfd. Accepts one that has none. */
void emu_process_forget(struct emu_process *process);

#endif
