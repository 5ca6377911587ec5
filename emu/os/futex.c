#include "os/futex.h"

#include "base/hot.h"
#include "os/raw_call.h"

#include <limits.h>
#include <linux/futex.h>
#include <time.h>

#define NS_PER_S 1000000000

static EMU_HOT long futex(_Atomic uint32_t *word, long op, uint32_t value,
                          const struct timespec *time, uint32_t lanes)
{
    return emu_raw_call(
        SYS_futex,
        &(struct emu_raw_arguments){
            .first = word, .second = op, .third = value, .fourth = time, .sixth = lanes});
}

bool emu_futex_wait(_Atomic uint32_t *word, uint32_t expected, int64_t timeout_ns)
{
    struct timespec limit = {.tv_sec = timeout_ns / NS_PER_S, .tv_nsec = timeout_ns % NS_PER_S};
    return futex(word, FUTEX_WAIT, expected, timeout_ns < 0 ? NULL : &limit, 0) != -ETIMEDOUT;
}

EMU_HOT bool emu_futex_wait_in(_Atomic uint32_t *word, uint32_t expected, int64_t timeout_ns,
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
    const struct timespec *limit = timeout_ns < 0 ? NULL : &until;
    return futex(word, FUTEX_WAIT_BITSET, expected, limit, lanes) != -ETIMEDOUT;
}

EMU_HOT void emu_futex_wake_in(_Atomic uint32_t *word, uint32_t lanes)
{
    futex(word, FUTEX_WAKE_BITSET, INT_MAX, NULL, lanes);
}

void emu_futex_wake(_Atomic uint32_t *word, uint32_t count)
{
    futex(word, FUTEX_WAKE, count > INT_MAX ? INT_MAX : count, NULL, 0); /* leaves errno alone */
}
