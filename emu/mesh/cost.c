#include "mesh/cost.h"

#include "base/hot.h"

/* bytes * (n-1) / n, rounded down. */
static uint64_t share(uint64_t bytes, uint64_t members)
{
    return bytes - (bytes + members - 1) / members;
}

/* 2 * bytes * (n-1) / n, rounded down once. */
static uint64_t twice_share(uint64_t bytes, uint64_t members)
{
    return share(2 * bytes, members);
}

EMU_HOT uint64_t emu_cost_bytes(enum emu_kind kind, enum emu_layout layout, uint64_t bytes,
                                uint32_t members)
{
    bool chunks = layout == EMU_LAYOUT_CHUNKS;
    if (kind == EMU_SEND)
        return bytes;
    if (members <= 1)
        return 0;
    switch (kind) {
    case EMU_ALL_REDUCE:
        return twice_share(bytes, members);
    case EMU_REDUCE_SCATTER:
    case EMU_ALL_TO_ALL:
    case EMU_SCATTER:
        return share(bytes, members);
    case EMU_ALL_GATHER:
        return chunks ? share(bytes, members) : bytes * (members - 1);
    case EMU_GATHER:
        return chunks ? share(bytes, members) : bytes;
    case EMU_BROADCAST:
    case EMU_REDUCE:
        return bytes;
    default:
        return 0;
    }
}
