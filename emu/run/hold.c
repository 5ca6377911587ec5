#include "run/hold.h"

#include "os/stream.h"
#include "os/terminal.h"

#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

static void print_ranks(const struct emu_crew *crew, const struct emu_finding *finding,
                        bool terminal)
{
    fprintf(stderr, "\nmeshemu: all ranks are stopped: %s: %s\n", emu_class_name(finding->class_id),
            finding->message ? finding->message : "");
    for (uint32_t rank = 0; rank < crew->world; rank++)
        if (!emu_fate_is_gone(crew->ranks[rank].fate))
            fprintf(stderr, "  rank %" PRIu32 "  pid %ld\n", rank,
                    (long)crew->ranks[rank].process.pid);
    fprintf(stderr, "attach a debugger with: gdb -p PID\ngo on with: %skill -CONT %ld\n",
            terminal ? "Enter, or " : "", (long)getpid());
    fflush(stderr);
}

/* The whole line, so that nothing of it is left for what comes after. */
static bool take_enter(void)
{
    char line[256];
    return emu_stream_read(STDIN_FILENO, line, sizeof line) != -1;
}

static int wait_for_person(const struct emu_signals *signals, bool terminal)
{
    for (;;) {
        struct pollfd both[2] = {{.fd = signals->fd, .events = POLLIN},
                                 {.fd = terminal ? STDIN_FILENO : -1, .events = POLLIN}};
        poll(both, 2, -1);
        struct emu_signals_news news = emu_signals_take(signals);
        if (news.end || news.resume)
            return news.end;
        if (both[1].revents && take_enter())
            return 0;
    }
}

int emu_hold_ranks(struct emu_crew *crew, const struct emu_signals *signals,
                   const struct emu_finding *finding)
{
    bool terminal = emu_terminal_is(STDIN_FILENO);
    emu_crew_signal(crew, SIGSTOP);
    print_ranks(crew, finding, terminal);
    int end = wait_for_person(signals, terminal);
    emu_crew_signal(crew, SIGCONT);
    return end;
}
