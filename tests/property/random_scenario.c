/* Recipes of any kind: what people write, and what nobody would. */
#include "scenario.h"

#include <stddef.h>

/* A factor that somebody might have meant: a quotient of names, or any tree. */
static void random_factor(const struct scenario *scenario, struct draw *draw, bool inside,
                          struct formula *out)
{
    uint32_t names = scenario_names(scenario, inside);
    if (draw_percent(draw, 30)) {
        formula_random(out, draw, names);
        return;
    }
    formula_set_number(out, 1);
    for (uint32_t parts = 1 + draw_below(draw, 3); parts > 0; parts--) {
        enum formula_name name = (enum formula_name)draw_below(draw, NAME_COUNT);
        bool above = draw_percent(draw, 50);
        if (names >> name & 1)
            formula_apply_name(out, above ? FORMULA_MULTIPLY : FORMULA_DIVIDE, name);
    }
}

static void random_reduction(const struct scenario *scenario, struct draw *draw,
                             struct reduction *out)
{
    static const char *const linear[] = {"w", "*", "?", "w*"};
    static const char *const language[] = {"*", "*.weight", "layers.*", "embed.*"};
    *out = (struct reduction){.avg = draw_percent(draw, 40),
                              .reversed = draw_percent(draw, 50),
                              .world = draw_percent(draw, 10),
                              .params = "all"};
    if (draw_percent(draw, 40))
        out->when = (enum when)(1 + draw_below(draw, 3));
    if (draw_percent(draw, 15))
        out->params = (scenario->language ? language : linear)[draw_below(draw, 4)];
    while (out->over == 0)
        for (int axis = 0; axis < AXIS_NAMES; axis++) {
            bool known = axis != AXIS_COPY || scenario_has(scenario, AXIS_COPY);
            bool rare = axis > AXIS_CP && !(axis == AXIS_TP && scenario->language);
            uint32_t percent = axis == AXIS_DP ? 60 : rare ? 15 : 45;
            if (known && draw_percent(draw, percent))
                out->over |= 1u << axis;
        }
    out->scaled = draw_percent(draw, 25);
    if (out->scaled)
        random_factor(scenario, draw, out->when != WHEN_STEP, &out->scale);
}

void scenario_random_recipe(struct scenario *scenario, struct draw *draw)
{
    static const char *const clips[] = {"1e-3", "0.5", "1000"};
    struct recipe *recipe = &scenario->recipe;
    *recipe = (struct recipe){.given = true, .mean = draw_percent(draw, 40)};
    recipe->accumulate = (enum accumulation)(draw_percent(draw, 60) ? 0 : draw_below(draw, 3));
    recipe->loss_scaled = draw_percent(draw, 40);
    if (recipe->loss_scaled)
        random_factor(scenario, draw, true, &recipe->scale_loss);
    recipe->reduce_given = draw_percent(draw, 85);
    recipe->reductions = recipe->reduce_given ? draw_below(draw, 4) : 0;
    for (uint32_t i = 0; i < recipe->reductions; i++)
        random_reduction(scenario, draw, &recipe->reduce[i]);
    recipe->grad_scaled = draw_percent(draw, 80);
    if (recipe->grad_scaled && draw_percent(draw, 60)) {
        formula_set_number(&recipe->scale_grad, 1);
        formula_apply_name(&recipe->scale_grad, FORMULA_DIVIDE, NAME_TOKENS);
    } else if (recipe->grad_scaled) {
        random_factor(scenario, draw, false, &recipe->scale_grad);
    }
    recipe->clip = draw_percent(draw, 15) ? clips[draw_below(draw, 3)] : NULL;
}
