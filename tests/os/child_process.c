#include "os/in_child.h"
#include "os/process.h"
#include "os/signals.h"
#include "os/stream.h"

#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

TestSuite(os_process, .timeout = 30);

static int answer(void *context)
{
    return *(int *)context;
}

struct code_case {
    int given, seen;
};

ParameterizedTestParameters(os_process, exit_codes_arrive_and_never_turn_into_success)
{
    static struct code_case cases[] = {{0, 0},     {1, 1},    {255, 255},
                                       {256, 255}, {-1, 255}, {512, 255}};
    return cr_make_param_array(struct code_case, cases, sizeof cases / sizeof cases[0]);
}

ParameterizedTest(struct code_case *c, os_process, exit_codes_arrive_and_never_turn_into_success,
                  .timeout = 30)
{
    struct emu_process child;
    struct emu_reason reason;
    int code = -1;
    cr_assert_eq(emu_process_fork(answer, &c->given, &child, &reason), EMU_OK, "%s", reason.text);
    cr_assert_eq(emu_process_wait(&child, &code), EMU_PROCESS_EXITED);
    cr_assert_eq(code, c->seen);
    cr_assert_eq(emu_process_look(&child, &code), EMU_PROCESS_LOST);
    emu_process_forget(&child);
    cr_assert_eq(child.pidfd, -1);
}

static int sleep_long(void *context)
{
    (void)context;
    sleep(1000);
    return 0;
}

/* Look until something has changed. */
static enum emu_process_change next_change(struct emu_process *child, int *code)
{
    enum emu_process_change change = emu_process_look(child, code);
    while (change == EMU_PROCESS_SAME) {
        usleep(1000);
        change = emu_process_look(child, code);
    }
    return change;
}

Test(os_process, a_stop_among_siblings_is_found_and_taken_once)
{
    struct emu_process children[3];
    int code = 0;
    for (int i = 0; i < 3; i++) {
        cr_assert_eq(emu_process_start(sleep_long, NULL, &children[i], NULL), EMU_OK);
        cr_assert_eq(children[i].pidfd, -1);
    }
    for (int i = 0; i < 2; i++)
        cr_assert_eq(emu_process_watch(&children[i], NULL), EMU_OK);
    cr_assert_eq(emu_process_changed(), 0);
    emu_process_signal(&children[2], SIGSTOP); /* one without a pidfd works too */
    while (emu_process_changed() == 0)
        usleep(1000);
    cr_assert_eq(emu_process_changed(), children[2].pid, "a look at all takes nothing");
    cr_assert_eq(emu_process_look(&children[2], &code), EMU_PROCESS_STOPPED);
    cr_assert_eq(emu_process_changed(), 0);
    for (int i = 0; i < 3; i++) {
        emu_process_signal(&children[i], SIGKILL);
        cr_assert_eq(emu_process_wait(&children[i], &code), EMU_PROCESS_KILLED);
        emu_process_forget(&children[i]);
    }
    cr_assert_eq(emu_process_changed(), 0, "ends are not told here");
}

Test(os_process, stop_continue_and_death_are_told_apart)
{
    struct emu_process child;
    int code = 0;
    cr_assert_eq(emu_process_fork(sleep_long, NULL, &child, NULL), EMU_OK);
    cr_assert_eq(emu_process_look(&child, &code), EMU_PROCESS_SAME);
    emu_process_signal(&child, SIGSTOP);
    cr_assert_eq(next_change(&child, &code), EMU_PROCESS_STOPPED);
    emu_process_signal(&child, SIGCONT);
    cr_assert_eq(next_change(&child, &code), EMU_PROCESS_CONTINUED);
    emu_process_signal(&child, SIGTERM);
    struct pollfd gone = {.fd = child.pidfd, .events = POLLIN};
    cr_assert_eq(poll(&gone, 1, 20000), 1);
    cr_assert_eq(emu_process_look(&child, &code), EMU_PROCESS_KILLED);
    cr_assert_eq(code, SIGTERM);
    emu_process_forget(&child);
}

static int fork_and_wait_for_ever(void *context)
{
    struct emu_process child;
    if (emu_process_fork(sleep_long, NULL, &child, NULL) != EMU_OK ||
        !emu_stream_write(*(int *)context, &child.pid, sizeof child.pid))
        return 1;
    pause();
    return 0;
}

