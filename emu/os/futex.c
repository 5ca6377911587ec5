#include "os/futex.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define NS_PER_S 1000000000

bool emu_futex_wait(_Atomic uint32_t *word, uint32_t expected, int64_t timeout_ns)
{
    struct timespec limit = {.tv_sec = timeout_ns / NS_PER_S, .tv_nsec = timeout_ns % NS_PER_S};
    long answer =
        syscall(SYS_futex, word, FUTEX_WAIT, expected, timeout_ns < 0 ? NULL : &limit, NULL, 0);
    return answer == 0 || errno != ETIMEDOUT;
}

bool emu_futex_wait_in(_Atomic uint32_t *word, uint32_t expected, int64_t timeout_ns,
                       uint32_t lanes)
{
    struct timespec until;
    if (timeout_ns >= 0) { /* this form of the call wants a time of day of the monotonic clock */
        clock_gettime(CLOCK_MONOTONIC, &until);
        until.tv_sec += timeout_ns / NS_PER_S;
        until.tv_nsec += timeout_ns % NS_PER_S;
        until.tv_sec += until.tv_nsec / NS_PER_S;
        until.tv_nsec %= NS_PER_S;
    }
    long answer = syscall(SYS_futex, word, FUTEX_WAIT_BITSET, expected,
                          timeout_ns < 0 ? NULL : &until, NULL, lanes);
    return answer == 0 || errno != ETIMEDOUT;
}

void emu_futex_wake_in(_Atomic uint32_t *word, uint32_t lanes)
{
    syscall(SYS_futex, word, FUTEX_WAKE_BITSET, INT_MAX, NULL, NULL, lanes);
}

void emu_futex_wake(_Atomic uint32_t *word, uint32_t count)
{
    int saved = errno; /* signal handlers call this too */
    syscall(SYS_futex, word, FUTEX_WAKE, count > INT_MAX ? INT_MAX : (int)count, NULL, NULL, 0);
    errno = saved;
}
