#include "reference.h"

#include <string.h>

struct gradient {
    struct fraction coefficient[SOURCES_MOST];
    double weight[SOURCES_MOST];
    bool present[SOURCES_MOST]; /* the source came in, be it multiplied by 0 since */
};

/* The gradients of one parameter at every place. */
struct state {
    struct gradient at[RANKS_MOST];
};

struct step {
    const struct scenario *scenario;
    const char *parameter;
    struct state held, fresh;
    uint32_t summed_again; /* axes over which a sum met several copies of a source */
    uint32_t path_again;   /* likewise, empty copies counted */
    bool zero, lost, dyadic;
};

static uint32_t source_at(const struct scenario *scenario, uint32_t place, uint32_t micro)
{
    uint32_t coords[AXIS_NAMES];
    scenario_coords(scenario, place, coords);
    return (coords[AXIS_DP] * scenario->size[AXIS_CP] + coords[AXIS_CP]) * scenario->microbatches +
           micro;
}

static void note_factor(struct step *step, struct fraction factor)
{
    step->dyadic = step->dyadic && fraction_is_dyadic(factor);
}

/* 1 where the recipe gives none, or where it has no value (which is noted). */
static struct fraction factor_at(struct step *step, bool given, const struct formula *formula,
                                 uint32_t place, uint32_t micro)
{
    const struct scenario *scenario = step->scenario;
    struct formula_values values = {{0}};
    struct fraction factor;
    if (!given)
        return fraction_whole(1);
    for (int axis = 0; axis < AXIS_NAMES; axis++)
        values.of[axis] = scenario->size[axis];
    values.of[NAME_WORLD] = scenario->world;
    values.of[NAME_TOKENS] = scenario_tokens(scenario);
    values.of[NAME_MICROBATCHES] = scenario->microbatches;
    values.of[NAME_SEQUENCES] = scenario->language ? scenario->batch : scenario_sources(scenario);
    for (uint32_t m = 0; m < scenario->microbatches; m++)
        values.of[NAME_LOCAL_TOKENS] += scenario->source[source_at(scenario, place, m)].valid;
    values.of[NAME_MICRO_TOKENS] = scenario->source[source_at(scenario, place, micro)].valid;
    enum formula_outcome outcome = formula_value(formula, &values, &factor);
    step->zero = step->zero || outcome == FORMULA_DIVIDES_BY_ZERO;
    step->lost = step->lost || outcome == FORMULA_TOO_LARGE;
    return outcome == FORMULA_FINE ? factor : fraction_whole(1);
}

static double size_of(struct fraction a)
{
    double size = (double)a.top / (double)a.bottom;
    return size < 0 ? -size : size;
}

static void scale(const struct scenario *scenario, struct gradient *gradient,
                  struct fraction factor)
{
    for (uint32_t s = 0; s < scenario_sources(scenario); s++) {
        gradient->coefficient[s] = fraction_mul(gradient->coefficient[s], factor);
        gradient->weight[s] *= size_of(factor);
    }
}

static void add(const struct scenario *scenario, struct gradient *to, const struct gradient *from)
{
    for (uint32_t s = 0; s < scenario_sources(scenario); s++) {
        to->coefficient[s] = fraction_add(to->coefficient[s], from->coefficient[s]);
        to->weight[s] += from->weight[s];
        to->present[s] = to->present[s] || from->present[s];
    }
}

static void clear(struct state *state)
{
    for (uint32_t r = 0; r < RANKS_MOST; r++)
        for (uint32_t s = 0; s < SOURCES_MOST; s++) {
            state->at[r].coefficient[s] = fraction_whole(0);
            state->at[r].weight[s] = 0;
            state->at[r].present[s] = false;
        }
}

