#include "comm/counts.h"

#include "base/hot.h"
#include "comm/handle.h"

#include <stdlib.h>

static uint64_t *pair_of(struct emu_counts *counts, const struct emu_rank *rank,
                         const struct emu_call *call)
{
    uint32_t world = rank->roster->mesh->world;
    if (call->peer >= world)
        return NULL;
    if (!counts->pairs) /* numbers for reports only: not worth failing a call for */
        counts->pairs = calloc(2 * (size_t)world, sizeof *counts->pairs);
    return counts->pairs ? &counts->pairs[(call->kind == EMU_RECV ? world : 0) + call->peer] : NULL;
}

EMU_HOT uint64_t *emu_counts_of(struct emu_counts *counts, const struct emu_rank *rank,
                                const struct emu_call *call)
{
    if (call->kind == EMU_SEND || call->kind == EMU_RECV)
        return pair_of(counts, rank, call);
    if (call->group == EMU_GROUP_SELF)
        return &counts->self;
    if (call->group >= rank->starts.groups)
        return NULL;
    return &counts->families[emu_starts_family(&rank->starts, call->group)];
}

void emu_counts_finish(struct emu_counts *counts)
{
    free(counts->pairs);
    counts->pairs = NULL;
}
