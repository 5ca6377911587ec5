#include "check/audit_parts.h"
#include "check/chunk_tiling.h"
#include "check/evidence.h"

#include <inttypes.h>
#include <stdlib.h>

/* The ranks that share all coordinates but tp hold one copy of each tensor between them: along the
 * split dimension their blocks, put in order, must follow on each other from 0 to the end, and each
 * must be whole along the other dimension. */

/* Part of the split dimension that a rank holds. */
struct part {
    uint32_t rank;
    uint64_t start, count;
};

/* What is wrong with blocks of the ranks of the same tp coordinates: one finding. */
struct fault_case {
    struct emu_marks coordinates; /* tp coordinates of the culprits */
    struct emu_marks culprits, ranks, tensors;
    struct emu_text problems; /* of its first tensor */
    size_t problem_count;
    uint32_t first_tensor, first_rank;
};

struct sweep {
    const struct emu_evidence *evidence;
    struct part *parts;       /* tp entries */
    struct fault_case *cases; /* owned */
    size_t case_count;
    bool failed; /* memory */
    uint64_t compared, differed;
};

static void finish_case(struct fault_case *one)
{
    emu_marks_finish(&one->coordinates);
    emu_marks_finish(&one->culprits);
    emu_marks_finish(&one->ranks);
    emu_marks_finish(&one->tensors);
    emu_text_finish(&one->problems);
}

static uint32_t tp_size(const struct sweep *sweep)
{
    return emu_mesh_size(emu_evidence_mesh(sweep->evidence), "tp");
}

/* The rank at this tp coordinate that shares all else with `rank`. */
static uint32_t peer_at(const struct sweep *sweep, uint32_t rank, uint32_t coordinate)
{
    const struct emu_mesh *mesh = emu_evidence_mesh(sweep->evidence);
    int axis = emu_mesh_find(mesh, "tp");
    if (axis < 0)
        return rank;
    uint32_t coords[EMU_MESH_MAX_AXES];
    emu_mesh_coords(mesh, rank, coords);
    coords[axis] = coordinate;
    return emu_mesh_rank(mesh, coords);
}

static bool is_as_planned(const struct sweep *sweep, uint32_t rank, uint32_t tensor)
{
    struct emu_block plan =
        emu_tensor_block(sweep->evidence->plan, tensor, emu_evidence_tp(sweep->evidence, rank));
    const struct emu_tensor_record *record = emu_evidence_tensor(sweep->evidence, rank, tensor);
    if (record->rows == 0 || record->columns == 0)
        return plan.rows == 0 || plan.columns == 0;
    return record->first_row == plan.first_row && record->rows == plan.rows &&
           record->first_column == plan.first_column && record->columns == plan.columns;
}

/* The case of these coordinates, made where there is none; NULL: memory. Takes coordinates over. */
static struct fault_case *case_of(struct sweep *sweep, struct emu_marks *coordinates)
{
    for (size_t i = 0; i < sweep->case_count; i++)
        if (emu_marks_equal(&sweep->cases[i].coordinates, coordinates)) {
            emu_marks_finish(coordinates);
            return &sweep->cases[i];
        }
    struct fault_case *longer =
        realloc(sweep->cases, (sweep->case_count + 1) * sizeof *sweep->cases);
    if (!longer) {
        emu_marks_finish(coordinates);
        return NULL;
    }
    sweep->cases = longer;
    struct fault_case *made = &longer[sweep->case_count++];
    *made = (struct fault_case){.coordinates = *coordinates};
    uint32_t world = emu_evidence_world(sweep->evidence);
    bool room = emu_marks_init(&made->culprits, world) && emu_marks_init(&made->ranks, world) &&
                emu_marks_init(&made->tensors, sweep->evidence->plan->tensor_count);
    return room ? made : NULL;
}

/* Enter a bad tensor of the ranks first .. first+tp-1; NULL: memory. */
static struct fault_case *enter_case(struct sweep *sweep, uint32_t rank, uint32_t tensor)
{
    struct emu_marks coordinates;
    uint32_t tp = tp_size(sweep);
    if (!emu_marks_init(&coordinates, tp))
        return NULL;
    for (uint32_t i = 0; i < tp; i++)
        coordinates.at[i] = !is_as_planned(sweep, peer_at(sweep, rank, i), tensor);
    struct fault_case *one = case_of(sweep, &coordinates);
    if (!one)
        return NULL;
    if (emu_marks_count(&one->tensors) == 0) {
        one->first_tensor = tensor;
        one->first_rank = rank;
    }
    one->tensors.at[tensor] = true;
    for (uint32_t i = 0; i < tp; i++) {
        uint32_t peer = peer_at(sweep, rank, i);
        one->ranks.at[peer] = true;
        if (one->coordinates.at[i])
            one->culprits.at[peer] = true;
    }
    return one;
}

