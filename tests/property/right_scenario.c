/* Recipes that are right by construction, in the many ways in which one can be.
 *
 * Start from the weights that the loss gives; every later step that multiplies all sources alike
 * (an average, a sum of complete copies, a mean over microbatches) is noted as a name to multiply
 * or to divide by; in the end the names are put anywhere: before backward, after a reduction, last.
 */
#include "scenario.h"

#include <stdlib.h>

#define DEBTS_MOST 64
#define PLACES_MOST (REDUCTIONS_MOST + 2)

/* Names that are still to be multiplied (above) or divided by. */
struct debts {
    uint32_t count;
    struct debt {
        enum formula_name name;
        bool above;
    } item[DEBTS_MOST];
};

static void owe(struct debts *debts, enum formula_name name, bool above)
{
    if (debts->count == DEBTS_MOST)
        abort();
    debts->item[debts->count++] = (struct debt){name, above};
}

/* Valid tokens of the sources are all the same, and not 0. */
static bool all_equal(const struct scenario *scenario)
{
    for (uint32_t s = 0; s < scenario_sources(scenario); s++)
        if (scenario->source[s].valid == 0 ||
            scenario->source[s].valid != scenario->source[0].valid)
            return false;
    return true;
}

static bool none_empty(const struct scenario *scenario)
{
    for (uint32_t s = 0; s < scenario_sources(scenario); s++)
        if (scenario->source[s].valid == 0)
            return false;
    return true;
}

/* What the loss divides by, and what is missing to 1/tokens then. */
static void choose_loss(struct scenario *scenario, struct draw *draw, struct debts *debts)
{
    struct recipe *recipe = &scenario->recipe;
    formula_set_number(&recipe->scale_loss, 1);
    if (all_equal(scenario) && draw_percent(draw, 60)) {
        recipe->mean = true; /* 1/(tokens of a source) = dp*cp*microbatches/tokens */
        owe(debts, NAME_DP, false);
        owe(debts, NAME_CP, false);
        owe(debts, NAME_MICROBATCHES, false);
        return;
    }
    owe(debts, NAME_TOKENS, false);
    recipe->mean = none_empty(scenario) && draw_percent(draw, 50);
    if (recipe->mean)
        formula_apply_name(&recipe->scale_loss, FORMULA_MULTIPLY, NAME_MICRO_TOKENS);
}

static void choose_accumulation(struct scenario *scenario, struct draw *draw, struct debts *debts)
{
    struct recipe *recipe = &scenario->recipe;
    if (draw_percent(draw, 30))
        recipe->accumulate = ACCUMULATE_MEAN;
    if (scenario->microbatches == 1 && draw_percent(draw, 20))
        recipe->accumulate = ACCUMULATE_LAST;
    if (recipe->accumulate == ACCUMULATE_MEAN)
        owe(debts, NAME_MICROBATCHES, true);
}

static enum when any_time(const struct scenario *scenario, struct draw *draw)
{
    if (draw_percent(draw, 55))
        return WHEN_STEP;
    return scenario->microbatches == 1 ? (enum when)(1 + draw_below(draw, 3)) : WHEN_MICROBATCH;
}

/* Axes over which copies are whole: all but dp and cp, and in a language model tp, which splits
 * parameters. */
static uint32_t copied_axes(const struct scenario *scenario)
{
    uint32_t axes = 1u << AXIS_PP;
    if (scenario_has(scenario, AXIS_COPY))
        axes |= 1u << AXIS_COPY;
    if (!scenario->language || scenario->size[AXIS_TP] == 1)
        axes |= 1u << AXIS_TP;
    return axes;
}

static bool may_say_world(const struct scenario *scenario)
{
    return !scenario->language || scenario->size[AXIS_TP] == 1;
}

static const char *all_params(const struct scenario *scenario, struct draw *draw)
{
    if (draw_percent(draw, 70))
        return "all";
    return scenario->language || draw_percent(draw, 50) ? "*" : "w";
}

static struct reduction *add_reduction(struct scenario *scenario, struct draw *draw, uint32_t over)
{
    struct recipe *recipe = &scenario->recipe;
    struct reduction *made = &recipe->reduce[recipe->reductions++];
    *made = (struct reduction){.over = over,
                               .avg = draw_percent(draw, 40),
                               .reversed = draw_percent(draw, 50),
                               .when = any_time(scenario, draw),
                               .params = all_params(scenario, draw)};
    return made;
}

/* One that averages what is whole: any time is right for it. */
static void add_idle(struct scenario *scenario, struct draw *draw)
{
    struct reduction *made = add_reduction(scenario, draw, copied_axes(scenario));
    made->when = (enum when)draw_below(draw, 4);
    made->avg = true;
}

/* dp and cp at least once each, in one reduction or in several; then perhaps some again. */
static void choose_reductions(struct scenario *scenario, struct draw *draw)
{
    uint32_t both = 1u << AXIS_DP | 1u << AXIS_CP, copies = copied_axes(scenario);
    scenario->recipe.reduce_given = true;
    if (draw_percent(draw, 10))
        add_idle(scenario, draw);
    if (draw_percent(draw, 40)) {
        uint32_t first = draw_percent(draw, 50) ? 1u << AXIS_DP : 1u << AXIS_CP;
        add_reduction(scenario, draw, first);
        add_reduction(scenario, draw, both & ~first);
    } else {
        struct reduction *made = add_reduction(scenario, draw, both);
        made->world = may_say_world(scenario) && draw_percent(draw, 10);
    }
    if (draw_percent(draw, 25))
        add_reduction(scenario, draw, copies);
    if (draw_percent(draw, 15))
        add_reduction(scenario, draw, draw_percent(draw, 50) ? both : 1u << AXIS_DP);
    for (uint32_t i = 0; i < scenario->recipe.reductions; i++)
        if (draw_percent(draw, 15))
            scenario->recipe.reduce[i].over |= copies;
}

