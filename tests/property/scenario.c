#include "scenario.h"

static const char *const axis_names[AXIS_NAMES] = {"dp", "cp", "tp", "pp", "copy"};

uint32_t scenario_sources(const struct scenario *scenario)
{
    return scenario->size[AXIS_DP] * scenario->size[AXIS_CP] * scenario->microbatches;
}

uint32_t scenario_tokens(const struct scenario *scenario)
{
    uint32_t sum = 0;
    for (uint32_t s = 0; s < scenario_sources(scenario); s++)
        sum += scenario->source[s].valid;
    return sum;
}

bool scenario_has(const struct scenario *scenario, enum axis_name axis)
{
    for (uint32_t a = 0; a < scenario->axes; a++)
        if (scenario->axis[a] == axis)
            return true;
    return false;
}

void scenario_coords(const struct scenario *scenario, uint32_t place, uint32_t coords[AXIS_NAMES])
{
    for (int name = 0; name < AXIS_NAMES; name++)
        coords[name] = 0;
    for (uint32_t a = scenario->axes; a-- > 0;) {
        uint32_t size = scenario->size[scenario->axis[a]];
        coords[scenario->axis[a]] = place % size;
        place /= size;
    }
}

uint32_t scenario_place(const struct scenario *scenario, const uint32_t coords[AXIS_NAMES])
{
    uint32_t place = 0;
    for (uint32_t a = 0; a < scenario->axes; a++)
        place = place * scenario->size[scenario->axis[a]] + coords[scenario->axis[a]];
    return place;
}

uint32_t scenario_names(const struct scenario *scenario, bool inside_microbatch)
{
    uint32_t names = (1u << NAME_COUNT) - 1;
    if (!inside_microbatch)
        names &= ~(1u << NAME_MICRO_TOKENS);
    if (!scenario_has(scenario, AXIS_COPY))
        names &= ~(1u << NAME_COPY);
    return names;
}

static void write_mesh(const struct scenario *scenario, struct emu_text *out)
{
    emu_text_puts(out, scenario->arranged ? "mesh: {axes: \"" : "mesh: \"");
    for (uint32_t a = 0; a < scenario->axes; a++)
        emu_text_printf(out, "%s%s=%u", a ? "," : "", axis_names[scenario->axis[a]],
                        (unsigned)scenario->size[scenario->axis[a]]);
    emu_text_puts(out, "\"");
    for (uint32_t i = 0; scenario->arranged && i < scenario->world; i++)
        emu_text_printf(out, "%s%u", i ? ", " : ", ranks: [", (unsigned)scenario->rank[i]);
    emu_text_puts(out, scenario->arranged ? "]}\n" : "\n");
}

static void write_token(const struct scenario *scenario, const struct source *source, uint32_t t,
                        struct emu_text *out)
{
    if (source->masked[t]) {
        emu_text_puts(out, "null");
        return;
    }
    const char *open = scenario->features > 1 ? "[" : "";
    for (uint32_t f = 0; f < scenario->features; f++)
        emu_text_printf(out, "%s%.10g", f ? ", " : open, source->quarters[t][f] / 4.0);
    emu_text_puts(out, scenario->features > 1 ? "]" : "");
}

static void write_owner(const struct scenario *scenario, uint32_t owner, struct emu_text *out)
{
    for (uint32_t m = 0; m < scenario->microbatches; m++) {
        const struct source *source = &scenario->source[owner * scenario->microbatches + m];
        emu_text_puts(out, m ? ", [" : "[[");
        for (uint32_t t = 0; t < source->count; t++) {
            emu_text_puts(out, t ? ", " : "");
            write_token(scenario, source, t, out);
        }
        emu_text_puts(out, "]");
    }
    emu_text_puts(out, "]");
}

static void write_tokens(const struct scenario *scenario, struct emu_text *out)
{
    uint32_t cp = scenario->size[AXIS_CP];
    emu_text_printf(out, "model: {kind: linear, features: %u}\ndata: {tokens: [",
                    (unsigned)scenario->features);
    for (uint32_t owner = 0; owner < scenario->size[AXIS_DP] * cp; owner++) {
        emu_text_puts(out, owner ? ", " : "");
        emu_text_puts(out, cp > 1 && owner % cp == 0 ? "[" : "");
        write_owner(scenario, owner, out);
        emu_text_puts(out, cp > 1 && owner % cp == cp - 1 ? "]" : "");
    }
    emu_text_puts(out, "]}\n");
}

static void write_formula(const char *key, const struct formula *formula, struct emu_text *out)
{
    emu_text_printf(out, "%s: \"", key);
    formula_write(formula, out);
    emu_text_puts(out, "\"");
}

static void write_over(const struct reduction *reduction, struct emu_text *out)
{
    if (reduction->world) {
        emu_text_puts(out, "[world]");
        return;
    }
    const char *comma = "[";
    for (int i = 0; i < AXIS_NAMES; i++) {
        int axis = reduction->reversed ? AXIS_NAMES - 1 - i : i;
        if (!(reduction->over >> axis & 1))
            continue;
        emu_text_printf(out, "%s%s", comma, axis_names[axis]);
        comma = ", ";
    }
    emu_text_puts(out, "]");
}

static void write_reduction(const struct reduction *reduction, struct emu_text *out)
{
    static const char *const when[] = {"step", "microbatch", "first", "last"};
    emu_text_puts(out, "    - {over: ");
    write_over(reduction, out);
    emu_text_printf(out, ", op: %s, when: %s, params: \"%s\"", reduction->avg ? "avg" : "sum",
                    when[reduction->when], reduction->params);
    if (reduction->scaled)
        write_formula(", scale", &reduction->scale, out);
    emu_text_puts(out, "}\n");
}

static void write_recipe(const struct recipe *recipe, struct emu_text *out)
{
    static const char *const accumulate[] = {"sum", "mean", "last"};
    emu_text_printf(out, "recipe:\n  loss: %s\n  accumulate: %s\n", recipe->mean ? "mean" : "sum",
                    accumulate[recipe->accumulate]);
    if (recipe->loss_scaled) {
        write_formula("  scale_loss", &recipe->scale_loss, out);
        emu_text_puts(out, "\n");
    }
    if (recipe->reduce_given)
        emu_text_puts(out, recipe->reductions ? "  reduce:\n" : "  reduce: []\n");
    for (uint32_t i = 0; recipe->reduce_given && i < recipe->reductions; i++)
        write_reduction(&recipe->reduce[i], out);
    if (recipe->grad_scaled) {
        write_formula("  scale_grad", &recipe->scale_grad, out);
        emu_text_puts(out, "\n");
    }
    if (recipe->clip)
        emu_text_printf(out, "  clip: {max_norm: %s}\n", recipe->clip);
}

void scenario_write(const struct scenario *scenario, struct emu_text *out)
{
    write_mesh(scenario, out);
    if (scenario->language)
        emu_text_printf(out,
                        "model: {kind: mlp_lm, %s}\ndata: {text: t.txt, sequence: %u, batch: %u, "
                        "microbatches: %u}\n",
                        scenario->model, (unsigned)scenario->sequence, (unsigned)scenario->batch,
                        (unsigned)scenario->microbatches);
    else
        write_tokens(scenario, out);
    if (scenario->recipe.given)
        write_recipe(&scenario->recipe, out);
    emu_text_printf(out, "optimizer: %s\ntrain: {steps: %u, seed: 3}\narithmetic: %s\n",
                    scenario->optimizer, (unsigned)scenario->steps, scenario->arithmetic);
}
