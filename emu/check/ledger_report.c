#include "check/ledger_report.h"

#include "check/ledger_stage.h"
#include "check/ledger_words.h"
#include "ledger/field.h"

#include <stdlib.h>
#include <string.h>

#define SOURCES_IN_ORDER 8 /* of more, those come first that are furthest off */

static const struct emu_plan *plan_of(const struct emu_ledger_case *c)
{
    return c->evidence->plan;
}

static uint32_t lanes_of(const struct emu_ledger_case *c)
{
    return emu_tensor_lanes(plan_of(c), c->tensor);
}

static const uint64_t *worst_row(const struct emu_ledger_case *c)
{
    return emu_ledger_row(c->evidence, c->judgement.worst_row, c->tensor);
}

/* How far a coefficient is from 1/tokens: the factor, whichever way; nothing at all is furthest. */
static double distance(const struct emu_ledger_case *c, uint64_t coefficient)
{
    struct emu_rational ratio;
    uint64_t scaled = emu_field_mul(coefficient, emu_field_reduce(c->ledger->sources.all));
    if (emu_rational_from_field(scaled, &ratio) != EMU_OK || ratio.numerator <= 0)
        return 1e300;
    double factor = emu_rational_f64(ratio);
    return factor < 1.0 ? 1.0 / factor : factor;
}

struct ranked {
    double distance;
    uint32_t lane;
};

static int worse_first(const void *left, const void *right)
{
    const struct ranked *a = left, *b = right;
    if (a->distance != b->distance)
        return a->distance > b->distance ? -1 : 1;
    return a->lane < b->lane ? -1 : a->lane > b->lane;
}

static void put_coefficients(const struct emu_ledger_case *c, struct emu_finding *finding)
{
    const uint64_t *row = worst_row(c);
    struct ranked *order = calloc(lanes_of(c), sizeof *order);
    size_t count = 0;
    for (uint32_t lane = 0; order && lane < lanes_of(c); lane++)
        if (c->ledger->tokens[lane] > 0)
            order[count++] = (struct ranked){distance(c, row[lane]), lane};
    if (count > SOURCES_IN_ORDER)
        qsort(order, count, sizeof *order, worse_first);
    bool weights = c->judgement.class_id == EMU_CLASS_TOKEN_WEIGHT;
    for (size_t i = 0; i < count; i++) {
        char value[EMU_RATIONAL_TEXT_MAX];
        struct emu_text name = {0};
        emu_lane_name(plan_of(c), order[i].lane, &name);
        emu_finding_coefficient(finding, emu_text_get(&name),
                                emu_coefficient_text(row[order[i].lane], value),
                                weights ? c->ledger->tokens[order[i].lane] : 0);
        emu_text_finish(&name);
    }
    free(order);
}

/* Do all ranks that hold the tensor hold the same coefficients? */
static bool copies_agree(const struct emu_ledger_case *c)
{
    for (uint32_t rank = 0; rank < plan_of(c)->roster.mesh->world; rank++) {
        const uint64_t *row = emu_ledger_row(c->evidence, rank, c->tensor);
        if (row && memcmp(row, worst_row(c), lanes_of(c) * sizeof *row) != 0)
            return false;
    }
    return true;
}

/* Least and most coefficient of one row, joined to what is there already. false: one of them is no
 * small fraction. */
static bool widen(const struct emu_ledger_case *c, const uint64_t *row, bool *any,
                  struct emu_rational *least, struct emu_rational *most)
{
    for (uint32_t lane = 0; lane < lanes_of(c); lane++) {
        struct emu_rational value;
        if (c->ledger->tokens[lane] == 0)
            continue;
        if (emu_rational_from_field(row[lane], &value) != EMU_OK)
            return false;
        if (!*any || emu_rational_compare(value, *least) < 0)
            *least = value;
        if (!*any || emu_rational_compare(value, *most) > 0)
            *most = value;
        *any = true;
    }
    return true;
}

