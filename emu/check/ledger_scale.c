/* Words for what weighs wrongly: one factor for all, or other weights for other sources. */
#include "check/ledger_words.h"
#include "ledger/field.h"

#include <inttypes.h>
#include <string.h>

#define SOURCES_SHOWN 8

static const struct emu_plan *plan_of(const struct emu_ledger_case *c)
{
    return c->evidence->plan;
}

static const struct emu_mesh *mesh_of(const struct emu_ledger_case *c)
{
    return plan_of(c)->roster.mesh;
}

/* Did a call on one of the case's tensors do something that it need not have done over this axis?
 */
static bool suspected(const struct emu_ledger_case *c, uint32_t axis)
{
    const struct emu_step_record *record = c->evidence->records[c->judgement.worst_row];
    uint32_t kept =
        record->event_count < EMU_RECORD_EVENTS ? record->event_count : EMU_RECORD_EVENTS;
    for (uint32_t i = 0; i < kept; i++)
        if (c->tensors.at[record->events[i].tensor] && record->events[i].axis == axis &&
            !record->events[i].averaged)
            return true;
    return false;
}

/* Ranks of dp and cp that have a valid token at all. */
static uint32_t owners_with_tokens(const struct emu_ledger_case *c)
{
    uint32_t micros = plan_of(c)->shape.microbatches;
    uint32_t owners = 0;
    for (uint32_t first = 0; first < emu_plan_sources(plan_of(c)); first += micros) {
        bool any = false;
        for (uint32_t s = first; s < first + micros; s++)
            any = any || c->ledger->tokens[s] > 0;
        owners += any;
    }
    return owners;
}

/* Sizes that may explain a factor: axes, microbatches, world, tokens; at last ranks with tokens and
 * sequences, where these are other numbers. Those are marked that a suspicious call used, and those
 * that do not cancel in the recipe. */
static size_t known_sizes(const struct emu_ledger_case *c, const struct emu_size_product *left,
                          struct emu_known_size sizes[EMU_EXPLAIN_MAX_SIZES])
{
    const struct emu_mesh *mesh = mesh_of(c);
    size_t count = 0;
    for (uint32_t a = 0; a < mesh->axis_count && count + 5 < EMU_EXPLAIN_MAX_SIZES; a++)
        if (mesh->axes[a].size > 1)
            sizes[count++] = (struct emu_known_size){
                .name = mesh->axes[a].name,
                .size = mesh->axes[a].size,
                .suspect = suspected(c, a) || (left->known && left->power[EMU_SIZE_AXIS + a])};
    bool several = count > 1;
    sizes[count++] =
        (struct emu_known_size){.name = "microbatches",
                                .words = "number of microbatches",
                                .size = plan_of(c)->shape.microbatches,
                                .suspect = left->known && left->power[EMU_SIZE_MICROBATCHES]};
    if (several)
        sizes[count++] = (struct emu_known_size){.name = "world", .size = mesh->world};
    sizes[count++] =
        (struct emu_known_size){.name = "tokens",
                                .words = "number of valid tokens",
                                .size = (int64_t)c->ledger->sources.all,
                                .suspect = left->known && left->power[EMU_SIZE_TOKENS]};
    const struct emu_source_shape *shape = &plan_of(c)->shape;
    uint32_t owners = owners_with_tokens(c);
    if (owners < shape->dp * shape->cp)
        sizes[count++] = (struct emu_known_size){.name = "(ranks with valid tokens)",
                                                 .words = "number of ranks with valid tokens",
                                                 .size = owners,
                                                 .last_resort = true};
    if (plan_of(c)->batch != emu_plan_sources(plan_of(c)))
        sizes[count++] = (struct emu_known_size){.name = "sequences",
                                                 .words = "number of sequences",
                                                 .size = (int64_t)plan_of(c)->batch,
                                                 .last_resort = true};
    return count;
}

/* ", but scale 8/4 of the reduction over cp (FILE:8) is 2 itself", where a factor is the ratio. */
static void tell_literal(const struct emu_ledger_case *c, const struct emu_recipe_factors *list,
                         struct emu_text *why)
{
    char text[EMU_RATIONAL_TEXT_MAX];
    for (size_t i = 0; i < list->count; i++) {
        struct emu_rational value;
        if (!emu_recipe_factor_value(c->evidence, &list->at[i], c->judgement.worst_row, 0,
                                     &value) ||
            !emu_rational_equal(value, c->judgement.ratio))
            continue;
        emu_text_puts(why, ", but ");
        emu_recipe_factor_words(plan_of(c)->config->name, &list->at[i], why);
        emu_text_printf(why, " is %s itself", emu_rational_text(value, text));
        return;
    }
}

