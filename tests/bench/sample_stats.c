/* Median and percentile of measured times. */
#include "bench/sample_stats.h"

#include <criterion/criterion.h>

Test(sample_stats, an_odd_number_has_a_middle)
{
    uint64_t samples[] = {50, 10, 30};
    struct emu_sample_stats stats = emu_sample_stats_of(samples, 3);
    cr_assert_eq(stats.median, 30);
    cr_assert_eq(stats.p99, 50);
}

Test(sample_stats, an_even_number_has_the_mean_of_two)
{
    uint64_t samples[] = {4, 1, 3, 2};
    cr_assert_eq(emu_sample_stats_of(samples, 4).median, 2.5);
}

Test(sample_stats, one_sample_is_all_of_them)
{
    uint64_t sample = 7;
    struct emu_sample_stats stats = emu_sample_stats_of(&sample, 1);
    cr_assert_eq(stats.median, 7);
    cr_assert_eq(stats.p99, 7);
}

Test(sample_stats, of_a_hundred_one_may_be_above_the_99th_percentile)
{
    uint64_t samples[200];
    for (uint64_t i = 0; i < 100; i++)
        samples[i] = 100 - i;
    cr_assert_eq(emu_sample_stats_of(samples, 100).p99, 99);
    for (uint64_t i = 0; i < 101; i++)
        samples[i] = 101 - i; /* 99 of them are 98.02 %, 100 are 99.01 % */
    cr_assert_eq(emu_sample_stats_of(samples, 101).p99, 100);
    for (uint64_t i = 0; i < 200; i++)
        samples[i] = 200 - i;
    cr_assert_eq(emu_sample_stats_of(samples, 200).p99, 198);
}
