/* The class of a fault, from the coefficients that the ranks end with, in the contract's order. */
#include "reference.h"

static bool counts(const struct scenario *scenario, uint32_t source)
{
    return scenario->source[source].valid > 0;
}

/* A source that is inside the gradient of some ranks and not of others; and do any differ? */
static bool copies_differ(const struct scenario *scenario, const struct reference *reference,
                          bool *absent)
{
    bool differ = false;
    *absent = false;
    for (uint32_t place = 1; place < scenario->world; place++)
        for (uint32_t s = 0; s < scenario_sources(scenario); s++) {
            struct fraction first = reference->coefficient[0][s];
            struct fraction own = reference->coefficient[place][s];
            if (!counts(scenario, s) || fraction_equal(first, own))
                continue;
            differ = true;
            *absent = *absent || (first.top == 0) != (own.top == 0);
        }
    return differ;
}

/* One coefficient for all sources that count? */
static bool is_uniform(const struct scenario *scenario, const struct reference *reference,
                       struct fraction *coefficient)
{
    bool found = false;
    for (uint32_t s = 0; s < scenario_sources(scenario); s++) {
        if (!counts(scenario, s))
            continue;
        if (found && !fraction_equal(*coefficient, reference->coefficient[0][s]))
            return false;
        *coefficient = reference->coefficient[0][s];
        found = true;
    }
    return true;
}

/* Every source of a microbatch that has tokens at all is left out. */
static bool loses_microbatch(const struct scenario *scenario, const struct reference *reference)
{
    for (uint32_t m = 0; m < scenario->microbatches; m++) {
        bool any = false, all = true;
        for (uint32_t s = m; s < scenario_sources(scenario); s += scenario->microbatches) {
            if (!counts(scenario, s))
                continue;
            any = true;
            all = all && reference->coefficient[0][s].top == 0;
        }
        if (any && all)
            return true;
    }
    return false;
}

enum fault reference_classify(const struct scenario *scenario, uint32_t summed_again,
                              struct reference *out)
{
    struct fraction right = fraction_of(1, scenario_tokens(scenario));
    struct fraction coefficient = right;
    bool absent;
    if (copies_differ(scenario, out, &absent))
        return absent ? FAULT_MISSING_REDUCTION : FAULT_COPIES_SCALED;
    if (!is_uniform(scenario, out, &coefficient))
        return loses_microbatch(scenario, out) ? FAULT_LOST_MICROBATCH : FAULT_TOKEN_WEIGHT;
    out->uniform = true;
    out->ratio = fraction_div(coefficient, right);
    if (fraction_equal(coefficient, right))
        return FAULT_NONE;
    if (summed_again & (1u << AXIS_DP | 1u << AXIS_CP))
        return FAULT_DOUBLE_REDUCTION;
    return summed_again ? FAULT_REDUCED_REPLICATED : FAULT_WRONG_SCALE;
}

struct fraction reference_value(const struct scenario *scenario, const struct reference *reference,
                                uint32_t place, uint32_t feature)
{
    struct fraction value = fraction_whole(0);
    for (uint32_t s = 0; s < scenario_sources(scenario); s++) {
        const struct source *source = &scenario->source[s];
        int64_t sum = 0;
        for (uint32_t t = 0; t < source->count; t++)
            sum += source->masked[t] ? 0 : source->quarters[t][feature];
        value = fraction_add(value,
                             fraction_mul(reference->coefficient[place][s], fraction_of(sum, 4)));
    }
    return value;
}

struct fraction reference_wanted(const struct scenario *scenario, uint32_t feature)
{
    int64_t sum = 0;
    for (uint32_t s = 0; s < scenario_sources(scenario); s++)
        for (uint32_t t = 0; t < scenario->source[s].count; t++)
            sum += scenario->source[s].masked[t] ? 0 : scenario->source[s].quarters[t][feature];
    return fraction_of(sum, 4 * (emu_i128)scenario_tokens(scenario));
}

const char *fault_name(enum fault fault)
{
    static const char *const names[FAULT_COUNT] = {
        [FAULT_NONE] = "none",
        [FAULT_NONFINITE] = "NONFINITE",
        [FAULT_SHARD_TILING] = "SHARD_TILING",
        [FAULT_MISSING_REDUCTION] = "MISSING_REDUCTION",
        [FAULT_COPIES_SCALED] = "copies with factors of their own",
        [FAULT_LOST_MICROBATCH] = "LOST_MICROBATCH",
        [FAULT_DOUBLE_REDUCTION] = "DOUBLE_REDUCTION",
        [FAULT_REDUCED_REPLICATED] = "REDUCED_REPLICATED",
        [FAULT_WRONG_SCALE] = "WRONG_SCALE",
        [FAULT_TOKEN_WEIGHT] = "TOKEN_WEIGHT"};
    return names[fault];
}