/* One axis of one reduction: sums of parts are wanted, of copies not; an average divides. */
static void settle_axis(const struct reduction *reduction, int axis, uint32_t *done,
                        struct debts *debts)
{
    bool whole = (*done >> axis & 1) || (axis != AXIS_DP && axis != AXIS_CP);
    if (whole && !reduction->avg)
        owe(debts, (enum formula_name)axis, false);
    if (!whole && reduction->avg)
        owe(debts, (enum formula_name)axis, true);
    *done |= 1u << axis;
}

/* In the order in which they are carried out: those of the microbatches first. */
static void settle_reductions(const struct scenario *scenario, struct debts *debts)
{
    uint32_t done = 0;
    for (int phase = 0; phase < 2; phase++)
        for (uint32_t i = 0; i < scenario->recipe.reductions; i++) {
            const struct reduction *reduction = &scenario->recipe.reduce[i];
            if ((reduction->when == WHEN_STEP) != (phase == 1))
                continue;
            for (int axis = 0; axis < AXIS_NAMES; axis++)
                if ((reduction->world || (reduction->over >> axis & 1)) && scenario->size[axis] > 1)
                    settle_axis(reduction, axis, &done, debts);
        }
}

/* The same number, written in another way. */
static void decorate(const struct scenario *scenario, struct draw *draw, struct formula *formula)
{
    uint32_t names = scenario_names(scenario, false);
    enum formula_name name = (enum formula_name)draw_below(draw, NAME_LOCAL_TOKENS);
    switch (draw_below(draw, 6)) {
    case 0:
        if (names >> name & 1 && formula_apply_name(formula, FORMULA_MULTIPLY, name))
            formula_apply_name(formula, FORMULA_DIVIDE, name);
        break;
    case 1:
        if (formula_negate(formula))
            formula_negate(formula);
        break;
    case 2:
        if (formula_double(formula, FORMULA_ADD))
            formula_apply_number(formula, FORMULA_DIVIDE, 2);
        break;
    case 3:
        formula_double(formula, FORMULA_MAX);
        break;
    case 4:
        if (formula_apply_number(formula, FORMULA_ADD, 3))
            formula_apply_number(formula, FORMULA_SUBTRACT, 3);
        break;
    default:
        break;
    }
}

/* Factors that a debt may be paid in: reductions that concern every source once. */
static uint32_t list_places(struct scenario *scenario, struct formula *places[PLACES_MOST])
{
    struct recipe *recipe = &scenario->recipe;
    uint32_t count = 0;
    places[count++] = &recipe->scale_loss;
    places[count++] = &recipe->scale_grad;
    for (uint32_t i = 0; i < recipe->reductions; i++) {
        struct reduction *reduction = &recipe->reduce[i];
        bool partial = reduction->when > WHEN_MICROBATCH && scenario->microbatches > 1;
        if (partial)
            continue;
        formula_set_number(&reduction->scale, 1);
        places[count++] = &reduction->scale;
    }
    return count;
}

/* A place that is full passes the name on to the next. */
static void put(const struct debt *debt, struct formula *const *places, uint32_t count,
                uint32_t first)
{
    enum formula_op op = debt->above ? FORMULA_MULTIPLY : FORMULA_DIVIDE;
    for (uint32_t i = 0; i < count; i++)
        if (formula_apply_name(places[(first + i) % count], op, debt->name))
            return;
    abort();
}

static void pay(struct scenario *scenario, struct draw *draw, struct debts *debts)
{
    struct recipe *recipe = &scenario->recipe;
    struct formula *places[PLACES_MOST];
    formula_set_number(&recipe->scale_grad, 1);
    uint32_t count = list_places(scenario, places);
    bool scattered = draw_percent(draw, 50);
    for (uint32_t i = 0; i < debts->count; i++)
        put(&debts->item[i], places, count, scattered ? draw_below(draw, count) : 1);
    for (uint32_t i = 0; i < count; i++)
        if (draw_percent(draw, 20))
            decorate(scenario, draw, places[i]);
    recipe->grad_scaled = recipe->scale_grad.count > 1 || draw_percent(draw, 20);
    recipe->loss_scaled = recipe->scale_loss.count > 1 || draw_percent(draw, 20);
    for (uint32_t i = 0; i < recipe->reductions; i++)
        recipe->reduce[i].scaled = recipe->reduce[i].scale.count > 1;
}

void scenario_right_recipe(struct scenario *scenario, struct draw *draw)
{
    struct recipe *recipe = &scenario->recipe;
    struct debts debts = {0};
    *recipe = (struct recipe){.given = draw_percent(draw, 93)};
    if (!recipe->given)
        return;
    choose_loss(scenario, draw, &debts);
    choose_accumulation(scenario, draw, &debts);
    if (draw_percent(draw, 88))
        choose_reductions(scenario, draw);
    settle_reductions(scenario, &debts);
    if (draw_percent(draw, 20)) { /* a pair that cancels, wherever its halves end up */
        owe(&debts, NAME_WORLD, true);
        owe(&debts, NAME_WORLD, false);
    }
    pay(scenario, draw, &debts);
    recipe->clip = draw_percent(draw, 10) ? "0.5" : NULL;
}