/* Where the call stands that did it. */
static void tell_call(const struct emu_ledger_case *c, struct emu_text *why)
{
    const struct emu_step_record *record = c->evidence->records[c->judgement.worst_row];
    uint32_t kept =
        record->event_count < EMU_RECORD_EVENTS ? record->event_count : EMU_RECORD_EVENTS;
    for (uint32_t i = 0; i < kept; i++) {
        const struct emu_record_event *event = &record->events[i];
        const struct emu_reduction_plan *reduction =
            &plan_of(c)->recipe.reductions[event->reduction];
        if (event->tensor != c->tensor || event->averaged)
            continue;
        emu_text_printf(why, "\ncause: all_reduce sum over %s (", reduction->over);
        emu_reduction_place(reduction, plan_of(c)->config->name, why);
        emu_text_printf(why, "): the ranks of %s hold the whole gradient already",
                        mesh_of(c)->axes[event->axis].name);
        return;
    }
}

static void tell_uniform(const struct emu_ledger_case *c, const struct emu_recipe_factors *list,
                         struct emu_finding *finding, struct emu_text *why)
{
    struct emu_known_size sizes[EMU_EXPLAIN_MAX_SIZES];
    struct emu_size_product left = emu_recipe_factors_left(list);
    size_t count = known_sizes(c, &left, sizes);
    char ratio[EMU_RATIONAL_TEXT_MAX];
    emu_finding_set_text(&finding->ratio, "%s", emu_rational_text(c->judgement.ratio, ratio));
    if (!emu_explain(c->judgement.ratio, sizes, count, why))
        tell_literal(c, list, why);
    for (uint32_t a = 0; a < mesh_of(c)->axis_count; a++)
        if (suspected(c, a))
            emu_finding_axis(finding, mesh_of(c)->axes[a].name);
    tell_call(c, why);
    emu_ledger_tell_factors(c, list, why);
}

/* "is 4 times the right one: it was summed again ...". */
static void say_ratio(const struct emu_ledger_case *c, const char *names,
                      struct emu_finding *finding)
{
    const struct emu_ledger_judgement *j = &c->judgement;
    char ratio[EMU_RATIONAL_TEXT_MAX];
    const char *cause = j->class_id == EMU_CLASS_DOUBLE_REDUCTION
                            ? ": it was summed again over an axis that had been summed"
                        : j->class_id == EMU_CLASS_REDUCED_REPLICATED
                            ? ": complete copies were summed over an axis that was never partial"
                            : "";
    bool part = j->ratio.numerator > 0 && j->ratio.numerator < j->ratio.denominator;
    if (j->ratio.numerator == 0)
        emu_finding_message(finding, "the gradient of %s is 0: nothing of the right one is left%s",
                            names, cause);
    else
        emu_finding_message(finding, "the gradient of %s is %s %s the right one%s", names,
                            emu_rational_text(j->ratio, ratio), part ? "of" : "times", cause);
}

/* "rank 1 holds dp=0: 1/3, dp=1: 1/6": the first copy that differs from the one in the table. */
static void tell_other_row(const struct emu_ledger_case *c, struct emu_text *why)
{
    uint32_t lanes = emu_tensor_lanes(plan_of(c), c->tensor);
    const uint64_t *shown = emu_ledger_row(c->evidence, c->judgement.worst_row, c->tensor);
    for (uint32_t rank = 0; rank < mesh_of(c)->world; rank++) {
        const uint64_t *row = emu_ledger_row(c->evidence, rank, c->tensor);
        if (!row || memcmp(row, shown, lanes * sizeof *row) == 0)
            continue;
        emu_text_printf(why, "\nrank %" PRIu32 " holds ", rank);
        uint32_t put = 0;
        for (uint32_t lane = 0; lane < lanes && put < SOURCES_SHOWN; lane++) {
            char value[EMU_RATIONAL_TEXT_MAX];
            if (c->ledger->tokens[lane] == 0)
                continue;
            emu_text_puts(why, put++ > 0 ? ", " : "");
            emu_lane_name(plan_of(c), lane, why);
            emu_text_printf(why, ": %s", emu_coefficient_text(row[lane], value));
        }
        return;
    }
}

void emu_ledger_tell_factor(const struct emu_ledger_case *c, struct emu_finding *finding,
                            struct emu_text *why)
{
    struct emu_recipe_factors list;
    struct emu_text names = {0};
    emu_tensors_words(&names, plan_of(c), &c->tensors);
    bool listed = emu_recipe_factors_list(c->evidence, c->tensor, c->judgement.worst_row, &list);
    if (c->judgement.uniform && listed) {
        tell_uniform(c, &list, finding, why);
        say_ratio(c, emu_text_get(&names), finding);
    } else {
        emu_finding_message(finding, "each copy of the gradient of %s carries a factor of its own",
                            emu_text_get(&names));
        emu_text_puts(why, "a factor of the recipe is not the same on all ranks");
        if (listed)
            emu_ledger_tell_differing(c, &list, why);
        tell_other_row(c, why);
    }
    emu_recipe_factors_finish(&list);
    emu_text_finish(&names);
}