/* A problem of one tensor in one group is described once, the others only counted in. */
static struct emu_text *problem_text(struct sweep *sweep, uint32_t rank, uint32_t tensor)
{
    struct fault_case *one = enter_case(sweep, rank, tensor);
    sweep->failed = sweep->failed || !one;
    sweep->differed++;
    if (!one || one->first_tensor != tensor || one->first_rank != rank)
        return NULL;
    if (one->problem_count++ >= 4)
        return NULL;
    emu_text_puts(&one->problems, one->problem_count > 1 ? "; " : "");
    return &one->problems;
}

/* "row 3 is", "rows 4 to 7 are" */
static void add_run(struct emu_text *out, const struct emu_tensor_plan *tensor, uint64_t start,
                    uint64_t end)
{
    const char *word = tensor->over_tp.dimension == 0 ? "row" : "column";
    if (end - start == 1)
        emu_text_printf(out, "%s %" PRIu64 " is", word, start);
    else
        emu_text_printf(out, "%ss %" PRIu64 " to %" PRIu64 " are", word, start, end - 1);
}

/* A block that reaches out of the tensor or is not whole where it should be; true: it is fine. */
static bool check_block(struct sweep *sweep, uint32_t group, uint32_t rank, uint32_t tensor)
{
    const struct emu_tensor_record *record = emu_evidence_tensor(sweep->evidence, rank, tensor);
    const struct emu_tensor_plan *plan = &sweep->evidence->plan->tensors[tensor];
    bool split = plan->over_tp.kind == EMU_SHARD;
    bool by_rows = split && plan->over_tp.dimension == 0;
    bool by_columns = split && plan->over_tp.dimension == 1;
    bool empty = split && (by_rows ? record->rows : record->columns) == 0;
    bool inside = emu_evidence_in_bounds(sweep->evidence, rank, tensor);
    bool whole =
        (by_rows || record->rows == plan->rows) && (by_columns || record->columns == plan->columns);
    if (inside && (whole || empty))
        return true;
    struct emu_text *out = problem_text(sweep, group, tensor);
    if (out)
        emu_text_printf(
            out,
            "rank %" PRIu32 " holds %" PRIu64 " x %" PRIu64 " elements from row %" PRIu64
            ", column %" PRIu64 " on, %s",
            rank, record->rows, record->columns, record->first_row, record->first_column,
            !inside ? "which reach out of the tensor" : "which leave out some of each part");
    return false;
}

static int compare_parts(const void *a, const void *b)
{
    const struct part *p = a, *q = b;
    if (p->start != q->start)
        return p->start < q->start ? -1 : 1;
    return p->rank < q->rank ? -1 : p->rank > q->rank;
}

static void report_gap(struct sweep *sweep, uint32_t group, uint32_t tensor, uint64_t from,
                       uint64_t to)
{
    struct emu_text *out = problem_text(sweep, group, tensor);
    if (!out)
        return;
    add_run(out, &sweep->evidence->plan->tensors[tensor], from, to);
    emu_text_puts(out, " on no rank");
}

static void report_overlap(struct sweep *sweep, uint32_t group, uint32_t tensor,
                           const struct part *a, const struct part *b)
{
    struct emu_text *out = problem_text(sweep, group, tensor);
    if (!out)
        return;
    uint64_t end_a = a->start + a->count, end_b = b->start + b->count;
    add_run(out, &sweep->evidence->plan->tensors[tensor], b->start, end_a < end_b ? end_a : end_b);
    emu_text_printf(out, " on rank %" PRIu32 " and on rank %" PRIu32, a->rank, b->rank);
}