/* got: the coefficient; or least and most: on the rank that is shown where sources are missing, on
 * all ranks otherwise. */
static void put_got(const struct emu_ledger_case *c, struct emu_finding *finding)
{
    struct emu_rational least = {0, 1}, most = {0, 1};
    char text[2][EMU_RATIONAL_TEXT_MAX];
    bool any = false;
    bool one_rank = c->judgement.class_id == EMU_CLASS_MISSING_REDUCTION ||
                    c->judgement.class_id == EMU_CLASS_TIED_UNSYNCED;
    for (uint32_t rank = 0; rank < plan_of(c)->roster.mesh->world; rank++) {
        const uint64_t *row = emu_ledger_row(c->evidence, rank, c->tensor);
        if (row && (!one_rank || rank == c->judgement.worst_row) &&
            !widen(c, row, &any, &least, &most))
            return;
    }
    if (any && emu_rational_equal(least, most))
        emu_finding_set_text(&finding->got, "%s", emu_rational_text(least, text[0]));
    else if (any)
        emu_finding_set_text(&finding->got, "%s to %s", emu_rational_text(least, text[0]),
                             emu_rational_text(most, text[1]));
}

static void put_values(const struct emu_ledger_case *c, struct emu_finding *finding)
{
    struct emu_rational wanted;
    char text[EMU_RATIONAL_TEXT_MAX];
    if (emu_rational_make(1, (int64_t)c->ledger->sources.all, &wanted) == EMU_OK)
        emu_finding_set_text(&finding->expected, "%s", emu_rational_text(wanted, text));
    put_got(c, finding);
    if (!copies_agree(c))
        finding->coefficient_rank = c->judgement.worst_row;
}

static void tell(const struct emu_ledger_case *c, struct emu_finding *finding, struct emu_text *why)
{
    switch (c->judgement.class_id) {
    case EMU_CLASS_MISSING_REDUCTION:
        emu_ledger_tell_missing(c, finding, why);
        return;
    case EMU_CLASS_TIED_UNSYNCED:
        emu_ledger_tell_untied(c, finding, why);
        return;
    case EMU_CLASS_LOST_MICROBATCH:
        emu_ledger_tell_lost(c, finding, why);
        return;
    case EMU_CLASS_TOKEN_WEIGHT:
        emu_ledger_tell_weights(c, finding, why);
        return;
    default:
        emu_ledger_tell_factor(c, finding, why);
    }
}

/* A factor that one pipeline stage alone got wrong: its ranks are to blame. */
static void tell_stage(const struct emu_ledger_case *c, struct emu_finding *finding,
                       struct emu_text *why)
{
    const struct emu_mesh *mesh = plan_of(c)->roster.mesh;
    uint32_t stage = 0;
    if (c->judgement.class_id != EMU_CLASS_WRONG_SCALE ||
        !emu_ledger_one_stage(c->evidence, c->ledger, &stage))
        return;
    emu_text_printf(why,
                    "\ncause: a factor of pipeline stage %u alone; the gradients of the other "
                    "stages are right",
                    (unsigned)stage);
    emu_finding_axis(finding, "pp");
    for (uint32_t rank = 0; rank < mesh->world; rank++)
        if (emu_mesh_coord(mesh, rank, "pp") == stage)
            emu_finding_culprit(finding, rank);
}

void emu_ledger_report(const struct emu_ledger_case *c, struct emu_audit *audit)
{
    struct emu_finding *finding = emu_findings_add(&audit->findings, c->judgement.class_id);
    if (!finding) {
        emu_audit_no_memory(audit, EMU_CHECK_LEDGER);
        return;
    }
    struct emu_text why = {0};
    tell(c, finding, &why);
    tell_stage(c, finding, &why);
    if (why.size > 0)
        emu_finding_set_text(&finding->explanation, "%s", emu_text_get(&why));
    emu_text_finish(&why);
    emu_finding_parameters(finding, plan_of(c), &c->tensors);
    put_coefficients(c, finding);
    put_values(c, finding);
}
