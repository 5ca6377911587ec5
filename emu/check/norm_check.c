/* Is the norm that the ranks clip by the norm of the gradient, each unique parameter once? */
#include "base/number.h"
#include "check/audit_parts.h"
#include "check/evidence.h"
#include "check/norm_parts.h"
#include "ledger/explain.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define RANKS_SHOWN 8

/* Sum of squares of one tensor, from the first holders of its parts. */
static double squares_of(const struct emu_evidence *evidence, uint32_t tensor, uint64_t *elements)
{
    const struct emu_mesh *mesh = emu_evidence_mesh(evidence);
    uint32_t parts = emu_tensor_is_shard(evidence->plan, tensor) ? evidence->plan->tp : 1;
    double sum = 0.0;
    for (uint32_t part = 0; part < parts; part++) {
        uint32_t coords[EMU_MESH_MAX_AXES] = {0};
        int tp = emu_mesh_find(mesh, "tp");
        int pp = emu_mesh_find(mesh, "pp");
        if (tp >= 0)
            coords[tp] = part;
        if (pp >= 0)
            coords[pp] = evidence->plan->tensors[tensor].stage;
        uint32_t rank = emu_mesh_rank(mesh, coords);
        struct emu_evidence_run run = {.rank = rank, .tensor = tensor, .state = EMU_STATE_GRADIENT};
        for (; emu_evidence_next(evidence, &run); *elements += run.count)
            for (uint64_t i = 0; i < run.count; i++)
                sum += run.values[i] * run.values[i];
    }
    return sum;
}

/* Two sums of the same n squares in any order, and a square root, differ at most by this factor of
 * the result: 2 gamma_(n+2), Higham section 3.1, in the arithmetic of the run. */
static double tolerance(const struct emu_plan *plan, uint64_t elements)
{
    double unit = (plan->dtype == EMU_F32 ? (double)FLT_EPSILON : DBL_EPSILON) / 2.0;
    double n = (double)elements + 4.0;
    return 2.0 * n * unit / (1.0 - n * unit);
}

static bool differs(const struct emu_evidence *evidence, uint32_t rank, double wanted,
                    double allowed)
{
    return !(fabs(evidence->records[rank]->grad_norm - wanted) <= allowed);
}

static uint32_t holders_of(const struct emu_evidence *evidence, uint32_t tensor)
{
    uint32_t holders = 0;
    for (uint32_t rank = 0; rank < emu_evidence_world(evidence); rank++) {
        uint32_t coords[EMU_MESH_MAX_AXES];
        int pp = emu_mesh_find(emu_evidence_mesh(evidence), "pp");
        emu_mesh_coords(emu_evidence_mesh(evidence), rank, coords);
        holders += emu_tensor_held(evidence->plan, tensor, pp >= 0 ? coords[pp] : 0);
    }
    return holders;
}

/* How many ranks keep the gradient of each element of a tensor. */
static uint32_t copies_of(const struct emu_evidence *evidence, uint32_t tensor)
{
    uint32_t parts = emu_tensor_is_shard(evidence->plan, tensor) ? evidence->plan->tp : 1;
    if (emu_plan_shards_gradients(evidence->plan))
        parts *= evidence->plan->shard_parts;
    return holders_of(evidence, tensor) / parts;
}

/* The sizes whose product is `copies`, alone or as "dp*cp"; false: no product of axes. */
static bool put_axes(const struct emu_evidence *evidence, uint32_t copies, struct emu_text *out)
{
    const struct emu_mesh *mesh = emu_evidence_mesh(evidence);
    struct emu_known_size sizes[EMU_EXPLAIN_MAX_SIZES];
    struct emu_text text = {0};
    size_t count = 0;
    for (uint32_t a = 0; a < mesh->axis_count && count < EMU_EXPLAIN_MAX_SIZES; a++)
        sizes[count++] = (struct emu_known_size){
            .name = mesh->axes[a].name, .words = mesh->axes[a].name, .size = mesh->axes[a].size};
    bool found = emu_explain(emu_rational_whole(copies), sizes, count, &text);
    const char *product = strstr(emu_text_get(&text), " = ");
    if (found && product)
        emu_text_puts(out, product + 3);
    emu_text_finish(&text);
    return found && product;
}

/* Copies counted: "1.414 = sqrt(dp)" where every element has as many, else which have how many.
 * False where that does not give this norm. */
static bool tell_copies(const struct emu_evidence *evidence, double wanted, double got,
                        struct emu_finding *finding, struct emu_text *why)
{
    const struct emu_plan *plan = evidence->plan;
    double squares = 0.0;
    uint64_t elements = 0;
    uint32_t most = 0, least = UINT32_MAX, often = 0, first = 0;
    for (uint32_t i = 0; i < plan->tensor_count; i++) {
        uint32_t copies = copies_of(evidence, i);
        squares += copies * squares_of(evidence, i, &elements);
        first = copies > most ? i : first;
        often = copies > most ? 1 : often + (copies == most);
        most = copies > most ? copies : most;
        least = copies < least ? copies : least;
    }
    elements *= most;
    if (fabs(got - sqrt(squares)) > sqrt(squares) * tolerance(plan, elements))
        return false;
    if (least == most) {
        struct emu_text axes = {0};
        bool named = put_axes(evidence, most, &axes);
        emu_text_printf(why, "ratio %.4g = sqrt(%s): ", got / wanted,
                        named ? emu_text_get(&axes) : "number of copies");
        emu_text_finish(&axes);
    }
    emu_text_printf(why, "norm: replicas counts every copy of an element, ");
    if (least == most) {
        emu_text_printf(why, "each %" PRIu32 " times", most);
        return true;
    }
    for (uint32_t i = 0; i < plan->tensor_count; i++)
        if (copies_of(evidence, i) == most)
            emu_finding_parameter(finding, plan->tensors[i].name);
    emu_text_printf(why, "%" PRIu32 " times those of %s", most, plan->tensors[first].name);
    if (often > 1)
        emu_text_printf(why, " and %" PRIu32 " more", often - 1);
    emu_text_printf(why,
                    least == 1 ? ", once those of others"
                               : ", %" PRIu32 " times those of "
                                 "others at least",
                    least);
    return true;
}

