#include "check/ledger_report.h"

#include "ledger/value.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

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

/* Does a reduction on the case's tensors average over this axis? */
static bool averaged(const struct emu_ledger_case *c, uint32_t axis)
{
    const struct emu_recipe_plan *recipe = &plan_of(c)->recipe;
    for (uint32_t r = 0; r < recipe->reduction_count; r++) {
        const struct emu_reduction_plan *reduction = &recipe->reductions[r];
        uint32_t family;
        const struct emu_axes *axes = emu_reduction_axes(plan_of(c), reduction, c->tensor, &family);
        if (!reduction->avg ||
            !emu_reduction_covers(reduction, plan_of(c)->tensors[c->tensor].name))
            continue;
        for (uint32_t i = 0; i < axes->count; i++)
            if (axes->index[i] == axis)
                return true;
    }
    return false;
}

/* Sizes that may explain a factor: axes, microbatches, world, tokens; suspects are marked. */
static size_t known_sizes(const struct emu_ledger_case *c,
                          struct emu_known_size sizes[EMU_EXPLAIN_MAX_SIZES])
{
    const struct emu_mesh *mesh = mesh_of(c);
    size_t count = 0;
    for (uint32_t a = 0; a < mesh->axis_count && count + 3 < EMU_EXPLAIN_MAX_SIZES; a++)
        if (mesh->axes[a].size > 1)
            sizes[count++] = (struct emu_known_size){mesh->axes[a].name, mesh->axes[a].size,
                                                     suspected(c, a) || averaged(c, a)};
    sizes[count++] = (struct emu_known_size){"microbatches", plan_of(c)->shape.microbatches, false};
    if (count > 2)
        sizes[count++] = (struct emu_known_size){"world", mesh->world, false};
    sizes[count++] = (struct emu_known_size){"tokens", (int64_t)c->ledger->sources.all, false};
    return count;
}

static void explain_factor(const struct emu_ledger_case *c, struct emu_finding *finding)
{
    struct emu_known_size sizes[EMU_EXPLAIN_MAX_SIZES];
    size_t count = known_sizes(c, sizes);
    struct emu_text text = {0};
    emu_explain(c->judgement.ratio, sizes, count, &text);
    emu_finding_set_text(&finding->explanation, "%s", emu_text_get(&text));
    emu_text_finish(&text);
}

/* Axes along which the coefficients of the holders differ from those of the first holder on that
 * axis. */
static void differing_axes(const struct emu_ledger_case *c, bool differs[EMU_MESH_MAX_AXES])
{
    const struct emu_mesh *mesh = mesh_of(c);
    size_t bytes = emu_tensor_lanes(plan_of(c), c->tensor) * sizeof(uint64_t);
    int pp = emu_mesh_find(mesh, "pp");
    for (uint32_t rank = 0; rank < mesh->world; rank++) {
        const uint64_t *own = emu_ledger_row(c->evidence, rank, c->tensor);
        for (uint32_t a = 0; own && a < mesh->axis_count; a++) {
            uint32_t coords[EMU_MESH_MAX_AXES];
            emu_mesh_coords(mesh, rank, coords);
            coords[a] = (int)a == pp ? plan_of(c)->tensors[c->tensor].stage : 0;
            const uint64_t *base =
                emu_ledger_row(c->evidence, emu_mesh_rank(mesh, coords), c->tensor);
            if (base && memcmp(base, own, bytes) != 0)
                differs[a] = true;
        }
    }
}

/* "dp" or "dp and cp": the axes over which the sum is missing; noted in finding->axes. */
static void name_axes(const struct emu_ledger_case *c, struct emu_finding *finding,
                      struct emu_text *out)
{
    bool differs[EMU_MESH_MAX_AXES] = {0};
    differing_axes(c, differs);
    const struct emu_mesh *mesh = mesh_of(c);
    size_t put = 0;
    for (uint32_t a = 0; a < mesh->axis_count; a++) {
        if (!differs[a])
            continue;
        emu_text_printf(out, "%s%s", put++ ? " and " : "", mesh->axes[a].name);
        emu_finding_axis(finding, mesh->axes[a].name);
    }
}

