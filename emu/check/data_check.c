#include "check/audit_parts.h"
#include "check/evidence.h"
#include "check/split.h"

#include <inttypes.h>
#include <stdlib.h>

/* Ranks with one pair of dp and cp coordinates own the same tokens. Those of one dp coordinate read
 * the same sequences; those of different ones share the batch of the step. Sequence numbers are
 * counted through all steps: step s begins at (s-1) * batch. */

/* What a rank of this dp coordinate has to read. */
static struct emu_slice planned(const struct emu_evidence *evidence, uint32_t dp)
{
    const struct emu_plan *plan = evidence->plan;
    struct emu_slice shard = emu_slice_chunk(plan->batch, plan->dp, dp);
    shard.start += (evidence->step - 1) * plan->batch;
    return shard;
}

static uint32_t dp_of(const struct emu_evidence *evidence, uint32_t rank)
{
    return emu_mesh_coord(emu_evidence_mesh(evidence), rank, "dp");
}

static bool same_range(const struct emu_step_record *a, const struct emu_step_record *b)
{
    return a->sequences == b->sequences &&
           (a->sequences == 0 || a->first_sequence == b->first_sequence);
}

static bool reads_as_planned(const struct emu_evidence *evidence, uint32_t rank)
{
    const struct emu_step_record *record = evidence->records[rank];
    struct emu_slice plan = planned(evidence, dp_of(evidence, rank));
    return record->sequences == plan.count &&
           (plan.count == 0 || record->first_sequence == plan.start);
}

static bool same_examples(const void *context, uint32_t a, uint32_t b)
{
    const struct emu_evidence *evidence = context;
    const struct emu_step_record *p = evidence->records[a], *q = evidence->records[b];
    return same_range(p, q) && emu_hash_equal(p->batch_hash, q->batch_hash);
}

static void add_range(struct emu_text *out, uint64_t first, uint64_t count)
{
    if (count == 0)
        emu_text_puts(out, "no sequence");
    else if (count == 1)
        emu_text_printf(out, "sequence %" PRIu64, first);
    else
        emu_text_printf(out, "sequences %" PRIu64 " to %" PRIu64, first, first + count - 1);
}

/* Ranks of the dp coordinate that are wrong: by the plan where the ranges tell, else the minority
 * (the examples behind the same numbers differ). All false: a tie. */
static void find_odd_readers(const struct emu_evidence *evidence, const struct emu_split *split,
                             struct emu_marks *odd)
{
    bool by_plan = false;
    for (uint32_t rank = 0; rank < split->world; rank++)
        by_plan = by_plan || (emu_split_contains(split, rank) && !reads_as_planned(evidence, rank));
    for (uint32_t rank = 0; rank < split->world; rank++)
        if (emu_split_contains(split, rank))
            odd->at[rank] =
                by_plan ? !reads_as_planned(evidence, rank) : emu_split_is_odd(split, rank);
}

/* "dp=0" or, where there are several cp coordinates, "dp=0,cp=1". */
static void put_owner(const struct emu_evidence *evidence, uint32_t rank, struct emu_text *out)
{
    emu_text_printf(out, "dp=%" PRIu32, dp_of(evidence, rank));
    if (evidence->plan->cp > 1)
        emu_text_printf(out, ",cp=%" PRIu32,
                        emu_mesh_coord(emu_evidence_mesh(evidence), rank, "cp"));
}

/* One finding for all owners of tokens whose ranks fall apart along the same axes. */
struct divergence {
    uint32_t axes;
    struct emu_finding *finding; /* borrowed; valid until the next finding is added */
    bool used;
};

static void describe_divergence(const struct emu_evidence *evidence, const struct emu_split *split,
                                struct emu_finding *finding)
{
    const struct emu_mesh *mesh = emu_evidence_mesh(evidence);
    for (uint32_t i = 0; i < mesh->axis_count; i++)
        if (split->axes >> i & 1)
            emu_finding_axis(finding, mesh->axes[i].name);
    struct emu_text text = {0};
    uint32_t *ranks = malloc(split->members * sizeof *ranks);
    size_t count = 0;
    for (uint32_t rank = 0; rank < split->world; rank++) {
        if (!emu_split_contains(split, rank))
            continue;
        if (ranks)
            ranks[count++] = rank;
        const struct emu_step_record *record = evidence->records[rank];
        emu_text_finish(&text);
        emu_text_puts(&text, "read ");
        add_range(&text, record->first_sequence, record->sequences);
        emu_text_printf(&text, ", hash %016" PRIx64, record->batch_hash.low);
        emu_finding_member(finding, rank, emu_text_get(&text), NULL);
    }
    emu_finding_ranks(finding, ranks, count);
    free(ranks);
    emu_text_finish(&text);
    struct emu_text owner = {0};
    put_owner(evidence, emu_split_first(split, 0), &owner);
    emu_finding_message(finding,
                        "step %" PRIu64 ": the ranks of %s read different examples, though they "
                        "work on the same ones",
                        evidence->step, emu_text_get(&owner));
    emu_text_finish(&owner);
}

