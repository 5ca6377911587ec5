#include "os/signals.h"

#include "os/stream.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/signalfd.h>

static void watched(sigset_t *set)
{
    struct sigaction hangup;
    sigemptyset(set);
    sigaddset(set, SIGINT);
    sigaddset(set, SIGTERM);
    sigaddset(set, SIGCHLD);
    sigaddset(set, SIGCONT);
    if (sigaction(SIGHUP, NULL, &hangup) != 0 || hangup.sa_handler != SIG_IGN)
        sigaddset(set, SIGHUP);
}

enum emu_status emu_signals_watch(struct emu_signals *signals, struct emu_reason *reason)
{
    struct sigaction plain = {.sa_handler = SIG_DFL};
    sigset_t set;
    watched(&set);
    signals->fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    if (signals->fd < 0)
        return emu_reason_set(reason, "cannot watch signals: %s", strerror(errno));
    pthread_sigmask(SIG_BLOCK, &set, &signals->old_mask);
    sigaction(SIGCHLD, &plain, &signals->old_child);
    return EMU_OK;
}

struct emu_signals_news emu_signals_take(const struct emu_signals *signals)
{
    struct emu_signals_news news = {0};
    struct signalfd_siginfo info;
    while (emu_stream_read(signals->fd, &info, sizeof info) == (ssize_t)sizeof info) {
        if (info.ssi_signo == SIGCHLD)
            news.child = true;
        else if (info.ssi_signo == SIGCONT)
            news.resume = true;
        else
            news.end = (int)info.ssi_signo;
    }
    return news;
}

bool emu_signals_end_is_pending(void)
{
    sigset_t pending;
    sigpending(&pending);
    return sigismember(&pending, SIGINT) == 1 || sigismember(&pending, SIGTERM) == 1 ||
           sigismember(&pending, SIGHUP) == 1;
}

void emu_signals_restore_child(const struct emu_signals *signals)
{
    sigaction(SIGCHLD, &signals->old_child, NULL);
    pthread_sigmask(SIG_SETMASK, &signals->old_mask, NULL);
}

void emu_signals_restore(struct emu_signals *signals)
{
    emu_signals_take(signals);
    emu_stream_close(&signals->fd);
    sigaction(SIGCHLD, &signals->old_child, NULL);
    pthread_sigmask(SIG_SETMASK, &signals->old_mask, NULL);
}
