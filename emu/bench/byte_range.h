/* Which sizes does "8:4M" ask for? */
#ifndef EMU_BENCH_BYTE_RANGE_H
#define EMU_BENCH_BYTE_RANGE_H

#include <stdbool.h>
#include <stdint.h>

#define EMU_BYTE_RANGE_MAX (UINT64_C(1) << 40)
#define EMU_BYTE_RANGE_HINT                                                                        \
    "the least and the most bytes, 1 to 1024G, as in 8:4M; K, M and G are powers of 1024"

struct emu_byte_range {
    uint64_t low, high; /* 1 <= low <= high <= EMU_BYTE_RANGE_MAX; sizes double from low */
};

/* "A:B", or "A" for one size. false: *range is untouched. */
bool emu_byte_range_parse(const char *text, struct emu_byte_range *range);

#endif