static void run_microbatch(struct step *step, uint32_t micro)
{
    const struct scenario *scenario = step->scenario;
    const struct recipe *recipe = &scenario->recipe;
    clear(&step->fresh);
    for (uint32_t place = 0; place < scenario->world; place++) {
        uint32_t s = source_at(scenario, place, micro), valid = scenario->source[s].valid;
        struct fraction factor = factor_at(step, recipe->given && recipe->loss_scaled,
                                           &recipe->scale_loss, place, micro);
        if (recipe->given && recipe->mean && valid == 0)
            step->zero = true;
        else if (recipe->given && recipe->mean)
            factor = fraction_div(factor, fraction_whole(valid));
        note_factor(step, factor);
        step->fresh.at[place].coefficient[s] = factor;
        step->fresh.at[place].weight[s] = size_of(factor);
        step->fresh.at[place].present[s] = true;
    }
}

/* Ranks of one place's group along an axis: how many copies of a source do they hold? */
static void watch(struct step *step, const struct state *state, const uint32_t *members,
                  uint32_t count, enum axis_name axis)
{
    for (uint32_t s = 0; s < scenario_sources(step->scenario); s++) {
        uint32_t copies = 0, empty = 0;
        for (uint32_t i = 0; i < count; i++) {
            copies += state->at[members[i]].coefficient[s].top != 0;
            empty += state->at[members[i]].present[s];
        }
        if (copies > 1)
            step->summed_again |= 1u << axis;
        if (empty > 1)
            step->path_again |= 1u << axis;
    }
}

static void sum_over(struct step *step, struct state *state, enum axis_name axis, bool avg)
{
    const struct scenario *scenario = step->scenario;
    static struct state before;
    uint32_t members[RANKS_MOST], coords[AXIS_NAMES];
    uint32_t size = scenario->size[axis];
    struct fraction share = fraction_of(1, avg ? size : 1);
    before = *state;
    note_factor(step, share);
    for (uint32_t place = 0; place < scenario->world; place++) {
        scenario_coords(scenario, place, coords);
        for (coords[axis] = 0; coords[axis] < size; coords[axis]++)
            members[coords[axis]] = scenario_place(scenario, coords);
        if (!avg)
            watch(step, &before, members, size, axis);
        state->at[place] = before.at[members[0]];
        for (uint32_t i = 1; i < size; i++)
            add(scenario, &state->at[place], &before.at[members[i]]);
        scale(scenario, &state->at[place], share);
    }
}

static bool matches(const char *glob, const char *name)
{
    if (*glob == '*')
        return matches(glob + 1, name) || (*name && matches(glob, name + 1));
    if (*glob == '\0' || *name == '\0')
        return *glob == *name;
    return (*glob == '?' || *glob == *name) && matches(glob + 1, name + 1);
}

static bool concerns(const struct step *step, const struct reduction *reduction)
{
    return !strcmp(reduction->params, "all") || matches(reduction->params, step->parameter);
}

static uint32_t axes_of(const struct scenario *scenario, const struct reduction *reduction)
{
    uint32_t axes = 0;
    for (uint32_t a = 0; a < scenario->axes; a++)
        axes |= 1u << scenario->axis[a];
    return reduction->world ? axes : axes & reduction->over;
}

static void reduce(struct step *step, struct state *state, const struct reduction *reduction,
                   uint32_t micro)
{
    const struct scenario *scenario = step->scenario;
    uint32_t axes = axes_of(scenario, reduction);
    for (int axis = 0; axis < AXIS_NAMES; axis++)
        if (axes >> axis & 1)
            sum_over(step, state, (enum axis_name)axis, reduction->avg);
    for (uint32_t place = 0; place < scenario->world; place++) {
        struct fraction factor =
            factor_at(step, reduction->scaled, &reduction->scale, place, micro);
        note_factor(step, factor);
        scale(scenario, &state->at[place], factor);
    }
}

static bool due(const struct step *step, enum when when, uint32_t micro)
{
    return when == WHEN_MICROBATCH || (when == WHEN_FIRST && micro == 0) ||
           (when == WHEN_LAST && micro + 1 == step->scenario->microbatches);
}

/* What runs where the recipe names no reduction: a sum over the owners of tokens. */
static const struct reduction derived = {.over = 1u << AXIS_DP | 1u << AXIS_CP, .params = "all"};

