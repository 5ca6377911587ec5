#include "judge_values.h"

#include <float.h>
#include <math.h>

bool judge_has_values(enum fault fault)
{
    return fault != FAULT_NONFINITE && fault != FAULT_SHARD_TILING;
}

bool judge_same_values(const struct scenario *scenario, const struct reference *reference)
{
    for (uint32_t place = 0; place < scenario->world; place++)
        for (uint32_t f = 0; f < scenario->features; f++)
            if (!fraction_equal(reference_value(scenario, reference, place, f),
                                reference_wanted(scenario, f)))
                return false;
    return true;
}

/* The copy that a rank holds; NULL where none, or more than one, lists it. */
static const struct emu_gradient_copy *copy_of(const struct emu_gradient_view *view, uint32_t rank)
{
    const struct emu_gradient_copy *found = NULL;
    for (size_t i = 0; i < view->copy_count; i++)
        for (size_t k = 0; k < view->copies[i].rank_count; k++) {
            if (view->copies[i].ranks[k] != rank)
                continue;
            if (found)
                return NULL;
            found = &view->copies[i];
        }
    return found;
}

static void judge_coefficients(const struct judged_tensor *tensor, uint32_t place,
                               const struct emu_gradient_copy *copy, struct emu_text *why)
{
    for (uint32_t s = 0; s < scenario_sources(tensor->scenario); s++) {
        struct fraction wanted = tensor->reference->coefficient[place][s];
        if (copy->coefficients && copy->coefficients[s] == fraction_to_field(wanted))
            continue;
        emu_text_printf(why, "rank %u: the coefficient of source %u is not %lld/%lld\n",
                        (unsigned)tensor->scenario->rank[place], (unsigned)s, (long long)wanted.top,
                        (long long)wanted.bottom);
        return;
    }
}

/* All roundings that an element can have met: every term added, and three for each factor. */
static double roundings(const struct scenario *scenario)
{
    return 16.0 + SOURCE_TOKENS_MOST + scenario->microbatches +
           (double)scenario->recipe.reductions * (scenario->world + 4.0);
}

static double allowed(const struct judged_tensor *tensor, uint32_t place, uint32_t feature)
{
    const struct scenario *scenario = tensor->scenario;
    double mass = 0;
    for (uint32_t s = 0; s < scenario_sources(scenario); s++)
        for (uint32_t t = 0; t < scenario->source[s].count; t++)
            if (!scenario->source[s].masked[t])
                mass += tensor->reference->weight[place][s] *
                        fabs(scenario->source[s].quarters[t][feature] / 4.0);
    return roundings(scenario) * DBL_EPSILON * mass;
}

static void judge_value(const struct judged_tensor *tensor, uint32_t place,
                        const struct emu_gradient_copy *copy, struct emu_text *why)
{
    for (uint32_t f = 0; f < tensor->scenario->features; f++) {
        struct fraction value = reference_value(tensor->scenario, tensor->reference, place, f);
        if (fraction_is_lost(value))
            continue;
        double wanted = (double)value.top / (double)value.bottom;
        double room = tensor->exact ? 0 : allowed(tensor, place, f);
        if (fabs(copy->value[f] - wanted) <= room)
            continue;
        emu_text_printf(why, "rank %u: element %u of the gradient is %.17g, not %.17g (+- %.3g)\n",
                        (unsigned)tensor->scenario->rank[place], (unsigned)f, copy->value[f],
                        wanted, room);
        return;
    }
}

void judge_tensor(const struct judged_tensor *tensor, struct emu_text *why)
{
    for (uint32_t place = 0; place < tensor->scenario->world; place++) {
        uint32_t rank = tensor->scenario->rank[place];
        const struct emu_gradient_copy *copy = copy_of(tensor->view, rank);
        if (!copy) {
            emu_text_printf(why, "rank %u is not listed once with its gradient\n", (unsigned)rank);
            return;
        }
        judge_coefficients(tensor, place, copy, why);
        if (!tensor->scenario->language)
            judge_value(tensor, place, copy, why);
    }
}