/* The ranks that own the tokens of `owner` fall apart. false: memory. */
static bool report_divergence(const struct emu_evidence *evidence, uint32_t owner,
                              struct divergence *known, struct emu_audit *audit)
{
    struct emu_split split;
    struct emu_split_params params = {.mesh = emu_evidence_mesh(evidence),
                                      .axis = "dp",
                                      .coordinate = dp_of(evidence, owner),
                                      .axis_too = "cp",
                                      .coordinate_too =
                                          emu_mesh_coord(emu_evidence_mesh(evidence), owner, "cp"),
                                      .same = same_examples,
                                      .context = evidence};
    struct emu_marks odd;
    if (!emu_marks_init(&odd, emu_evidence_world(evidence)))
        return false;
    if (emu_split_init(&split, &params) != EMU_OK) {
        emu_marks_finish(&odd);
        return false;
    }
    if (known->used && known->axes == split.axes) {
        struct emu_text name = {0};
        put_owner(evidence, owner, &name);
        emu_finding_consequence(known->finding, "the ranks of %s do so too", emu_text_get(&name));
        emu_text_finish(&name);
    } else {
        known->finding = emu_findings_add(&audit->findings, EMU_CLASS_DATA_DIVERGENCE);
        known->used = known->finding != NULL;
        known->axes = split.axes;
        if (known->used)
            describe_divergence(evidence, &split, known->finding);
    }
    find_odd_readers(evidence, &split, &odd);
    if (known->used) {
        emu_finding_culprits(known->finding, &odd);
        known->finding->undecided = known->finding->culprit_count == 0;
    }
    emu_split_finish(&split);
    emu_marks_finish(&odd);
    return true;
}

/* Ranks that differ from the first one that owns the same tokens. */
static uint64_t check_peers(const struct emu_evidence *evidence, struct emu_audit *audit,
                            bool *failed)
{
    uint64_t differed = 0;
    struct emu_marks bad; /* owners */
    if (!emu_marks_init(&bad, emu_evidence_world(evidence))) {
        *failed = true;
        return 0;
    }
    for (uint32_t rank = 0; rank < emu_evidence_world(evidence); rank++) {
        uint32_t owner = emu_evidence_owner(evidence, rank);
        if (same_examples(evidence, rank, owner))
            continue;
        differed++;
        bad.at[owner] = true;
    }
    struct divergence known = {0};
    for (uint32_t owner = 0; owner < emu_evidence_world(evidence); owner++)
        if (bad.at[owner] && !report_divergence(evidence, owner, &known, audit))
            *failed = true;
    emu_marks_finish(&bad);
    return differed;
}

/* What the ranks of one dp coordinate read. */
struct reading {
    uint32_t dp;
    uint64_t start, count;
};

static int compare_readings(const void *a, const void *b)
{
    const struct reading *p = a, *q = b;
    if (p->start != q->start)
        return p->start < q->start ? -1 : 1;
    return p->dp < q->dp ? -1 : p->dp > q->dp;
}

struct cover {
    struct emu_text gaps, overlaps, strays;
    uint64_t differed;
};

static void start_part(struct cover *cover, struct emu_text *out)
{
    cover->differed++;
    emu_text_puts(out, out->size > 0 ? "; " : "");
}

static void note_gap(struct cover *cover, uint64_t from, uint64_t to)
{
    start_part(cover, &cover->gaps);
    add_range(&cover->gaps, from, to - from);
    emu_text_puts(&cover->gaps, to - from == 1 ? " is read by nobody" : " are read by nobody");
}

/* readings in order of start; empty ones left out. */
static void cover_batch(struct cover *cover, const struct reading *readings, size_t count,
                        struct emu_slice batch)
{
    uint64_t end = batch.start + batch.count, covered = batch.start;
    uint32_t last = 0;
    for (size_t i = 0; i < count; i++) {
        uint64_t from = readings[i].start, to = from + readings[i].count;
        if (from < batch.start || to > end || to < from) {
            start_part(cover, &cover->strays);
            emu_text_printf(&cover->strays, "dp=%" PRIu32 " reads ", readings[i].dp);
            add_range(&cover->strays, from, readings[i].count);
            emu_text_puts(&cover->strays, ", not all of this step");
        }
        if (from > covered && covered < end)
            note_gap(cover, covered, from < end ? from : end);
        if (from < covered && i > 0) {
            start_part(cover, &cover->overlaps);
            uint64_t twice = (to < covered ? to : covered) - from;
            add_range(&cover->overlaps, from, twice);
            emu_text_printf(&cover->overlaps, " %s read by dp=%" PRIu32 " and by dp=%" PRIu32,
                            twice == 1 ? "is" : "are", last, readings[i].dp);
        }
        if (to > covered) {
            covered = to;
            last = readings[i].dp;
        }
    }
    if (covered < end)
        note_gap(cover, covered, end);
}

