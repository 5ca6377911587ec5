#include "run/campaign_tokens.h"

#include "plan/positions.h"

static uint64_t inline_tokens(const struct emu_token_list *tokens, uint32_t source)
{
    uint64_t valid = 0;
    for (uint64_t i = tokens->first[source]; i < tokens->first[source + 1]; i++)
        valid += !tokens->masked[i];
    return valid;
}

/* Of a sequence, the bytes at the positions of this cp coordinate. */
static uint64_t sequence_tokens(const struct emu_plan *plan, uint32_t cp, uint64_t length)
{
    uint32_t runs[2];
    uint64_t valid = 0;
    for (uint32_t r = 0, count = emu_runs_of(plan, cp, runs); r < count; r++) {
        struct emu_slice positions = emu_run_positions(plan, runs[r]);
        uint64_t left = length > positions.start ? length - positions.start : 0;
        valid += left < positions.count ? left : positions.count;
    }
    return valid;
}

uint64_t emu_campaign_tokens(const struct emu_plan *plan, const struct emu_corpus *corpus,
                             uint64_t step, uint32_t source)
{
    if (plan->config->data.inline_tokens)
        return inline_tokens(plan->config->data.inline_tokens, source);
    struct emu_slice part = emu_plan_sequences(plan, source);
    uint32_t cp = source / plan->shape.microbatches % plan->shape.cp;
    uint64_t valid = 0;
    for (uint64_t i = 0; i < part.count; i++) {
        uint64_t n = ((step - 1) * plan->batch + part.start + i) % corpus->count;
        valid += sequence_tokens(plan, cp, corpus->sequences[n].length);
    }
    return valid;
}

bool emu_campaign_tokens_equal(const struct emu_plan *plan, const struct emu_corpus *corpus,
                               uint64_t step)
{
    uint64_t first = 0;
    for (uint32_t source = 0; source < emu_plan_sources(plan); source++) {
        uint64_t tokens = emu_campaign_tokens(plan, corpus, step, source);
        if (tokens > 0 && first > 0 && tokens != first)
            return false;
        first = first ? first : tokens;
    }
    return true;
}

/* Of a cp coordinate, on all dp ranks and in all microbatches. */
static uint64_t slice_tokens(const struct emu_plan *plan, const struct emu_corpus *corpus,
                             uint64_t step, uint32_t cp)
{
    uint64_t tokens = 0;
    for (uint32_t dp = 0; dp < plan->shape.dp; dp++)
        for (uint32_t micro = 0; micro < plan->shape.microbatches; micro++)
            tokens += emu_campaign_tokens(plan, corpus, step, emu_plan_source(plan, dp, cp, micro));
    return tokens;
}

bool emu_campaign_slices_equal(const struct emu_plan *plan, const struct emu_corpus *corpus,
                               uint64_t step)
{
    uint64_t first = slice_tokens(plan, corpus, step, 0);
    for (uint32_t cp = 1; cp < plan->shape.cp; cp++)
        if (slice_tokens(plan, corpus, step, cp) != first)
            return false;
    return true;
}

bool emu_campaign_has_empty(const struct emu_plan *plan, const struct emu_corpus *corpus,
                            uint64_t step)
{
    for (uint32_t source = 0; source < emu_plan_sources(plan); source++)
        if (emu_campaign_tokens(plan, corpus, step, source) == 0)
            return true;
    return false;
}

bool emu_campaign_micro_holds(const struct emu_plan *plan, const struct emu_corpus *corpus,
                              uint64_t step, uint32_t micro)
{
    for (uint32_t source = micro; source < emu_plan_sources(plan);
         source += plan->shape.microbatches)
        if (emu_campaign_tokens(plan, corpus, step, source) > 0)
            return true;
    return false;
}
