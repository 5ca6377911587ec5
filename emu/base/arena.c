#include "base/arena.h"

#include "base/checked.h"

#include <stddef.h>

void emu_arena_init(struct emu_arena *arena, void *memory, uint64_t bytes)
{
    *arena = (struct emu_arena){.base = memory, .room = bytes};
}

void *emu_arena_alloc(struct emu_arena *arena, enum emu_category category, uint64_t bytes)
{
    uint64_t taken;
    if (!emu_round_up_fits(bytes, EMU_ARENA_ALIGN, &taken) || taken > arena->room - arena->used)
        return NULL;
    void *block = arena->base + arena->used;
    arena->used += taken;
    arena->requested[category] += bytes;
    arena->rounded[category] += taken;
    return block;
}

const char *emu_category_name(enum emu_category category)
{
    static const char *const names[] = {
#define CATEGORY_NAME(name, text) text,
        EMU_CATEGORY_LIST(CATEGORY_NAME)
#undef CATEGORY_NAME
    };
    return (unsigned)category < EMU_CATEGORY_COUNT ? names[category] : "?";
}