static uint32_t list_reductions(const struct recipe *recipe, const struct reduction **list)
{
    *list = recipe->given && recipe->reduce_given ? recipe->reduce : &derived;
    return recipe->given && recipe->reduce_given ? recipe->reductions : 1;
}

static void accumulate(struct step *step)
{
    const struct scenario *scenario = step->scenario;
    bool replace = scenario->recipe.given && scenario->recipe.accumulate == ACCUMULATE_LAST;
    for (uint32_t place = 0; place < scenario->world; place++) {
        if (replace)
            step->held.at[place] = step->fresh.at[place];
        else
            add(scenario, &step->held.at[place], &step->fresh.at[place]);
    }
}

static void run_microbatches(struct step *step)
{
    const struct scenario *scenario = step->scenario;
    const struct reduction *list;
    uint32_t count = list_reductions(&scenario->recipe, &list);
    for (uint32_t micro = 0; micro < scenario->microbatches; micro++) {
        run_microbatch(step, micro);
        for (uint32_t i = 0; i < count; i++)
            if (due(step, list[i].when, micro) && concerns(step, &list[i]))
                reduce(step, &step->fresh, &list[i], micro);
        accumulate(step);
    }
}

static void run_step(struct step *step)
{
    const struct scenario *scenario = step->scenario;
    const struct recipe *recipe = &scenario->recipe;
    const struct reduction *list;
    uint32_t count = list_reductions(recipe, &list);
    struct fraction share = fraction_of(1, scenario->microbatches);
    bool mean = recipe->given && recipe->accumulate == ACCUMULATE_MEAN;
    for (uint32_t place = 0; mean && place < scenario->world; place++)
        scale(scenario, &step->held.at[place], share);
    if (mean)
        note_factor(step, share);
    for (uint32_t i = 0; i < count; i++)
        if (list[i].when == WHEN_STEP && concerns(step, &list[i]))
            reduce(step, &step->held, &list[i], 0);
    for (uint32_t place = 0; place < scenario->world; place++) {
        struct fraction factor = fraction_of(1, scenario_tokens(scenario));
        if (recipe->given)
            factor = factor_at(step, recipe->grad_scaled, &recipe->scale_grad, place, 0);
        scale(scenario, &step->held.at[place], factor);
    }
}

/* A reduction over tp would add unrelated parts of this parameter. */
static bool breaks_shards(const struct step *step)
{
    const struct scenario *scenario = step->scenario;
    const struct reduction *list;
    uint32_t count = list_reductions(&scenario->recipe, &list);
    for (uint32_t i = 0; i < count; i++)
        if (scenario->size[AXIS_TP] > 1 && concerns(step, &list[i]) &&
            (axes_of(scenario, &list[i]) >> AXIS_TP & 1))
            return true;
    return false;
}

static bool keep(const struct step *step, struct reference *out)
{
    const struct scenario *scenario = step->scenario;
    bool lost = step->lost;
    for (uint32_t place = 0; place < scenario->world; place++)
        for (uint32_t s = 0; s < scenario_sources(scenario); s++) {
            out->coefficient[place][s] = step->held.at[place].coefficient[s];
            out->weight[place][s] = step->held.at[place].weight[s];
            lost = lost || fraction_is_lost(out->coefficient[place][s]);
        }
    return !lost;
}

void reference_run(const struct scenario *scenario, const char *parameter, bool sharded,
                   struct reference *out)
{
    static struct step step;
    step = (struct step){.scenario = scenario, .parameter = parameter, .dyadic = true};
    memset(out, 0, sizeof *out);
    clear(&step.held);
    run_microbatches(&step);
    run_step(&step);
    out->lost = !keep(&step, out);
    out->dyadic = step.dyadic;
    if (out->lost)
        return;
    out->fault = reference_classify(scenario, step.summed_again, out);
    out->by_path = reference_classify(scenario, step.path_again, out);
    if (step.zero)
        out->fault = out->by_path = FAULT_NONFINITE;
    if (sharded && breaks_shards(&step))
        out->fault = out->by_path = FAULT_SHARD_TILING;
    out->uniform = out->uniform && !step.zero && out->fault != FAULT_SHARD_TILING;
}
