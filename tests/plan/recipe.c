#include "plan/recipe.h"

#include "plan_fixture.h"

#define LINEAR "model: {kind: linear, features: 1}\n"

struct resolved {
    struct plan_fixture f;
    struct emu_roster roster;
    struct emu_recipe_plan recipe;
};

static void resolve_set(struct resolved *r, const char *text, const struct emu_override *sets,
                        size_t set_count)
{
    struct emu_config_params params = {.name = "test.yaml",
                                       .directory = "",
                                       .text = text,
                                       .size = strlen(text),
                                       .sets = sets,
                                       .set_count = set_count};
    *r = (struct resolved){0};
    cr_assert_eq(emu_config_read(&params, &r->f.diagnostics, &r->f.config), EMU_OK, "%s",
                 emu_text_get(&r->f.diagnostics));
    emu_roster_init(&r->roster, &r->f.config->mesh);
    cr_assert_eq(emu_recipe_resolve(r->f.config, false, &r->roster, &r->recipe), EMU_OK);
}

static void resolve(struct resolved *r, const char *text)
{
    resolve_set(r, text, NULL, 0);
}

static void close_recipe(struct resolved *r)
{
    emu_recipe_finish(&r->recipe);
    emu_roster_finish(&r->roster);
    plan_close(&r->f);
}

static void assert_yaml(const struct resolved *r, const char *want)
{
    struct emu_text text = {0};
    emu_recipe_to_yaml(&r->recipe, &text);
    cr_assert_str_eq(emu_text_get(&text), want);
    emu_text_finish(&text);
}

Test(plan_recipe, the_derived_one_sums_over_dp_and_cp_and_divides_once)
{
    struct resolved r;
    resolve(&r, "mesh: dp=2,cp=2,tp=2\n" LINEAR);
    assert_yaml(&r, "recipe:\n"
                    "  loss: sum\n"
                    "  scale_loss: \"1\"\n"
                    "  accumulate: sum\n"
                    "  reduce:\n"
                    "    - {over: [dp,cp], op: sum, params: \"all\", when: step}\n"
                    "  scale_grad: \"1/tokens\"\n"
                    "  norm: unique\n");
    cr_assert_eq(r.roster.families[r.recipe.reductions[0].family].group_size, 4);
    close_recipe(&r);
}

Test(plan_recipe, what_a_given_recipe_leaves_out_is_a_factor_one)
{
    struct resolved r;
    resolve(&r, "mesh: dp=2\n" LINEAR "recipe: {loss: mean, reduce: []}\n");
    assert_yaml(&r, "recipe:\n"
                    "  loss: mean\n"
                    "  scale_loss: \"1\"\n"
                    "  accumulate: sum\n"
                    "  reduce: []\n"
                    "  scale_grad: \"1\"\n"
                    "  norm: unique\n");
    close_recipe(&r);
}

Test(plan_recipe, given_reductions_keep_their_order_and_factors)
{
    struct resolved r;
    resolve(&r, "mesh: dp=2,cp=4\n" LINEAR "recipe:\n"
                "  reduce:\n"
                "    - {over: [cp], op: sum, scale: 1/world, when: microbatch}\n"
                "    - {over: [tp, dp], op: avg, params: \"layers.*.bias\"}\n"
                "  clip: {max_norm: 0.5}\n");
    assert_yaml(&r, "recipe:\n"
                    "  loss: sum\n"
                    "  scale_loss: \"1\"\n"
                    "  accumulate: sum\n"
                    "  reduce:\n"
                    "    - {over: [cp], op: sum, params: \"all\", when: microbatch, scale: "
                    "\"1/world\"}\n"
                    "    - {over: [tp,dp], op: avg, params: \"layers.*.bias\", when: step}\n"
                    "  scale_grad: \"1\"\n"
                    "  clip: {max_norm: 0.5}\n"
                    "  norm: unique\n");
    cr_assert_eq(r.recipe.reductions[0].line, 5);
    cr_assert_eq(r.roster.families[r.recipe.reductions[1].family].group_size, 2);
    close_recipe(&r);
}

static void assert_place(const struct resolved *r, const char *file, const char *want)
{
    struct emu_text place = {0};
    emu_reduction_place(&r->recipe.reductions[0], file, &place);
    cr_assert_str_eq(emu_text_get(&place), want);
    emu_text_finish(&place);
}

Test(plan_recipe, a_reduction_tells_where_it_stands)
{
    struct resolved r;
    resolve(&r, "mesh: dp=2\n" LINEAR "recipe:\n  reduce:\n    - {over: [dp]}\n");
    assert_place(&r, "a.yaml", "a.yaml:5");
    assert_place(&r, "", "line 5");
    close_recipe(&r);
    static const struct emu_override set = {"recipe.reduce=[{over: [dp]}]"};
    resolve_set(&r, "mesh: dp=2\n" LINEAR, &set, 1);
    assert_place(&r, "a.yaml", "--set recipe.reduce=...");
    close_recipe(&r);
    resolve(&r, "mesh: dp=2\n" LINEAR);
    assert_place(&r, "a.yaml", "derived");
    close_recipe(&r);
}

Test(plan_recipe, axes_that_the_mesh_lacks_reduce_nothing)
{
    struct resolved r;
    resolve(&r, "mesh: tp=2\n" LINEAR "recipe: {reduce: [{over: [dp], op: sum}]}\n");
    cr_assert_eq(r.recipe.reductions[0].family, UINT32_MAX);
    close_recipe(&r);
}

Test(plan_glob, a_star_crosses_dots)
{
    cr_assert(emu_glob_match("layers.*.bias", "layers.0.down.bias"));
    cr_assert(emu_glob_match("*", ""));
    cr_assert(emu_glob_match("**w*", "w"));
    cr_assert(emu_glob_match("embed.?eight", "embed.weight"));
    cr_assert(emu_glob_match("a*b*c", "aXbXbXc"));
    cr_assert_not(emu_glob_match("layers.*.bias", "layers.0.down.bias2"));
    cr_assert_not(emu_glob_match("layers.?.bias", "layers.10.bias"));
    cr_assert_not(emu_glob_match("", "w"));
}
