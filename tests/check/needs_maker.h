/* How does a test say who waits for whom? */
#ifndef TESTS_CHECK_NEEDS_MAKER_H
#define TESTS_CHECK_NEEDS_MAKER_H

#include "check/deadlock.h"

#include <stdarg.h>
#include <string.h>

#define NEEDS_ROOM 256
#define NEEDS_WORLD 32

struct needs_maker {
    struct emu_needs needs;
    struct emu_need ranks[NEEDS_WORLD];
    uint32_t targets[NEEDS_ROOM];
};

/* All act. */
static inline void make_needs(struct needs_maker *maker, uint32_t world)
{
    memset(maker, 0, sizeof *maker);
    maker->needs = (struct emu_needs){.world = world, .steady = true};
    maker->needs.ranks = maker->ranks;
    maker->needs.targets = maker->targets;
}

/* targets end with -1; any: true where one of them is enough (int, for va_start). */
static inline void make_wait(struct needs_maker *maker, uint32_t rank, int any, ...)
{
    struct emu_need *need = &maker->ranks[rank];
    need->stand = EMU_STAND_WAITS;
    need->wait = EMU_WAIT_SLOT;
    need->rest = 1;
    need->any = any != 0;
    need->first = maker->needs.target_count;
    va_list targets;
    va_start(targets, any);
    for (int target; (target = va_arg(targets, int)) >= 0;) {
        maker->targets[maker->needs.target_count++] = (uint32_t)target;
        need->count++;
    }
    va_end(targets);
}

#endif
