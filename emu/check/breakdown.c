#include "check/breakdown.h"

const char *emu_spent_name(enum emu_spent spent)
{
    static const char *const names[EMU_SPENT_COUNT] = {"compute", "waiting", "folding",
                                                       "calls",   "checks",  "oracle"};
    return names[spent];
}

uint64_t emu_rank_time_total(const struct emu_rank_time *time)
{
    uint64_t total = 0;
    for (int i = 0; i < EMU_SPENT_COUNT; i++)
        total += time->ns[i];
    return total;
}
