/* Is the norm that the ranks clip by the norm of the gradient, each unique parameter once? */
#include "base/number.h"
#include "check/audit_parts.h"
#include "check/evidence.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>

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
        uint64_t n = emu_evidence_elements(emu_evidence_tensor(evidence, rank, tensor));
        for (uint64_t e = 0; e < n; e++) {
            double value = emu_evidence_value(evidence, rank, tensor, EMU_STATE_GRADIENT, e);
            sum += value * value;
        }
        *elements += n;
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

static const char *reason_of(enum emu_norm_count norm)
{
    switch (norm) {
    case EMU_COUNT_LOCAL:
        return "norm: local counts what one rank holds: shards and stages of others are left out";
    case EMU_COUNT_REPLICAS:
        return "norm: replicas counts every copy: each element once for every rank that holds it";
    case EMU_COUNT_UNIQUE:
        break;
    }
    return "a part was left out or counted twice on the way";
}

static void report(const struct emu_evidence *evidence, double wanted, uint32_t rank,
                   struct emu_finding *finding)
{
    char number[2][EMU_NUMBER_MAX];
    double got = evidence->records[rank]->grad_norm;
    emu_finding_set_text(&finding->expected, "%s", emu_number_f64(wanted, number[0]));
    emu_finding_set_text(&finding->got, "%s", emu_number_f64(got, number[1]));
    emu_finding_set_text(&finding->explanation, "%s", reason_of(evidence->plan->recipe.norm));
    emu_finding_message(finding,
                        "step %" PRIu64 ": the norm of the gradient is %s on rank %" PRIu32
                        ", but %s with each unique parameter counted once%s",
                        evidence->step, number[1], rank, number[0],
                        evidence->plan->recipe.clipped ? "; gradients were clipped by it" : "");
}

bool emu_check_norm(const struct emu_evidence *evidence, struct emu_audit *audit)
{
    uint64_t elements = 0;
    double squares = 0.0;
    for (uint32_t i = 0; i < evidence->plan->tensor_count; i++)
        squares += squares_of(evidence, i, &elements);
    double wanted = sqrt(squares);
    if (!isfinite(wanted) || (squares < DBL_MIN && squares > 0.0))
        return false; /* non-finite values are another check's; squares that underflow prove nothing
                       */
    uint32_t wrong = 0;
    uint32_t world = emu_evidence_world(evidence);
    struct emu_finding *finding = NULL;
    for (uint32_t rank = 0; rank < world; rank++) {
        double got = evidence->records[rank]->grad_norm;
        if (fabs(got - wanted) <= wanted * tolerance(evidence->plan, elements))
            continue;
        if (!finding)
            finding = emu_findings_add(&audit->findings, EMU_CLASS_WRONG_NORM);
        if (finding && wrong == 0)
            report(evidence, wanted, rank, finding);
        wrong++;
    }
    for (uint32_t rank = 0; finding && wrong < world && rank < world; rank++)
        if (!(fabs(evidence->records[rank]->grad_norm - wanted) <=
              wanted * tolerance(evidence->plan, elements)))
            emu_finding_culprit(finding, rank);
    return wrong > 0;
}
