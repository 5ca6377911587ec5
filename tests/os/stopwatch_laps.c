#include "os/stopwatch.h"

#include <criterion/criterion.h>

TestSuite(os_stopwatch, .timeout = 10);

static uint64_t total(const struct emu_stopwatch *watch)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < EMU_STOPWATCH_LAPS; i++)
        sum += watch->spent_ns[i];
    return sum;
}

Test(os_stopwatch, laps_add_up_to_the_time_since_the_start)
{
    struct emu_stopwatch watch;
    emu_stopwatch_start(&watch, 1);
    uint64_t begun = watch.since_ns;
    for (uint32_t i = 0; i < 1000; i++) {
        uint32_t before = emu_stopwatch_enter(&watch, 2 + i % 3);
        emu_stopwatch_enter(&watch, 5);
        emu_stopwatch_enter(&watch, before);
    }
    emu_stopwatch_enter(&watch, 0);
    cr_assert_eq(total(&watch), watch.since_ns - begun);
    for (uint32_t i = 1; i <= 5; i++)
        cr_assert_gt(watch.spent_ns[i], 0, "lap %u", i);
}

Test(os_stopwatch, a_lap_is_charged_for_what_passed_in_it)
{
    struct emu_stopwatch watch;
    emu_stopwatch_start(&watch, 0);
    uint32_t before = emu_stopwatch_enter(&watch, 3);
    emu_clock_sleep(20000000);
    emu_stopwatch_enter(&watch, before);
    cr_assert_eq(before, 0);
    cr_assert_geq(watch.spent_ns[3], 20000000);
}

Test(os_stopwatch, entering_the_lap_it_is_in_changes_nothing)
{
    struct emu_stopwatch watch;
    emu_stopwatch_start(&watch, 4);
    uint64_t since = watch.since_ns;
    cr_assert_eq(emu_stopwatch_enter(&watch, 4), 4);
    cr_assert_eq(watch.since_ns, since);
    cr_assert_eq(total(&watch), 0);
}

Test(os_stopwatch, one_that_does_not_run_stays_zero)
{
    struct emu_stopwatch watch = {0};
    cr_assert_eq(emu_stopwatch_enter(&watch, 2), 0);
    cr_assert_eq(emu_stopwatch_enter(&watch, 3), 0);
    cr_assert_eq(watch.lap, 0);
    cr_assert_eq(total(&watch), 0);
}
