#include "comm/counts.h"

#include <stdlib.h>

static uint64_t next_of_pair(struct emu_counts *counts, const struct emu_roster *roster,
                             const struct emu_call *call)
{
    uint32_t world = roster->mesh->world;
    if (call->peer >= world)
        return 0;
    if (!counts->pairs)
        counts->pairs = calloc(2 * (size_t)world, sizeof *counts->pairs);
    if (!counts->pairs)
        return 0; /* a number for reports only: not worth failing the call */
    return counts->pairs[(call->kind == EMU_RECV ? world : 0) + call->peer]++;
}

uint64_t emu_counts_next(struct emu_counts *counts, const struct emu_roster *roster,
                         const struct emu_call *call)
{
    if (call->kind == EMU_SEND || call->kind == EMU_RECV)
        return next_of_pair(counts, roster, call);
    if (call->group == EMU_GROUP_SELF)
        return counts->self++;
    if (call->group >= roster->group_count)
        return 0;
    return counts->families[emu_roster_family_of(roster, call->group)]++;
}

void emu_counts_finish(struct emu_counts *counts)
{
    free(counts->pairs);
    counts->pairs = NULL;
}