/* "rank 0 has 0.41, rank 1 0.52, ...". */
static void tell_each(const struct emu_evidence *evidence, struct emu_text *why)
{
    uint32_t world = emu_evidence_world(evidence);
    emu_text_puts(why, "\nnorms: ");
    for (uint32_t rank = 0; rank < world && rank < RANKS_SHOWN; rank++)
        emu_text_printf(why, "%s%.4g on rank %" PRIu32, rank > 0 ? ", " : "",
                        evidence->records[rank]->grad_norm, rank);
    if (world > RANKS_SHOWN)
        emu_text_printf(why, ", ... (%" PRIu32 " ranks)", world);
}

static void tell_reason(const struct emu_evidence *evidence, double wanted, double allowed,
                        uint32_t rank, struct emu_finding *finding)
{
    struct emu_text why = {0};
    double got = evidence->records[rank]->grad_norm;
    enum emu_norm_count norm = evidence->plan->recipe.norm;
    if (norm == EMU_COUNT_LOCAL)
        emu_text_puts(&why, "norm: local counts what one rank holds: shards and stages of others "
                            "are left out");
    else if (norm == EMU_COUNT_REPLICAS) {
        if (wanted <= 0.0 || !tell_copies(evidence, wanted, got, finding, &why))
            emu_text_puts(&why, "norm: replicas counts every copy of an element");
    } else if (!emu_norm_tell(evidence, wanted, allowed / wanted, finding, &why)) {
        emu_text_puts(&why, "a part was left out or counted twice on the way");
    }
    if (norm == EMU_COUNT_LOCAL)
        tell_each(evidence, &why);
    emu_finding_set_text(&finding->explanation, "%s", emu_text_get(&why));
    emu_text_finish(&why);
}

static void report(const struct emu_evidence *evidence, double wanted, double allowed,
                   uint32_t rank, struct emu_finding *finding)
{
    char number[2][EMU_NUMBER_MAX];
    double got = evidence->records[rank]->grad_norm;
    emu_finding_set_text(&finding->expected, "%s", emu_number_f64(wanted, number[0]));
    emu_finding_set_text(&finding->got, "%s", emu_number_f64(got, number[1]));
    tell_reason(evidence, wanted, allowed, rank, finding);
    emu_finding_message(finding,
                        "step %" PRIu64 ": the norm of the gradient is %.6g on rank %" PRIu32
                        ", but %.6g with each unique parameter counted once%s",
                        evidence->step, got, rank, wanted,
                        evidence->plan->recipe.clipped ? "; gradients were clipped by it" : "");
}

static bool same_part(const struct emu_tensor_record *a, const struct emu_tensor_record *b)
{
    return a->first_row == b->first_row && a->rows == b->rows &&
           a->first_column == b->first_column && a->columns == b->columns &&
           a->gradient_part.start == b->gradient_part.start &&
           a->gradient_part.count == b->gradient_part.count;
}

/* Do all ranks that hold the same part of a gradient hold the same bits? Compared with the first
 * holder of each part: ranks of one part follow each other in few steps. */
static bool copies_agree(const struct emu_evidence *evidence)
{
    uint32_t world = emu_evidence_world(evidence);
    for (uint32_t i = 0; i < evidence->plan->tensor_count; i++)
        for (uint32_t rank = 1; rank < world; rank++) {
            const struct emu_tensor_record *own = &evidence->records[rank]->tensors[i];
            uint32_t first = 0;
            while (first < rank && !same_part(own, &evidence->records[first]->tensors[i]))
                first++;
            if (!emu_hash_equal(own->gradient_hash,
                                evidence->records[first]->tensors[i].gradient_hash))
                return false;
        }
    return true;
}

bool emu_check_norm(const struct emu_evidence *evidence, struct emu_audit *audit)
{
    if (!copies_agree(evidence)) /* the norms differ for that; the replica check names it */
        return false;
    uint64_t elements = 0;
    double squares = 0.0;
    for (uint32_t i = 0; i < evidence->plan->tensor_count; i++)
        squares += squares_of(evidence, i, &elements);
    double wanted = sqrt(squares);
    if (!isfinite(wanted) || (squares < DBL_MIN && squares > 0.0))
        return false; /* non-finite values are another check's; squares that underflow prove nothing
                       */
    double allowed = wanted * tolerance(evidence->plan, elements);
    uint32_t wrong = 0;
    uint32_t world = emu_evidence_world(evidence);
    struct emu_finding *finding = NULL;
    for (uint32_t rank = 0; rank < world; rank++) {
        if (!differs(evidence, rank, wanted, allowed))
            continue;
        if (!finding)
            finding = emu_findings_add(&audit->findings, EMU_CLASS_WRONG_NORM);
        if (finding && wrong == 0)
            report(evidence, wanted, allowed, rank, finding);
        wrong++;
    }
    for (uint32_t rank = 0; finding && wrong < world && rank < world; rank++)
        if (differs(evidence, rank, wanted, allowed))
            emu_finding_culprit(finding, rank);
    return wrong > 0;
}
