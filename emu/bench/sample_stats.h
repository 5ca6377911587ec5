/* Which numbers stand for many measured times? */
#ifndef EMU_BENCH_SAMPLE_STATS_H
#define EMU_BENCH_SAMPLE_STATS_H

#include <stdint.h>

struct emu_sample_stats {
    double median; /* of an even number: the mean of the middle two */
    double p99;    /* nearest rank: the least sample that at least 99 in 100 do not exceed */
};

/* count > 0. Sorts the samples. */
struct emu_sample_stats emu_sample_stats_of(uint64_t *samples, uint64_t count);

#endif
