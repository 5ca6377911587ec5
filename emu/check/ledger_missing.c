/* Words for what is left out: sums that were not made, microbatches that were dropped. */
#include "check/ledger_words.h"
#include "check/source_words.h"

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

void emu_ledger_lacking(const struct emu_ledger_case *c, const uint64_t *row, bool *lacks)
{
    uint32_t sources = emu_plan_sources(plan_of(c));
    uint32_t lanes = emu_tensor_lanes(plan_of(c), c->tensor);
    memset(lacks, 0, sources * sizeof *lacks);
    for (uint32_t lane = 0; lane < lanes; lane++)
        if (row[lane] == 0 && c->ledger->tokens[lane] > 0)
            lacks[lane % sources] = true;
}

/* A tensor whose gradient every tp rank has of its own rows: "the rows of tp=0" where the wrong
 * rank lacks all of them. */
static bool put_lacking_uses(const struct emu_ledger_case *c, const uint64_t *row,
                             struct emu_text *out)
{
    uint32_t sources = emu_plan_sources(plan_of(c));
    uint32_t uses = emu_tensor_lanes(plan_of(c), c->tensor) / sources;
    uint32_t put = 0;
    for (uint32_t use = 0; uses > 1 && use < uses && !emu_tensor_tied(plan_of(c), c->tensor);
         use++) {
        bool any = false;
        for (uint32_t lane = use * sources; lane < (use + 1) * sources; lane++)
            any = any || row[lane] != 0;
        if (!any)
            emu_text_printf(out, "%s%" PRIu32, put++ > 0 ? ", " : "the rows of tp=", use);
    }
    return put > 0;
}