static void report_cover(const struct emu_evidence *evidence, struct cover *cover,
                         struct emu_audit *audit)
{
    bool overlap = cover->overlaps.size > 0;
    struct emu_finding *finding =
        emu_findings_add(&audit->findings, overlap ? EMU_CLASS_DATA_OVERLAP : EMU_CLASS_DATA_GAP);
    if (!finding)
        return;
    struct emu_text *first = overlap ? &cover->overlaps : &cover->gaps;
    if (first->size == 0)
        first = &cover->strays;
    struct emu_text *all[] = {&cover->overlaps, &cover->gaps, &cover->strays};
    emu_finding_message(finding, "step %" PRIu64 ": %s", evidence->step, emu_text_get(first));
    for (size_t i = 0; i < 3; i++)
        if (all[i] != first && all[i]->size > 0)
            emu_finding_consequence(finding, "%s", emu_text_get(all[i]));
    if (emu_mesh_find(emu_evidence_mesh(evidence), "dp") >= 0)
        emu_finding_axis(finding, "dp");
    for (uint32_t rank = 0; rank < emu_evidence_world(evidence); rank++)
        if (!reads_as_planned(evidence, rank))
            emu_finding_culprit(finding, rank);
    finding->undecided = finding->culprit_count == 0;
}

/* Is every sequence of the step read by one dp coordinate? Its first rank speaks for each: all
 * agree. */
static uint64_t check_cover(const struct emu_evidence *evidence, struct emu_audit *audit,
                            bool *failed)
{
    const struct emu_plan *plan = evidence->plan;
    struct reading *readings = malloc(plan->dp * sizeof *readings);
    if (!readings) {
        *failed = true;
        return 0;
    }
    size_t count = 0;
    for (uint32_t rank = 0; rank < emu_evidence_world(evidence); rank++) {
        const struct emu_step_record *record = evidence->records[rank];
        if (record->sequences > 0 && emu_evidence_reference(evidence, rank, "dp") == rank)
            readings[count++] =
                (struct reading){dp_of(evidence, rank), record->first_sequence, record->sequences};
    }
    qsort(readings, count, sizeof *readings, compare_readings);
    struct cover cover = {0};
    struct emu_slice batch = {(evidence->step - 1) * plan->batch, plan->batch};
    cover_batch(&cover, readings, count, batch);
    if (cover.differed > 0)
        report_cover(evidence, &cover, audit);
    emu_text_finish(&cover.gaps);
    emu_text_finish(&cover.overlaps);
    emu_text_finish(&cover.strays);
    free(readings);
    return cover.differed;
}

static void report_tokens(const struct emu_evidence *evidence, uint64_t sum, uint64_t wrong,
                          struct emu_audit *audit)
{
    struct emu_finding *finding = emu_findings_add(&audit->findings, EMU_CLASS_WRONG_SCALE);
    if (!finding)
        return;
    uint32_t world = emu_evidence_world(evidence);
    uint64_t got = sum;
    for (uint32_t rank = world; rank-- > 0;)
        if (evidence->records[rank]->step_tokens != sum) {
            got = evidence->records[rank]->step_tokens;
            emu_finding_culprit(finding, rank);
        }
    emu_finding_message(finding,
                        "step %" PRIu64 ": gradients are divided by %" PRIu64
                        " valid tokens on %" PRIu64 " of %" PRIu32 " ranks, but %" PRIu64
                        " were read",
                        evidence->step, got, wrong, world, sum);
    emu_finding_set_text(&finding->expected, "1/%" PRIu64, sum);
    emu_finding_set_text(&finding->got, "1/%" PRIu64, got);
}

/* The number of valid tokens that gradients are divided by is the sum of what was read. */
static uint64_t check_tokens(const struct emu_evidence *evidence, struct emu_audit *audit)
{
    uint64_t sum = 0, wrong = 0;
    uint32_t world = emu_evidence_world(evidence);
    for (uint32_t rank = 0; rank < world; rank++)
        if (emu_evidence_owner(evidence, rank) == rank)
            sum += evidence->records[rank]->tokens;
    for (uint32_t rank = 0; rank < world; rank++)
        wrong += evidence->records[rank]->step_tokens != sum;
    if (wrong > 0)
        report_tokens(evidence, sum, wrong, audit);
    return wrong;
}

void emu_check_data(const struct emu_evidence *evidence, struct emu_audit *audit)
{
    if (evidence->step == 0)
        return;
    bool failed = false;
    size_t before = audit->findings.count;
    uint64_t differed = check_peers(evidence, audit, &failed);
    if (differed == 0)
        differed += check_cover(evidence, audit, &failed);
    if (differed == 0)
        differed += check_tokens(evidence, audit);
    if (failed)
        emu_audit_no_memory(audit, EMU_CHECK_DATA);
    else
        emu_audit_count(audit, EMU_CHECK_DATA, evidence->plan->batch, differed);
    emu_audit_fold(audit, before, evidence->step);
}
