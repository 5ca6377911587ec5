/* Who owns which tokens? */
#include "plan/plan.h"
#include "plan/positions.h"

uint32_t emu_plan_sources(const struct emu_plan *plan)
{
    return plan->shape.dp * plan->shape.cp * plan->shape.microbatches;
}

uint32_t emu_plan_source(const struct emu_plan *plan, uint32_t dp, uint32_t cp, uint32_t micro)
{
    return (dp * plan->shape.cp + cp) * plan->shape.microbatches + micro;
}

void emu_source_name(const struct emu_plan *plan, uint32_t source, struct emu_text *out)
{
    const struct emu_source_shape *shape = &plan->shape;
    const struct {
        const char *name;
        uint32_t size, index;
    } parts[] = {{"dp", shape->dp, source / shape->microbatches / shape->cp},
                 {"cp", shape->cp, source / shape->microbatches % shape->cp},
                 {"mb", shape->microbatches, source % shape->microbatches}};
    size_t put = 0;
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        if (parts[i].size == 1)
            continue;
        emu_text_printf(out, "%s%s=%u", put ? "," : "", parts[i].name, (unsigned)parts[i].index);
        put++;
    }
    if (!put)
        emu_text_puts(out, "dp=0");
}

void emu_lane_name(const struct emu_plan *plan, uint32_t lane, struct emu_text *out)
{
    uint32_t sources = emu_plan_sources(plan);
    emu_source_name(plan, lane % sources, out);
    if (lane >= sources)
        emu_text_printf(out, "@use%u", (unsigned)(lane / sources));
}

struct emu_slice emu_plan_sequences(const struct emu_plan *plan, uint32_t source)
{
    const struct emu_source_shape *shape = &plan->shape;
    uint32_t dp = source / shape->microbatches / shape->cp;
    struct emu_slice shard = emu_slice_chunk(plan->batch, shape->dp, dp);
    struct emu_slice part =
        emu_slice_chunk(shard.count, shape->microbatches, source % shape->microbatches);
    part.start += shard.start;
    return part;
}

/* Tokens of an inline source, masked ones included. */
static uint64_t inline_rows(const struct emu_token_list *tokens, uint32_t source)
{
    return tokens->first[source + 1] - tokens->first[source];
}

/* Of any cp coordinate: in a balanced split the first one may own a short last run. */
static uint64_t positions_most(const struct emu_plan *plan)
{
    uint64_t most = 0;
    for (uint32_t cp = 0; cp < plan->shape.cp; cp++)
        if (emu_positions_owned(plan, cp) > most)
            most = emu_positions_owned(plan, cp);
    return most;
}

uint64_t emu_plan_rows_most(const struct emu_plan *plan)
{
    const struct emu_data_config *data = &plan->config->data;
    if (!data->inline_tokens)
        return emu_plan_sequences(plan, 0).count * positions_most(plan);
    uint64_t most = 0;
    for (uint32_t source = 0; source < emu_plan_sources(plan); source++)
        if (inline_rows(data->inline_tokens, source) > most)
            most = inline_rows(data->inline_tokens, source);
    return most;
}