/* "the tokens of dp=0" that the wrong rank lacks. */
static void put_lacking(const struct emu_ledger_case *c, struct emu_text *out)
{
    bool *lacks = calloc(emu_plan_sources(plan_of(c)), sizeof *lacks);
    const uint64_t *row = emu_ledger_row(c->evidence, c->judgement.worst_row, c->tensor);
    if (put_lacking_uses(c, row, out)) {
        free(lacks);
        return;
    }
    emu_text_puts(out, "the tokens of ");
    if (lacks) {
        emu_ledger_lacking(c, row, lacks);
        emu_sources_words(out, plan_of(c), lacks, c->ledger->tokens);
    } else {
        emu_lane_name(plan_of(c), c->judgement.lost_source, out);
    }
    free(lacks);
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
static void name_axes(const struct emu_ledger_case *c, const bool differs[EMU_MESH_MAX_AXES],
                      struct emu_finding *finding, struct emu_text *out)
{
    const struct emu_mesh *mesh = mesh_of(c);
    size_t put = 0;
    for (uint32_t a = 0; a < mesh->axis_count; a++) {
        if (!differs[a])
            continue;
        emu_text_printf(out, "%s%s", put++ ? " and " : "", mesh->axes[a].name);
        emu_finding_axis(finding, mesh->axes[a].name);
    }
}

/* Does the reduction act on this tensor over one of these axes? */
static bool acts_over(const struct emu_plan *plan, const struct emu_reduction_plan *reduction,
                      uint32_t tensor, const bool differs[EMU_MESH_MAX_AXES])
{
    uint32_t family;
    const struct emu_axes *axes = emu_reduction_axes(plan, reduction, tensor, &family);
    if (!emu_reduction_covers(reduction, plan->tensors[tensor].name))
        return false;
    for (uint32_t i = 0; i < axes->count; i++)
        if (differs[axes->index[i]])
            return true;
    return false;
}

/* Does no reduction act on any tensor of the case over these axes? */
static bool none_covers(const struct emu_ledger_case *c, const bool differs[EMU_MESH_MAX_AXES])
{
    const struct emu_recipe_plan *recipe = &plan_of(c)->recipe;
    for (uint32_t t = 0; t < plan_of(c)->tensor_count; t++)
        for (uint32_t r = 0; c->tensors.at[t] && r < recipe->reduction_count; r++)
            if (acts_over(plan_of(c), &recipe->reductions[r], t, differs))
                return false;
    return true;
}

/* "only microbatch 2 was reduced (when: last, FILE:8)", for each reduction of single microbatches.
 * Returns whether there was one, and no reduction of the whole. */
static bool tell_part(const struct emu_ledger_case *c, const bool differs[EMU_MESH_MAX_AXES],
                      struct emu_text *why)
{
    const struct emu_recipe_plan *recipe = &plan_of(c)->recipe;
    size_t told = 0;
    for (uint32_t r = 0; r < recipe->reduction_count; r++) {
        const struct emu_reduction_plan *reduction = &recipe->reductions[r];
        bool first = reduction->when == EMU_WHEN_FIRST;
        if (!acts_over(plan_of(c), reduction, c->tensor, differs))
            continue;
        if (!first && reduction->when != EMU_WHEN_LAST)
            return false;
        emu_text_printf(why, "%s microbatch %" PRIu32 " was reduced over %s (when: %s, ",
                        told++ > 0 ? ", and" : "only", first ? 0 : plan_of(c)->microbatches - 1,
                        reduction->over, first ? "first" : "last");
        emu_reduction_place(reduction, plan_of(c)->config->name, why);
        emu_text_putc(why, ')');
    }
    return told > 0;
}

static void tell_ran(const struct emu_ledger_case *c, const bool differs[EMU_MESH_MAX_AXES],
                     const char *axes, struct emu_text *why)
{
    const struct emu_recipe_plan *recipe = &plan_of(c)->recipe;
    emu_text_printf(why, "ranks along %s hold different sums", axes);
    const char *joint = ", in spite of ";
    for (uint32_t r = 0; r < recipe->reduction_count; r++) {
        if (!acts_over(plan_of(c), &recipe->reductions[r], c->tensor, differs))
            continue;
        emu_text_puts(why, joint);
        emu_reduction_words(plan_of(c)->config->name, &recipe->reductions[r], why);
        joint = " and ";
    }
    struct emu_recipe_factors factors;
    if (emu_recipe_factors_list(c->evidence, c->tensor, c->judgement.worst_row, &factors))
        emu_ledger_tell_differing(c, &factors, why);
    emu_recipe_factors_finish(&factors);
}

void emu_ledger_tell_missing(const struct emu_ledger_case *c, struct emu_finding *finding,
                             struct emu_text *why)
{
    bool differs[EMU_MESH_MAX_AXES] = {0};
    struct emu_text axes = {0}, rank = {0}, lacking = {0}, names = {0}, part = {0};
    differing_axes(c, differs);
    name_axes(c, differs, finding, &axes);
    emu_rank_text(&rank, mesh_of(c), c->judgement.worst_row);
    put_lacking(c, &lacking);
    emu_tensors_words(&names, plan_of(c), &c->tensors);
    const char *how = "not the same sum on all ranks of";
    if (none_covers(c, differs)) {
        how = "never summed over";
        emu_text_printf(why, "no reduction of the recipe covers %s over %s", emu_text_get(&names),
                        emu_text_get(&axes));
    } else if (tell_part(c, differs, &part)) {
        how = "summed only in part over";
        emu_text_puts(why, emu_text_get(&part));
    } else {
        tell_ran(c, differs, emu_text_get(&axes), why);
    }
    emu_finding_message(finding, "the gradient of %s is %s %s: %s lacks %s", emu_text_get(&names),
                        how, emu_text_get(&axes), emu_text_get(&rank), emu_text_get(&lacking));
    emu_text_finish(&axes);
    emu_text_finish(&rank);
    emu_text_finish(&lacking);
    emu_text_finish(&names);
    emu_text_finish(&part);
}

void emu_ledger_tell_untied(const struct emu_ledger_case *c, struct emu_finding *finding,
                            struct emu_text *why)
{
    bool differs[EMU_MESH_MAX_AXES] = {0};
    struct emu_text axes = {0};
    const char *name = plan_of(c)->tensors[c->tensor].name;
    differing_axes(c, differs);
    name_axes(c, differs, finding, &axes);
    struct emu_text part = {0};
    bool partly = tell_part(c, differs, &part);
    struct emu_text others = {0}; /* axes that are missing too */
    int pp = emu_mesh_find(mesh_of(c), "pp");
    for (uint32_t a = 0; a < mesh_of(c)->axis_count; a++)
        if (differs[a] && (int)a != pp)
            emu_text_printf(&others, "%s%s", others.size > 0 ? " and " : ", nor over ",
                            mesh_of(c)->axes[a].name);
    emu_finding_message(finding,
                        "%s is one tied table on two stages, but its copies are trained apart: the "
                        "gradients of its two uses were %s over the ends of the pipeline%s",
                        name, partly ? "summed only in part" : "not summed",
                        partly ? "" : emu_text_get(&others));
    emu_text_printf(why, "the copies differ along %s; ", emu_text_get(&axes));
    if (partly)
        emu_text_puts(why, emu_text_get(&part));
    else
        emu_text_printf(why, "the sum that is missing is {over: tied, op: sum, params: %s}%s%s",
                        name, others.size > 0 ? ", and one over " : "",
                        others.size > 0 ? emu_text_get(&others) + strlen(", nor over ") : "");
    emu_text_finish(&others);
    emu_text_finish(&part);
    emu_text_finish(&axes);
}

/* The first factor that is 0 for all these sources, or NULL. */
static const struct emu_recipe_factor *find_zero(const struct emu_ledger_case *c,
                                                 const struct emu_recipe_factors *factors,
                                                 const bool *lost)
{
    for (size_t i = 0; i < factors->count; i++) {
        bool zero = true;
        for (uint32_t s = 0; s < emu_plan_sources(plan_of(c)); s++) {
            struct emu_rational value = {1, 1};
            if (lost[s] && (!emu_recipe_factor_value(c->evidence, &factors->at[i],
                                                     emu_source_owner(c->evidence, s),
                                                     s % plan_of(c)->shape.microbatches, &value) ||
                            value.numerator != 0))
                zero = false;
        }
        if (zero)
            return &factors->at[i];
    }
    return NULL;
}

/* accumulate: last, a factor of 0, or neither. */
static void tell_who_dropped(const struct emu_ledger_case *c, const bool *lost,
                             struct emu_text *why)
{
    uint32_t last = plan_of(c)->shape.microbatches - 1;
    bool replaced = plan_of(c)->recipe.accumulate == EMU_ACC_LAST;
    for (uint32_t s = 0; s < emu_plan_sources(plan_of(c)); s++)
        if (lost[s] && s % (last + 1) == last)
            replaced = false;
    if (replaced) {
        emu_text_printf(why, "accumulate: last keeps microbatch %" PRIu32 " alone", last);
        return;
    }
    struct emu_recipe_factors factors;
    const struct emu_recipe_factor *zero = NULL;
    if (emu_recipe_factors_list(c->evidence, c->tensor, c->judgement.worst_row, &factors))
        zero = find_zero(c, &factors, lost);
    emu_text_puts(why, zero ? "a factor of 0 drops them: "
                            : "their coefficient is 0: factors or an accumulation dropped them");
    if (zero)
        emu_recipe_factor_words(plan_of(c)->config->name, zero, why);
    emu_recipe_factors_finish(&factors);
}

void emu_ledger_tell_lost(const struct emu_ledger_case *c, struct emu_finding *finding,
                          struct emu_text *why)
{
    struct emu_text lacking = {0}, names = {0};
    bool *lost = calloc(emu_plan_sources(plan_of(c)), sizeof *lost);
    put_lacking(c, &lacking);
    emu_tensors_words(&names, plan_of(c), &c->tensors);
    emu_finding_message(finding, "%s are in the gradient of %s on no rank", emu_text_get(&lacking),
                        emu_text_get(&names));
    if (lost) {
        emu_ledger_lacking(c, emu_ledger_row(c->evidence, c->judgement.worst_row, c->tensor), lost);
        tell_who_dropped(c, lost, why);
    }
    free(lost);
    emu_text_finish(&lacking);
    emu_text_finish(&names);
}
