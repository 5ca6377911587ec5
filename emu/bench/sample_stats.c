#include "bench/sample_stats.h"

#include <stdlib.h>

static int compare(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

struct emu_sample_stats emu_sample_stats_of(uint64_t *samples, uint64_t count)
{
    qsort(samples, count, sizeof *samples, compare);
    double middle = (double)samples[count / 2];
    if (count % 2 == 0)
        middle = (middle + (double)samples[count / 2 - 1]) / 2;
    uint64_t rank = count - count / 100; /* the ceiling of 99 count / 100 */
    return (struct emu_sample_stats){middle, (double)samples[rank - 1]};
}
