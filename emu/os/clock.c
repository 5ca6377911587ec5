#include "os/clock.h"

#include <errno.h>
#include <time.h>

#define NS_PER_S UINT64_C(1000000000)

static uint64_t look(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

uint64_t emu_clock_ns(void)
{
    return look(CLOCK_MONOTONIC);
}

uint64_t emu_clock_cpu_ns(void)
{
    return look(CLOCK_THREAD_CPUTIME_ID);
}

void emu_clock_sleep(uint64_t ns)
{
    uint64_t end = emu_clock_ns() + ns; /* absolute, so that signals do not prolong the sleep */
    struct timespec until = {.tv_sec = (time_t)(end / NS_PER_S), .tv_nsec = (long)(end % NS_PER_S)};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR)
        ;
}
