/* One change of a recipe: what a slip, a merge or a new version of a library does to it. */
#include "scenario.h"

#include <stddef.h>
#include <string.h>

/* The recipe that runs where nothing, or no reduction, is written; so that it can be changed. */
static void spell_out(struct scenario *scenario)
{
    struct recipe *recipe = &scenario->recipe;
    if (!recipe->given) {
        *recipe = (struct recipe){.given = true, .grad_scaled = true};
        formula_set_number(&recipe->scale_grad, 1);
        formula_apply_name(&recipe->scale_grad, FORMULA_DIVIDE, NAME_TOKENS);
    }
    if (!recipe->reduce_given) {
        recipe->reduce_given = true;
        recipe->reductions = 1;
        recipe->reduce[0] =
            (struct reduction){.over = 1u << AXIS_DP | 1u << AXIS_CP, .params = "all"};
    }
}

static struct reduction *pick(struct scenario *scenario, struct draw *draw)
{
    struct recipe *recipe = &scenario->recipe;
    return recipe->reductions ? &recipe->reduce[draw_below(draw, recipe->reductions)] : NULL;
}

static bool change_op(struct scenario *scenario, struct draw *draw)
{
    struct reduction *reduction = pick(scenario, draw);
    if (reduction)
        reduction->avg = !reduction->avg;
    return reduction != NULL;
}

/* micro_tokens means nothing after the last microbatch. */
static bool names_microbatch(const struct formula *formula)
{
    for (int i = 0; i < formula->count; i++)
        if (formula->node[i].op == FORMULA_NAME && formula->node[i].number == NAME_MICRO_TOKENS)
            return true;
    return false;
}

static bool change_when(struct scenario *scenario, struct draw *draw)
{
    struct reduction *reduction = pick(scenario, draw);
    if (!reduction || (reduction->scaled && names_microbatch(&reduction->scale)))
        return false;
    reduction->when = (enum when)((reduction->when + 1 + draw_below(draw, 3)) % 4);
    return true;
}

static bool change_axis(struct scenario *scenario, struct draw *draw)
{
    struct reduction *reduction = pick(scenario, draw);
    if (!reduction || scenario->axes == 0)
        return false;
    uint32_t bit = 1u << scenario->axis[draw_below(draw, scenario->axes)];
    uint32_t changed = reduction->over ^ bit;
    if (draw_percent(draw, 40)) /* another one in its place */
        changed = bit;
    if (changed == 0 || (!reduction->world && changed == reduction->over))
        return false;
    reduction->world = false;
    reduction->over = changed;
    return true;
}

static bool change_params(struct scenario *scenario, struct draw *draw)
{
    struct reduction *reduction = pick(scenario, draw);
    if (!reduction || !scenario->language) /* the linear model has one parameter */
        return false;
    bool part = !strcmp(reduction->params, "embed.*");
    reduction->params = part ? "all" : "embed.*";
    return true;
}

static bool drop_reduction(struct scenario *scenario, struct draw *draw)
{
    struct recipe *recipe = &scenario->recipe;
    struct reduction *gone = pick(scenario, draw);
    if (!gone)
        return false;
    for (struct reduction *r = gone; r + 1 < recipe->reduce + recipe->reductions; r++)
        *r = r[1];
    recipe->reductions--;
    return true;
}

static bool repeat_reduction(struct scenario *scenario, struct draw *draw)
{
    struct recipe *recipe = &scenario->recipe;
    const struct reduction *again = pick(scenario, draw);
    if (!again || recipe->reductions == REDUCTIONS_MOST)
        return false;
    recipe->reduce[recipe->reductions] = *again;
    recipe->reductions++;
    return true;
}

static bool swap_reductions(struct scenario *scenario, struct draw *draw)
{
    struct reduction *a = pick(scenario, draw), *b = pick(scenario, draw);
    if (a == b)
        return false;
    struct reduction kept = *a;
    *a = *b;
    *b = kept;
    return true;
}

static bool change_accumulation(struct scenario *scenario, struct draw *draw)
{
    struct recipe *recipe = &scenario->recipe;
    recipe->accumulate = (enum accumulation)((recipe->accumulate + 1 + draw_below(draw, 2)) % 3);
    return true;
}

static bool change_loss(struct scenario *scenario, struct draw *draw)
{
    (void)draw;
    scenario->recipe.mean = !scenario->recipe.mean;
    return true;
}

/* A factor more, a factor less, another name, or nothing left of it. */
static void change_factor(const struct scenario *scenario, struct draw *draw, bool inside,
                          bool *there, struct formula *formula)
{
    uint32_t names = scenario_names(scenario, inside);
    enum formula_name name = (enum formula_name)draw_below(draw, NAME_COUNT);
    bool above = draw_percent(draw, 50);
    if (*there && draw_percent(draw, 30)) {
        *there = false;
        return;
    }
    if (!*there)
        formula_set_number(formula, 1);
    *there = true;
    struct formula_node *node = &formula->node[draw_below(draw, (uint32_t)formula->count)];
    if (node->op == FORMULA_NAME && (names >> name & 1))
        node->number = (int)name;
    else if (node->op == FORMULA_NUMBER && draw_percent(draw, 30))
        node->number += 1;
    else if (names >> name & 1)
        formula_apply_name(formula, above ? FORMULA_MULTIPLY : FORMULA_DIVIDE, name);
    else
        formula_apply_number(formula, FORMULA_MULTIPLY, 2);
}

static bool change_scale_grad(struct scenario *scenario, struct draw *draw)
{
    struct recipe *recipe = &scenario->recipe;
    change_factor(scenario, draw, false, &recipe->grad_scaled, &recipe->scale_grad);
    return true;
}

static bool change_scale_loss(struct scenario *scenario, struct draw *draw)
{
    struct recipe *recipe = &scenario->recipe;
    change_factor(scenario, draw, true, &recipe->loss_scaled, &recipe->scale_loss);
    return true;
}

static bool change_scale(struct scenario *scenario, struct draw *draw)
{
    struct reduction *reduction = pick(scenario, draw);
    if (!reduction)
        return false;
    change_factor(scenario, draw, reduction->when != WHEN_STEP, &reduction->scaled,
                  &reduction->scale);
    return true;
}

static const struct {
    const char *name;
    bool (*change)(struct scenario *scenario, struct draw *draw);
} mutations[] = {
    {"op", change_op},
    {"when", change_when},
    {"axis", change_axis},
    {"params", change_params},
    {"drop reduction", drop_reduction},
    {"repeat reduction", repeat_reduction},
    {"swap reductions", swap_reductions},
    {"accumulate", change_accumulation},
    {"loss", change_loss},
    {"scale_grad", change_scale_grad},
    {"scale_loss", change_scale_loss},
    {"scale", change_scale},
};

const char *scenario_mutate(struct scenario *scenario, struct draw *draw)
{
    size_t which = draw_below(draw, sizeof mutations / sizeof mutations[0]);
    spell_out(scenario);
    return mutations[which].change(scenario, draw) ? mutations[which].name : NULL;
}
