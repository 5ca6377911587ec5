#include "comm/parts.h"

#include "base/checked.h"

static bool gathers(enum emu_kind kind)
{
    return kind == EMU_ALL_GATHER || kind == EMU_GATHER;
}

/* broadcast and scatter: the data of the root alone moves. */
static bool root_gives(enum emu_kind kind)
{
    return kind == EMU_BROADCAST || kind == EMU_SCATTER;
}

static struct emu_slice gathered(const struct emu_call *call, uint32_t index, uint32_t size)
{
    if (call->layout == EMU_LAYOUT_CHUNKS)
        return emu_slice_chunk(call->count, size, index);
    return (struct emu_slice){index * call->count, call->count};
}

uint64_t emu_part_input(const struct emu_call *call, uint32_t index, uint32_t size)
{
    if (call->kind == EMU_BARRIER || (root_gives(call->kind) && index != call->root))
        return 0;
    return gathers(call->kind) ? gathered(call, index, size).count : call->count;
}

uint64_t emu_part_input_max(const struct emu_call *call, uint32_t size)
{
    if (call->kind == EMU_BARRIER)
        return 0;
    return gathers(call->kind) ? gathered(call, 0, size).count : call->count;
}

bool emu_part_receives(const struct emu_call *call, uint32_t index)
{
    switch (call->kind) {
    case EMU_BARRIER:
        return false;
    case EMU_BROADCAST:
        return index != call->root;
    case EMU_REDUCE:
    case EMU_GATHER:
        return index == call->root;
    default:
        return true;
    }
}

bool emu_part_output(const struct emu_call *call, uint32_t index, uint32_t size, uint64_t *count)
{
    uint64_t each = 0;
    uint64_t times = 1;
    if (emu_part_receives(call, index)) {
        switch (call->kind) {
        case EMU_REDUCE_SCATTER:
        case EMU_SCATTER:
            each = emu_slice_chunk(call->count, size, index).count;
            break;
        case EMU_ALL_TO_ALL:
            each = emu_slice_chunk(call->count, size, index).count;
            times = size;
            break;
        case EMU_ALL_GATHER:
        case EMU_GATHER:
            each = call->count;
            times = call->layout == EMU_LAYOUT_CHUNKS ? 1 : size;
            break;
        default:
            each = call->count;
        }
    }
    return emu_mul_fits(each, times, count);
}

struct emu_part emu_part_taken(const struct emu_call *call, uint32_t index, uint32_t size,
                               uint32_t source)
{
    if (!emu_part_receives(call, index) || (root_gives(call->kind) && source != call->root))
        return (struct emu_part){0};
    struct emu_slice chunk = emu_slice_chunk(call->count, size, index);
    switch (call->kind) {
    case EMU_ALL_GATHER:
    case EMU_GATHER: {
        struct emu_slice part = gathered(call, source, size);
        return (struct emu_part){{0, part.count}, part.start};
    }
    case EMU_REDUCE_SCATTER:
    case EMU_SCATTER:
        return (struct emu_part){chunk, 0};
    case EMU_ALL_TO_ALL:
        return (struct emu_part){chunk, source * chunk.count};
    default:
        return (struct emu_part){{0, call->count}, 0};
    }
}
