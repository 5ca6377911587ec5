/* Words for the factors of a recipe: what they are, how large, and where they differ. */
#include "check/ledger_words.h"
#include "check/source_words.h"

#include <stdlib.h>
#include <string.h>

#define VALUES_SHOWN 4

static const struct emu_plan *plan_of(const struct emu_ledger_case *c)
{
    return c->evidence->plan;
}

/* Least and most of a factor over all places where it acts. false: it acts nowhere, or has no
 * value somewhere. */
static bool range_of(const struct emu_ledger_case *c, const struct emu_recipe_factor *factor,
                     struct emu_rational *least, struct emu_rational *most)
{
    const struct emu_plan *plan = plan_of(c);
    bool any = false;
    for (uint32_t s = 0; s < emu_plan_sources(plan); s++) {
        struct emu_rational value;
        if (c->ledger->tokens[s] == 0 ||
            !emu_recipe_factor_value(c->evidence, factor, emu_source_owner(c->evidence, s),
                                     s % plan->shape.microbatches, &value))
            continue;
        if (!any || emu_rational_compare(value, *least) < 0)
            *least = value;
        if (!any || emu_rational_compare(value, *most) > 0)
            *most = value;
        any = true;
    }
    return any;
}

static void put_value(const struct emu_ledger_case *c, const struct emu_recipe_factor *factor,
                      struct emu_text *out)
{
    struct emu_rational least = {0, 1}, most = {0, 1};
    char text[EMU_RATIONAL_TEXT_MAX];
    if (!range_of(c, factor, &least, &most) ||
        (factor->text && strcmp(factor->text, emu_rational_text(least, text)) == 0))
        return; /* a plain number needs no value */
    emu_text_printf(out, " = %s", emu_rational_text(least, text));
    if (!emu_rational_equal(least, most))
        emu_text_printf(out, " to %s", emu_rational_text(most, text));
}

/* "; left over: 1/cp", where the names cancel to what the ratio is. */
static void put_left(const struct emu_ledger_case *c, const struct emu_recipe_factors *list,
                     struct emu_text *why)
{
    struct emu_size_product left = emu_recipe_factors_left(list);
    uint32_t source = c->judgement.lost_source;
    struct emu_rational value;
    while (c->ledger->tokens[source] == 0 && source + 1 < emu_plan_sources(plan_of(c)))
        source++;
    struct emu_factor_values values =
        emu_factor_values_at(c->evidence, emu_source_owner(c->evidence, source),
                             source % plan_of(c)->shape.microbatches);
    if (emu_size_product_evaluate(&left, &values, &value) != EMU_OK ||
        !emu_rational_equal(value, c->judgement.ratio))
        return;
    emu_text_puts(why, "; left over: ");
    emu_size_product_text(&left, plan_of(c)->roster.mesh, why);
}

void emu_ledger_tell_factors(const struct emu_ledger_case *c, const struct emu_recipe_factors *list,
                             struct emu_text *why)
{
    emu_text_printf(why, "\nfactors in %s: ", plan_of(c)->config->name);
    if (list->count == 0)
        emu_text_puts(why, "none");
    for (size_t i = 0; i < list->count; i++) {
        emu_text_puts(why, i > 0 ? "; " : "");
        emu_recipe_factor_words("", &list->at[i], why);
        put_value(c, &list->at[i], why);
    }
    put_left(c, list, why);
}

/* Where a factor has which value: one entry a source, or a rank. */
struct spread {
    struct emu_rational *value;
    bool *known, *same;
    uint32_t size;
};

static bool spread_init(struct spread *spread, uint32_t size)
{
    *spread =
        (struct spread){calloc(size, sizeof *spread->value), calloc(size, sizeof *spread->known),
                        calloc(size, sizeof *spread->same), size};
    return spread->value && spread->known && spread->same;
}

static void spread_finish(struct spread *spread)
{
    free(spread->value);
    free(spread->known);
    free(spread->same);
}

static void measure(const struct emu_ledger_case *c, const struct emu_recipe_factor *factor,
                    struct spread *spread)
{
    uint32_t micros = plan_of(c)->shape.microbatches;
    bool early = emu_recipe_factor_is_early(factor);
    bool last = factor->reduction && factor->reduction->when == EMU_WHEN_LAST;
    for (uint32_t i = 0; i < spread->size; i++) {
        uint32_t rank = early ? emu_source_owner(c->evidence, i) : i;
        bool counts =
            early ? c->ledger->tokens[i] > 0 : emu_ledger_row(c->evidence, rank, c->tensor) != NULL;
        spread->known[i] = counts && emu_recipe_factor_value(c->evidence, factor, rank,
                                                             early  ? i % micros
                                                             : last ? micros - 1
                                                                    : 0,
                                                             &spread->value[i]);
    }
}

static bool differs(const struct spread *spread)
{
    const struct emu_rational *first = NULL;
    for (uint32_t i = 0; i < spread->size; i++) {
        if (!spread->known[i])
            continue;
        if (first && !emu_rational_equal(*first, spread->value[i]))
            return true;
        first = &spread->value[i];
    }
    return false;
}

/* Mark entry i and all of its value, and forget them. */
static void take_same(struct spread *spread, uint32_t i)
{
    struct emu_rational value = spread->value[i];
    for (uint32_t k = 0; k < spread->size; k++) {
        spread->same[k] = spread->known[k] && emu_rational_equal(spread->value[k], value);
        spread->known[k] = spread->known[k] && !spread->same[k];
    }
}

/* "1/6 for dp=0, 1/2 for dp=1", "1/12 on rank 0, 1/24 on rank 1". */
static void put_spread(const struct emu_ledger_case *c, struct spread *spread, bool early,
                       struct emu_text *why)
{
    size_t put = 0;
    for (uint32_t i = 0; i < spread->size; i++) {
        char text[EMU_RATIONAL_TEXT_MAX];
        if (!spread->known[i])
            continue;
        if (put == VALUES_SHOWN) {
            emu_text_puts(why, ", ...");
            return;
        }
        emu_text_printf(why, "%s%s %s ", put++ > 0 ? ", " : "",
                        emu_rational_text(spread->value[i], text), early ? "for" : "on");
        take_same(spread, i);
        struct emu_marks ranks = {spread->same, spread->size};
        if (early)
            emu_sources_words(why, plan_of(c), spread->same, c->ledger->tokens);
        else
            emu_marks_words(why, &ranks);
    }
}

size_t emu_ledger_tell_differing(const struct emu_ledger_case *c,
                                 const struct emu_recipe_factors *list, struct emu_text *why)
{
    size_t told = 0;
    for (size_t f = 0; f < list->count; f++) {
        bool early = emu_recipe_factor_is_early(&list->at[f]);
        struct spread spread;
        uint32_t size = early ? emu_plan_sources(plan_of(c)) : plan_of(c)->roster.mesh->world;
        if (spread_init(&spread, size)) {
            measure(c, &list->at[f], &spread);
            if (differs(&spread)) {
                emu_text_puts(why, "\ndiffers: ");
                emu_recipe_factor_words(plan_of(c)->config->name, &list->at[f], why);
                emu_text_puts(why, " is ");
                put_spread(c, &spread, early, why);
                told++;
            }
        }
        spread_finish(&spread);
    }
    return told;
}
