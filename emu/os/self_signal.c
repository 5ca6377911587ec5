#include "os/self_signal.h"

#include <signal.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#define SECOND_NS UINT64_C(1000000000)
#define AGAIN_NS 20000000 /* of the timer, should it fire before the stop has come */

_Noreturn void emu_self_kill(int number)
{
    struct rlimit none = {0, 0};
    setrlimit(RLIMIT_CORE, &none);
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, number);
    signal(number, SIG_DFL);
    sigprocmask(SIG_UNBLOCK, &set, NULL);
    raise(number);
    raise(SIGKILL); /* for a signal that does not kill */
    _exit(128 + number);
}

static void take_no_notice(int number)
{
    (void)number;
}

/* SIGCONT continues a stopped process when it is sent, not when it is delivered. A handler keeps
 * the kernel from forgetting a timer whose signal nobody wants. */
void emu_self_stop(uint64_t cont_after_ns)
{
    struct sigaction quiet = {.sa_handler = take_no_notice, .sa_flags = SA_RESTART}, before;
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGCONT};
    struct itimerspec when = {
        .it_value = {(time_t)(cont_after_ns / SECOND_NS), (long)(cont_after_ns % SECOND_NS)},
        .it_interval = {0, AGAIN_NS},
    };
    timer_t timer;
    sigaction(SIGCONT, &quiet, &before);
    bool timed = cont_after_ns > 0 && timer_create(CLOCK_MONOTONIC, &event, &timer) == 0;
    if (timed)
        timer_settime(timer, 0, &when, NULL);
    raise(SIGSTOP);
    if (timed)
        timer_delete(timer);
    sigaction(SIGCONT, &before, NULL);
}
