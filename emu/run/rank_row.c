#include "run/rank_row.h"

#include "mesh/beside.h"
#include "os/map.h"

uint64_t emu_rank_row_room(const struct emu_plan *plan)
{
    uint64_t places = emu_beside_room(plan->roster.mesh);
    return emu_step_record_bytes(plan->tensor_count) + sizeof(struct emu_rank_row) +
           2 * places * sizeof(uint64_t);
}

struct emu_rank_row *emu_rank_row_of(const struct emu_plan *plan, struct emu_step_record *record)
{
    unsigned char *bytes = (unsigned char *)record;
    return (struct emu_rank_row *)(void *)(bytes + emu_step_record_bytes(plan->tensor_count));
}

const struct emu_rank_row *emu_rank_row_read(const struct emu_plan *plan,
                                             const struct emu_step_record *record)
{
    const unsigned char *bytes = (const unsigned char *)record;
    return (const struct emu_rank_row *)(const void *)(bytes +
                                                       emu_step_record_bytes(plan->tensor_count));
}

void emu_rank_row_write(const struct emu_plan *plan, const struct emu_rank *rank, uint64_t step,
                        struct emu_step_record *record)
{
    struct emu_rank_row *row = emu_rank_row_of(plan, record);
    const struct emu_segment *segment = emu_rank_segment(rank);
    const uint64_t *sent = emu_rank_sent_to(rank);
    uint32_t places = emu_beside_room(plan->roster.mesh);
    uint64_t *total = row->sent_to + places;
    for (uint32_t to = 0; sent && to < places; to++) {
        row->sent_to[to] = sent[to] - total[to];
        total[to] = sent[to];
    }
    row->lent_calls = emu_rank_lent_calls(rank);
    if (step > 1 && step != plan->config->train.steps)
        return;
    struct emu_map map = {.base = segment->base, .bytes = segment->bytes};
    if (!emu_map_pss(&map, &row->pss))
        row->pss = UINT64_MAX;
}