static void tell_missing(const struct emu_ledger_case *c, struct emu_finding *finding,
                         const char *source)
{
    struct emu_text axes = {0};
    struct emu_text rank = {0};
    name_axes(c, finding, &axes);
    emu_rank_text(&rank, mesh_of(c), c->judgement.worst_row);
    emu_finding_message(finding,
                        "the gradient of %s is not the same sum everywhere: the tokens of %s are "
                        "inside it on some ranks and not on others (not on %s)",
                        plan_of(c)->tensors[c->tensor].name, source, emu_text_get(&rank));
    emu_finding_set_text(&finding->explanation,
                         "not, or not wholly, summed over %s: ranks along it hold different sums",
                         emu_text_get(&axes));
    emu_text_finish(&axes);
    emu_text_finish(&rank);
}

static void tell_untied(const struct emu_ledger_case *c, struct emu_finding *finding)
{
    struct emu_text axes = {0};
    name_axes(c, finding, &axes);
    emu_finding_message(finding,
                        "%s is one tied table on two stages, but its copies are trained apart: the "
                        "gradients of its two uses were not summed over the ends of the pipeline",
                        plan_of(c)->tensors[c->tensor].name);
    emu_finding_set_text(&finding->explanation,
                         "the copies differ along %s; the sum that is missing is "
                         "{over: tied, op: sum, params: %s}",
                         emu_text_get(&axes), plan_of(c)->tensors[c->tensor].name);
    emu_text_finish(&axes);
}

static void tell_lost(const struct emu_ledger_case *c, struct emu_finding *finding,
                      const char *source)
{
    emu_finding_message(finding, "the tokens of %s are inside the gradient of %s on no rank",
                        source, plan_of(c)->tensors[c->tensor].name);
    const char *why = plan_of(c)->recipe.accumulate == EMU_ACC_LAST
                          ? "accumulate: last keeps the last microbatch alone"
                          : "its coefficient is 0: a factor or an accumulation dropped it";
    emu_finding_set_text(&finding->explanation, "%s", why);
}

static void tell_weights(const struct emu_ledger_case *c, struct emu_finding *finding)
{
    static const char *const laws[] = {
        [EMU_WEIGHT_OTHER] = "no law of means: the weights follow neither ranks nor microbatches",
        [EMU_WEIGHT_SOURCE_MEANS] = "a mean of means: every source's mean counts the same, however "
                                    "many tokens it has (over microbatches and ranks)",
        [EMU_WEIGHT_RANK_MEANS] = "a mean of means over ranks: each is divided by its own tokens, "
                                  "not by all",
        [EMU_WEIGHT_MICRO_MEANS] = "a mean of means over microbatches: each is divided by its own "
                                   "tokens, not by all"};
    emu_finding_message(finding,
                        "tokens of different sources weigh differently in the gradient of %s",
                        plan_of(c)->tensors[c->tensor].name);
    emu_finding_set_text(&finding->explanation, "%s", laws[c->judgement.law]);
    const struct emu_mesh *mesh = mesh_of(c);
    static const char *const owners[] = {"dp", "cp"};
    for (size_t i = 0; i < 2; i++)
        if (emu_mesh_size(mesh, owners[i]) > 1 && c->judgement.law != EMU_WEIGHT_MICRO_MEANS)
            emu_finding_axis(finding, owners[i]);
}

static void tell_factor(const struct emu_ledger_case *c, struct emu_finding *finding)
{
    const struct emu_ledger_judgement *j = &c->judgement;
    const char *name = plan_of(c)->tensors[c->tensor].name;
    char ratio[EMU_RATIONAL_TEXT_MAX];
    if (!j->uniform) {
        emu_finding_message(finding, "each copy of the gradient of %s carries a factor of its own",
                            name);
        emu_finding_set_text(&finding->explanation,
                             "a factor of the recipe differs from rank to rank");
        return;
    }
    emu_rational_text(j->ratio, ratio);
    emu_finding_set_text(&finding->ratio, "%s", ratio);
    explain_factor(c, finding);
    for (uint32_t a = 0; a < mesh_of(c)->axis_count; a++)
        if (suspected(c, a))
            emu_finding_axis(finding, mesh_of(c)->axes[a].name);
    const char *cause = j->class_id == EMU_CLASS_DOUBLE_REDUCTION
                            ? ": it was summed again over an axis that had been summed"
                        : j->class_id == EMU_CLASS_REDUCED_REPLICATED
                            ? ": complete copies were summed over an axis that was never partial"
                            : "";
    emu_finding_message(finding, "the gradient of %s is %s times the right one%s", name, ratio,
                        cause);
}