/* c * tokens of a source in the worst row. */
static bool weight_of(const struct emu_ledger_case *c, uint32_t lane, struct emu_rational *out)
{
    const uint64_t *row = emu_ledger_row(c->evidence, c->judgement.worst_row, c->tensor);
    uint64_t all = emu_field_reduce(c->ledger->sources.all);
    return emu_rational_from_field(emu_field_mul(row[lane], all), out) == EMU_OK;
}

/* ": the 1 token of dp=0,mb=1 weighs 3 times one of the 3 in dp=0,mb=0". */
static void tell_extremes(const struct emu_ledger_case *c, struct emu_text *why)
{
    uint32_t lanes = emu_tensor_lanes(plan_of(c), c->tensor);
    uint32_t light = lanes, heavy = lanes;
    for (uint32_t lane = 0; lane < lanes; lane++) {
        struct emu_rational weight;
        if (c->ledger->tokens[lane] == 0 || !weight_of(c, lane, &weight))
            continue;
        if (light == lanes && emu_rational_equal(weight, c->judgement.least))
            light = lane;
        if (heavy == lanes && emu_rational_equal(weight, c->judgement.most))
            heavy = lane;
    }
    struct emu_rational ratio;
    if (!c->judgement.spread_known || light == lanes || heavy == lanes)
        return;
    uint64_t few = c->ledger->tokens[heavy], many = c->ledger->tokens[light];
    struct emu_text names[2] = {{0}, {0}};
    emu_lane_name(plan_of(c), heavy, &names[0]);
    emu_lane_name(plan_of(c), light, &names[1]);
    char text[EMU_RATIONAL_TEXT_MAX];
    if (c->judgement.least.numerator == 0)
        emu_text_printf(why, ": %" PRIu64 " token%s of %s do%s not count at all", many,
                        many > 1 ? "s" : "", emu_text_get(&names[1]), many > 1 ? "" : "es");
    else if (emu_rational_div(c->judgement.most, c->judgement.least, &ratio) == EMU_OK)
        emu_text_printf(
            why, ": %s %" PRIu64 " token%s of %s weigh%s %s times one of the %" PRIu64 " of %s",
            few > 1 ? "each of the" : "the", few, few > 1 ? "s" : "", emu_text_get(&names[0]), "s",
            emu_rational_text(ratio, text), many, emu_text_get(&names[1]));
    emu_text_finish(&names[0]);
    emu_text_finish(&names[1]);
}

void emu_ledger_tell_weights(const struct emu_ledger_case *c, struct emu_finding *finding,
                             struct emu_text *why)
{
    static const char *const laws[] = {
        [EMU_WEIGHT_OTHER] = "no law of means gives these weights",
        [EMU_WEIGHT_SOURCE_MEANS] = "a mean of means over microbatches and ranks",
        [EMU_WEIGHT_RANK_MEANS] = "a mean of means over ranks",
        [EMU_WEIGHT_SLICE_MEANS] = "a mean of means over cp slices",
        [EMU_WEIGHT_MICRO_MEANS] = "a mean of means over microbatches"};
    const struct emu_ledger_judgement *j = &c->judgement;
    char least[EMU_RATIONAL_TEXT_MAX], most[EMU_RATIONAL_TEXT_MAX];
    struct emu_text names = {0};
    emu_tensors_words(&names, plan_of(c), &c->tensors);
    if (j->spread_known)
        emu_finding_message(finding,
                            "tokens weigh differently in the gradient of %s: %s to %s times what "
                            "is right",
                            emu_text_get(&names), emu_rational_text(j->least, least),
                            emu_rational_text(j->most, most));
    else
        emu_finding_message(finding, "tokens weigh differently in the gradient of %s",
                            emu_text_get(&names));
    emu_text_finish(&names);
    emu_text_puts(why, laws[j->law]);
    tell_extremes(c, why);
    struct emu_recipe_factors list;
    if (emu_recipe_factors_list(c->evidence, c->tensor, j->worst_row, &list))
        emu_ledger_tell_differing(c, &list, why);
    emu_recipe_factors_finish(&list);
    static const char *const owners[] = {"dp", "cp"};
    for (size_t i = j->law == EMU_WEIGHT_SLICE_MEANS; i < 2; i++)
        if (emu_mesh_size(mesh_of(c), owners[i]) > 1 && j->law != EMU_WEIGHT_MICRO_MEANS)
            emu_finding_axis(finding, owners[i]);
}
