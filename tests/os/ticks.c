/* Ticks tell the time of the monotonic clock. */
#include "os/ticks.h"

#include <criterion/criterion.h>
#include <fenv.h>

/* Each look at the two clocks may be torn by at most the time that it took, which this thread may
 * have spent off its core; between the two looks the error is no larger than at either. */
Test(ticks, lie_between_two_looks_at_the_clock)
{
    uint64_t first = emu_clock_ns();
    struct emu_ticks begun = emu_ticks_begin();
    uint64_t before = emu_clock_ns();
    uint64_t ticks = emu_ticks_now(&begun);
    uint64_t after = emu_clock_ns();
    emu_clock_sleep(20000000); /* a rate needs some time */
    uint64_t second = emu_clock_ns();
    struct emu_ticks_rate rate = emu_ticks_rate(&begun);
    uint64_t end = emu_clock_ns();
    uint64_t ns = emu_ticks_ns(&rate, ticks);
    uint64_t torn = (before - first) + (end - second);
    cr_expect(ns + torn >= before && ns <= after + torn, "%lu in %lu..%lu, torn by %lu",
              (unsigned long)ns, (unsigned long)before, (unsigned long)after, (unsigned long)torn);
}

Test(ticks, never_run_backwards)
{
    struct emu_ticks begun = emu_ticks_begin();
    struct emu_ticks_rate rate = {begun, 2, 1};
    uint64_t last = 0;
    for (int i = 0; i < 1000; i++) {
        uint64_t ticks = emu_ticks_now(&begun);
        cr_assert(ticks >= last);
        last = ticks;
    }
    cr_expect_eq(emu_ticks_ns(&rate, begun.ticks), begun.ns);
    cr_expect_eq(emu_ticks_ns(&rate, begun.ticks - 1), begun.counts ? begun.ns : begun.ticks - 1);
    cr_expect_eq(emu_ticks_ns(&rate, begun.ticks + 1000),
                 begun.counts ? begun.ns + 500 : begun.ticks + 1000);
}

Test(ticks, without_a_counter_are_the_clock)
{
    struct emu_ticks clock = {.counts = false, .ticks = 5, .ns = 5};
    struct emu_ticks_rate rate = {clock, 1, 3};
    uint64_t before = emu_clock_ns();
    uint64_t ticks = emu_ticks_now(&clock);
    cr_expect(ticks >= before && ticks <= emu_clock_ns());
    cr_expect_eq(emu_ticks_ns(&rate, ticks), ticks);
}

/* The kernels of an exact run ask the processor whether anything was rounded since they began. */
Test(ticks, round_nothing_on_the_way)
{
    struct emu_ticks begun = emu_ticks_begin();
    emu_clock_sleep(1000000);
    feclearexcept(FE_ALL_EXCEPT);
    struct emu_ticks_rate rate = emu_ticks_rate(&begun);
    uint64_t ns = emu_ticks_ns(&rate, emu_ticks_now(&begun));
    cr_expect(!fetestexcept(FE_INEXACT) && ns > begun.ns);
}
