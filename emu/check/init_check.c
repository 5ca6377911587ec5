#include "base/number.h"
#include "check/audit_parts.h"
#include "check/evidence.h"

#include <inttypes.h>
#include <string.h>

/* Which tensors are not as drawn, rank by rank: wrong.at[rank * tensors + tensor]. */
struct look {
    const struct emu_evidence *evidence;
    struct emu_marks wrong;
    uint64_t compared, differed;
};

static uint32_t tensors_of(const struct look *look)
{
    return look->evidence->plan->tensor_count;
}

static bool *wrong_at(const struct look *look, uint32_t rank, uint32_t tensor)
{
    return &look->wrong.at[(size_t)rank * tensors_of(look) + tensor];
}

static bool same_bits(double a, double b)
{
    return memcmp(&a, &b, sizeof a) == 0;
}

/* Elements of the block that are not as drawn; *first is the first of them. */
static uint64_t count_wrong(const struct emu_evidence *evidence, uint32_t rank, uint32_t tensor,
                            uint64_t *first)
{
    uint64_t elements = emu_evidence_elements(emu_evidence_tensor(evidence, rank, tensor));
    uint64_t wrong = 0;
    for (uint64_t local = elements; local-- > 0;) {
        uint64_t logical = emu_evidence_logical(evidence, rank, tensor, local);
        double drawn = emu_plan_draw(evidence->plan, tensor, logical);
        if (same_bits(drawn, emu_evidence_value(evidence, rank, tensor, EMU_STATE_WEIGHT, local)))
            continue;
        wrong++;
        *first = local;
    }
    return wrong;
}

static bool is_copy_of(const struct emu_evidence *evidence, uint32_t rank, uint32_t other,
                       uint32_t tensor)
{
    const struct emu_tensor_record *a = emu_evidence_tensor(evidence, rank, tensor);
    const struct emu_tensor_record *b = emu_evidence_tensor(evidence, other, tensor);
    return emu_evidence_same_block(a, b) && emu_hash_equal(a->weight_hash, b->weight_hash);
}

/* Draws are compared on one rank for each block; equal hashes carry its answer to the copies. */
static void look_at(struct look *look, uint32_t rank, uint32_t tensor, uint32_t reference)
{
    uint64_t first;
    bool wrong;
    if (rank != reference && is_copy_of(look->evidence, rank, reference, tensor))
        wrong = *wrong_at(look, reference, tensor);
    else
        wrong = count_wrong(look->evidence, rank, tensor, &first) > 0;
    *wrong_at(look, rank, tensor) = wrong;
    look->compared++;
    look->differed += wrong;
}

static void look_at_all(struct look *look, bool references)
{
    const struct emu_evidence *evidence = look->evidence;
    for (uint32_t tensor = 0; tensor < tensors_of(look); tensor++)
        for (uint32_t rank = 0; rank < emu_evidence_world(evidence); rank++) {
            uint32_t reference = emu_evidence_holder(evidence, rank, tensor);
            bool readable = emu_evidence_holds(evidence, rank, tensor) &&
                            emu_evidence_in_bounds(evidence, rank, tensor);
            if ((rank == reference) == references && readable)
                look_at(look, rank, tensor, reference);
        }
}

static struct emu_marks tensors_wrong_on(const struct look *look, uint32_t rank)
{
    return (struct emu_marks){.at = wrong_at(look, rank, 0), .size = tensors_of(look)};
}

static void describe(struct emu_finding *finding, const struct look *look, uint32_t rank)
{
    const struct emu_evidence *evidence = look->evidence;
    struct emu_marks tensors = tensors_wrong_on(look, rank);
    uint32_t tensor = 0;
    while (!tensors.at[tensor])
        tensor++;
    uint64_t local = 0;
    uint64_t count = count_wrong(evidence, rank, tensor, &local);
    const struct emu_tensor_record *record = emu_evidence_tensor(evidence, rank, tensor);
    struct emu_element at = emu_evidence_element(record, local);
    double drawn =
        emu_plan_draw(evidence->plan, tensor, emu_evidence_logical(evidence, rank, tensor, local));
    char text[EMU_NUMBER_MAX];
    emu_finding_set_text(&finding->expected, "%s", emu_number_f64(drawn, text));
    emu_finding_set_text(
        &finding->got, "%s",
        emu_number_f64(emu_evidence_value(evidence, rank, tensor, EMU_STATE_WEIGHT, local), text));
    struct emu_text words = {0};
    emu_tensors_words(&words, evidence->plan, &tensors);
    emu_finding_message(finding,
                        "before the first step %s is not what seed %" PRIu64
                        " draws; in %s %" PRIu64 " of %" PRIu64
                        " elements differ, first at row %" PRIu64 ", column %" PRIu64,
                        emu_text_get(&words), evidence->plan->config->train.seed,
                        evidence->plan->tensors[tensor].name, count, emu_evidence_elements(record),
                        at.row, at.column);
    emu_text_finish(&words);
}

/* Ranks on which the same tensors are wrong share a cause. taken: ranks that a finding names. */
static void report_like(struct look *look, uint32_t rank, struct emu_marks *taken,
                        struct emu_audit *audit)
{
    struct emu_marks tensors = tensors_wrong_on(look, rank);
    struct emu_finding *finding = emu_findings_add(&audit->findings, EMU_CLASS_INIT_MISMATCH);
    for (uint32_t other = rank; other < taken->size; other++) {
        struct emu_marks others = tensors_wrong_on(look, other);
        if (!emu_marks_equal(&tensors, &others))
            continue;
        taken->at[other] = true;
        if (finding)
            emu_finding_culprit(finding, other);
    }
    if (!finding)
        return;
    emu_finding_parameters(finding, look->evidence->plan, &tensors);
    describe(finding, look, rank);
}

void emu_check_init(const struct emu_evidence *evidence, struct emu_audit *audit)
{
    uint32_t world = emu_evidence_world(evidence);
    size_t before = audit->findings.count;
    struct look look = {.evidence = evidence};
    struct emu_marks taken = {0};
    if (emu_marks_init(&look.wrong, (size_t)world * evidence->plan->tensor_count) &&
        emu_marks_init(&taken, world)) {
        look_at_all(&look, true);
        look_at_all(&look, false);
        emu_audit_count(audit, EMU_CHECK_INIT, look.compared, look.differed);
        for (uint32_t rank = 0; rank < world && look.differed > 0; rank++) {
            struct emu_marks tensors = tensors_wrong_on(&look, rank);
            if (!taken.at[rank] && emu_marks_count(&tensors) > 0)
                report_like(&look, rank, &taken, audit);
        }
    } else {
        emu_audit_no_memory(audit, EMU_CHECK_INIT);
    }
    emu_audit_fold(audit, before, evidence->step);
    emu_marks_finish(&look.wrong);
    emu_marks_finish(&taken);
}