Test(os_process, a_child_dies_with_its_parent)
{
    int ends[2], code;
    cr_assert(emu_stream_pipe(ends));
    struct emu_process middle;
    pid_t grandchild = 0;
    cr_assert_eq(emu_process_fork(fork_and_wait_for_ever, &ends[1], &middle, NULL), EMU_OK);
    cr_assert_eq(emu_stream_read(ends[0], &grandchild, sizeof grandchild), sizeof grandchild);
    cr_assert_eq(kill(grandchild, 0), 0);
    emu_process_signal(&middle, SIGKILL);
    cr_assert_eq(emu_process_wait(&middle, &code), EMU_PROCESS_KILLED);
    while (kill(grandchild, 0) == 0)
        usleep(1000);
    cr_assert_eq(errno, ESRCH);
    emu_process_forget(&middle);
}

static int fork_without_room(void *context)
{
    (void)context;
    struct rlimit limit = {0, 0};
    struct emu_process child;
    struct emu_reason reason;
    if (setrlimit(RLIMIT_NPROC, &limit) != 0 || (getuid() == 0 && setuid(54322) != 0))
        return 9;
    if (emu_process_fork(sleep_long, NULL, &child, &reason) != EMU_ESYSTEM)
        return 1;
    return strstr(reason.text, "ulimit -u") ? 0 : 2;
}

Test(os_process, a_refused_fork_says_why)
{
    cr_assert_eq(run_in_child(fork_without_room, NULL, 10), 0);
}

static int fork_without_descriptors(void *context)
{
    (void)context;
    struct emu_process child;
    struct emu_reason reason;
    while (dup(0) >= 0)
        ;
    if (emu_process_fork(sleep_long, NULL, &child, &reason) != EMU_ESYSTEM)
        return 1;
    return waitpid(-1, NULL, WNOHANG) == -1 && errno == ECHILD ? 0 : 2;
}

Test(os_process, a_child_that_cannot_be_watched_is_ended)
{
    cr_assert_eq(run_in_child(fork_without_descriptors, NULL, 20), 0);
}

Test(os_process, what_was_buffered_is_written_once)
{
    char name[] = "/tmp/meshemu-once-XXXXXX";
    int fd = mkstemp(name), code, zero = 0;
    FILE *stream = fdopen(fd, "w+");
    fputs("once", stream);
    struct emu_process child;
    cr_assert_eq(emu_process_fork(answer, &zero, &child, NULL), EMU_OK);
    cr_assert_eq(emu_process_wait(&child, &code), EMU_PROCESS_EXITED);
    fflush(stream);
    cr_assert_eq(lseek(fd, 0, SEEK_END), 4);
    fclose(stream);
    unlink(name);
    emu_process_forget(&child);
}

Test(os_signals, what_comes_in_is_read_and_the_old_ways_return, .timeout = 30)
{
    struct emu_signals signals;
    struct sigaction ignored = {.sa_handler = SIG_IGN}, now;
    sigset_t mask;
    sigaction(SIGCHLD, &ignored, NULL);
    sigaction(SIGHUP, &ignored, NULL);
    cr_assert_eq(emu_signals_watch(&signals, NULL), EMU_OK);
    kill(getpid(), SIGINT);
    kill(getpid(), SIGHUP);
    int zero = 0, code;
    struct emu_process child;
    cr_assert_eq(emu_process_fork(answer, &zero, &child, NULL), EMU_OK);
    cr_assert_eq(emu_process_wait(&child, &code), EMU_PROCESS_EXITED);
    struct emu_signals_news news = emu_signals_take(&signals);
    cr_assert_eq(news.end, SIGINT, "an ignored SIGHUP stays ignored");
    cr_assert(news.child);
    cr_assert_not(news.resume);
    cr_assert_eq(emu_signals_take(&signals).end, 0);
    emu_signals_restore(&signals);
    sigaction(SIGCHLD, NULL, &now);
    cr_assert_eq(now.sa_handler, SIG_IGN);
    pthread_sigmask(SIG_BLOCK, NULL, &mask);
    cr_assert_not(sigismember(&mask, SIGINT));
    emu_process_forget(&child);
}
