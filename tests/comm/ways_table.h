/* Tables of emu/seg/ways.h under which a test runs: each forces one way, or a variant of it. */
#ifndef TESTS_COMM_WAYS_TABLE_H
#define TESTS_COMM_WAYS_TABLE_H

#include "seg/ways.h"

#define NEVER UINT64_MAX

/* How many bytes a call needs in each of these to be lent: none, but for those that never are. */
struct way {
    const char *name;
    bool lends;
    bool checksums;
    struct emu_ways table;
};

static const struct way ways[] = {
    {"each, and rounds", false, false, {64, NEVER, NEVER, 16384, NEVER}},
    {"last, and rounds, summed", false, true, {1, NEVER, NEVER, 16384, NEVER}},
    {"lent by all, units of a line, past the cache", true, false, {64, 0, 0, 64, 0}},
    {"lent, two cores, units of a line, summed", true, true, {2, 0, 0, 64, NEVER}},
    {"lent, two cores, units of 2 KiB, past the cache", true, false, {2, 0, 0, 2048, 0}},
    {"lent, one core, units of 16 KiB, summed", true, true, {1, 0, 0, 16384, NEVER}},
};
#define WAYS (sizeof ways / sizeof ways[0])

#endif