/* parts in order of their start. */
static void sweep_parts(struct sweep *sweep, uint32_t group, uint32_t tensor, uint32_t count)
{
    const struct emu_tensor_plan *plan = &sweep->evidence->plan->tensors[tensor];
    uint64_t all = plan->over_tp.dimension == 0 ? plan->rows : plan->columns;
    uint64_t covered = 0;
    const struct part *last = NULL;
    for (uint32_t i = 0; i < count; i++) {
        const struct part *part = &sweep->parts[i];
        if (part->start > covered)
            report_gap(sweep, group, tensor, covered, part->start);
        else if (part->start < covered)
            report_overlap(sweep, group, tensor, last, part);
        if (part->start + part->count > covered) {
            covered = part->start + part->count;
            last = part;
        }
    }
    if (covered < all)
        report_gap(sweep, group, tensor, covered, all);
}

/* group: the rank at tp coordinate 0. */
static void check_group(struct sweep *sweep, uint32_t group, uint32_t tensor)
{
    const struct emu_tensor_plan *plan = &sweep->evidence->plan->tensors[tensor];
    uint32_t tp = tp_size(sweep), count = 0;
    bool good = true;
    for (uint32_t i = 0; i < tp; i++) {
        uint32_t rank = peer_at(sweep, group, i);
        good = check_block(sweep, group, rank, tensor) && good;
        const struct emu_tensor_record *record = emu_evidence_tensor(sweep->evidence, rank, tensor);
        bool by_rows = plan->over_tp.dimension == 0;
        struct part part = {.rank = rank,
                            .start = by_rows ? record->first_row : record->first_column,
                            .count = by_rows ? record->rows : record->columns};
        if (part.count > 0)
            sweep->parts[count++] = part;
        sweep->compared++;
    }
    if (plan->over_tp.kind != EMU_SHARD || !good)
        return;
    qsort(sweep->parts, count, sizeof *sweep->parts, compare_parts);
    sweep_parts(sweep, group, tensor, count);
}

static void report_case(const struct sweep *sweep, struct fault_case *one, struct emu_audit *audit)
{
    const struct emu_plan *plan = sweep->evidence->plan;
    struct emu_finding *finding = emu_findings_add(&audit->findings, EMU_CLASS_SHARD_TILING);
    if (!finding)
        return;
    const struct emu_tensor_plan *tensor = &plan->tensors[one->first_tensor];
    emu_finding_message(
        finding, "the parts of %s (%" PRIu64 " x %" PRIu64 ") do not hold each element once: %s",
        tensor->name, tensor->rows, tensor->columns, emu_text_get(&one->problems));
    if (emu_mesh_find(plan->roster.mesh, "tp") >= 0)
        emu_finding_axis(finding, "tp");
    uint32_t group;
    if (plan->tp_family != UINT32_MAX &&
        emu_roster_group_of(&plan->roster, plan->tp_family, one->first_rank, &group) == EMU_OK)
        emu_finding_group(finding, &plan->roster, group);
    else
        emu_finding_ranks(finding, &one->first_rank, 1);
    emu_finding_culprits(finding, &one->culprits);
    finding->undecided = finding->culprit_count == 0;
    emu_finding_parameters(finding, plan, &one->tensors);
}

void emu_check_tiling(const struct emu_evidence *evidence, struct emu_audit *audit)
{
    struct sweep sweep = {.evidence = evidence};
    size_t before = audit->findings.count;
    uint32_t world = emu_evidence_world(evidence);
    sweep.parts = malloc(tp_size(&sweep) * sizeof *sweep.parts);
    sweep.failed = !sweep.parts;
    for (uint32_t rank = 0; rank < world && !sweep.failed; rank++)
        for (uint32_t tensor = 0; tensor < evidence->plan->tensor_count; tensor++)
            if (emu_evidence_tp(evidence, rank) == 0 && emu_evidence_holds(evidence, rank, tensor))
                check_group(&sweep, rank, tensor);
    if (!sweep.failed)
        sweep.differed += emu_check_chunks(evidence, audit, &sweep.compared);
    if (sweep.failed)
        emu_audit_no_memory(audit, EMU_CHECK_TILING);
    else
        emu_audit_count(audit, EMU_CHECK_TILING, sweep.compared, sweep.differed);
    for (size_t i = 0; i < sweep.case_count; i++) {
        if (!sweep.failed)
            report_case(&sweep, &sweep.cases[i], audit);
        finish_case(&sweep.cases[i]);
    }
    emu_audit_fold(audit, before, evidence->step);
    free(sweep.cases);
    free(sweep.parts);
}