/* Where the call stands that did it. */
static void tell_call(const struct emu_ledger_case *c, struct emu_finding *finding)
{
    const struct emu_step_record *record = c->evidence->records[c->judgement.worst_row];
    const struct emu_recipe_plan *recipe = &plan_of(c)->recipe;
    uint32_t kept =
        record->event_count < EMU_RECORD_EVENTS ? record->event_count : EMU_RECORD_EVENTS;
    for (uint32_t i = 0; i < kept; i++) {
        const struct emu_record_event *event = &record->events[i];
        const struct emu_reduction_plan *reduction = &recipe->reductions[event->reduction];
        if (event->tensor != c->tensor || event->averaged)
            continue;
        emu_finding_consequence(
            finding, "cause: all_reduce %s over %s (%s:%" PRIu32 "), over %s once too often",
            reduction->avg ? "avg" : "sum", reduction->over, plan_of(c)->config->name,
            reduction->line, mesh_of(c)->axes[event->axis].name);
        return;
    }
}

static void put_coefficients(const struct emu_ledger_case *c, struct emu_finding *finding)
{
    const uint64_t *row = emu_ledger_row(c->evidence, c->judgement.worst_row, c->tensor);
    for (uint32_t s = 0; s < emu_tensor_lanes(plan_of(c), c->tensor); s++) {
        char value[EMU_RATIONAL_TEXT_MAX];
        struct emu_text name = {0};
        if (c->ledger->tokens[s] == 0)
            continue;
        emu_lane_name(plan_of(c), s, &name);
        emu_finding_coefficient(finding, emu_text_get(&name), emu_coefficient_text(row[s], value));
        emu_text_finish(&name);
    }
}

/* expected: 1/tokens; got: the coefficient, or the least and most of them. */
static void put_values(const struct emu_ledger_case *c, struct emu_finding *finding)
{
    const struct emu_ledger_judgement *j = &c->judgement;
    struct emu_rational wanted;
    struct emu_rational low;
    struct emu_rational high;
    char text[2][EMU_RATIONAL_TEXT_MAX];
    if (emu_rational_make(1, (int64_t)c->ledger->sources.all, &wanted) != EMU_OK)
        return;
    emu_finding_set_text(&finding->expected, "%s", emu_rational_text(wanted, text[0]));
    if (j->uniform && emu_rational_mul(wanted, j->ratio, &low) == EMU_OK)
        emu_finding_set_text(&finding->got, "%s", emu_rational_text(low, text[0]));
    if (j->spread_known && emu_rational_mul(wanted, j->least, &low) == EMU_OK &&
        emu_rational_mul(wanted, j->most, &high) == EMU_OK)
        emu_finding_set_text(&finding->got, "%s to %s", emu_rational_text(low, text[0]),
                             emu_rational_text(high, text[1]));
    if (j->class_id == EMU_CLASS_MISSING_REDUCTION || j->class_id == EMU_CLASS_LOST_MICROBATCH)
        emu_finding_set_text(&finding->got, "0");
}

void emu_ledger_report(const struct emu_ledger_case *c, struct emu_audit *audit)
{
    struct emu_finding *finding = emu_findings_add(&audit->findings, c->judgement.class_id);
    if (!finding) {
        emu_audit_no_memory(audit, EMU_CHECK_LEDGER);
        return;
    }
    struct emu_text source = {0};
    emu_lane_name(plan_of(c), c->judgement.lost_source, &source);
    if (c->judgement.class_id == EMU_CLASS_MISSING_REDUCTION)
        tell_missing(c, finding, emu_text_get(&source));
    else if (c->judgement.class_id == EMU_CLASS_TIED_UNSYNCED)
        tell_untied(c, finding);
    else if (c->judgement.class_id == EMU_CLASS_LOST_MICROBATCH)
        tell_lost(c, finding, emu_text_get(&source));
    else if (c->judgement.class_id == EMU_CLASS_TOKEN_WEIGHT)
        tell_weights(c, finding);
    else
        tell_factor(c, finding);
    emu_text_finish(&source);
    emu_finding_parameters(finding, plan_of(c), &c->tensors);
    put_coefficients(c, finding);
    put_values(c, finding);
    tell_call(c, finding);
}
