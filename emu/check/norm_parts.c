#include "check/norm_parts.h"

#include "check/evidence.h"
#include "check/finding_build.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct look {
    const struct emu_evidence *evidence;
    double wanted, tolerance;
    struct emu_axes axes; /* over which squares are summed, size > 1 */
    uint32_t last_axes;   /* of these, the first ones: over which parts of one model lie */
    double *kept;         /* world entries: squares of what a rank keeps and counts */
};

static double value_at(const struct emu_evidence *evidence, uint32_t rank, uint64_t offset,
                       uint64_t element)
{
    const unsigned char *array = evidence->arenas[rank] + offset;
    float single;
    double value;
    if (evidence->plan->dtype == EMU_F32) {
        memcpy(&single, array + element * sizeof single, sizeof single);
        return (double)single;
    }
    memcpy(&value, array + element * sizeof value, sizeof value);
    return value;
}

/* Each unique parameter once: copies at tp 0, a tied table on its first stage. */
static bool counts(const struct emu_evidence *evidence, uint32_t rank, uint32_t tensor)
{
    const struct emu_plan *plan = evidence->plan;
    bool copy = !emu_tensor_is_shard(plan, tensor) && emu_evidence_tp(evidence, rank) != 0;
    bool second = emu_tensor_tied(plan, tensor) &&
                  emu_mesh_coord(emu_evidence_mesh(evidence), rank, "pp") > 0;
    return emu_evidence_holds(evidence, rank, tensor) && !copy && !second;
}

/* Squares of the part of a gradient that a rank keeps. */
static double squares_kept(const struct emu_evidence *evidence, uint32_t rank, uint32_t tensor)
{
    const struct emu_tensor_record *record = emu_evidence_tensor(evidence, rank, tensor);
    double sum = 0.0;
    for (uint64_t e = 0; e < record->gradient_part.count; e++) {
        double value = value_at(evidence, rank, record->gradient, e);
        sum += value * value;
    }
    return sum;
}

static void append_axes(struct look *look, const struct emu_axes *axes)
{
    for (uint32_t i = 0; i < axes->count; i++)
        if (emu_evidence_mesh(look->evidence)->axes[axes->index[i]].size > 1)
            look->axes.index[look->axes.count++] = axes->index[i];
}

static bool look_init(struct look *look)
{
    const struct emu_plan *plan = look->evidence->plan;
    uint32_t world = emu_evidence_world(look->evidence);
    if (plan->norm_family != UINT32_MAX)
        append_axes(look, &plan->roster.families[plan->norm_family].axes);
    look->last_axes = look->axes.count;
    if (emu_plan_shards_gradients(plan))
        append_axes(look, &plan->shard_axes);
    look->kept = calloc(world, sizeof *look->kept);
    for (uint32_t rank = 0; look->kept && rank < world; rank++)
        for (uint32_t i = 0; i < plan->tensor_count; i++)
            if (counts(look->evidence, rank, i))
                look->kept[rank] += squares_kept(look->evidence, rank, i);
    return look->kept != NULL;
}

static bool is_near(const struct look *look, uint32_t rank, double wanted)
{
    double got = look->evidence->records[rank]->grad_norm;
    return fabs(got - wanted) <= look->tolerance * wanted;
}

/* The axes of the look that are in the set (or, `inside` false, are not). */
static struct emu_axes part_of(const struct look *look, uint32_t set, bool inside)
{
    struct emu_axes part = {0};
    for (uint32_t i = 0; i < look->axes.count; i++)
        if ((set >> i & 1) == inside)
            part.index[part.count++] = look->axes.index[i];
    return part;
}

/* Has every rank the norm of what the ranks at its own coordinates on these axes keep? */
static bool left_out(const struct look *look, uint32_t set)
{
    struct emu_axes others = part_of(look, set, false);
    const struct emu_mesh *mesh = emu_evidence_mesh(look->evidence);
    for (uint32_t rank = 0; rank < mesh->world; rank++) {
        struct emu_group group = emu_group_of(mesh, &others, rank);
        double sum = 0.0;
        for (uint32_t i = 0; i < group.size; i++)
            sum += look->kept[emu_group_member(&group, i)];
        if (!is_near(look, rank, sqrt(sum)))
            return false;
    }
    return true;
}

/* Squares of a tensor that a rank should have counted: its own part, and where gradients are
 * divided those of its shard group. */
static double squares_due(const struct look *look, uint32_t rank, uint32_t tensor)
{
    const struct emu_plan *plan = look->evidence->plan;
    double sum = 0.0;
    if (!counts(look->evidence, rank, tensor))
        return 0.0;
    if (!emu_plan_shards_gradients(plan))
        return squares_kept(look->evidence, rank, tensor);
    struct emu_group group =
        emu_group_of(emu_evidence_mesh(look->evidence), &plan->shard_axes, rank);
    for (uint32_t i = 0; i < group.size; i++)
        sum += squares_kept(look->evidence, emu_group_member(&group, i), tensor);
    return sum;
}

static bool counted_right(const struct look *look, uint32_t rank, uint32_t tensor, double *got,
                          double *due)
{
    const struct emu_evidence *evidence = look->evidence;
    *got = value_at(evidence, rank, evidence->records[rank]->squares, tensor);
    *due = squares_due(look, rank, tensor);
    return fabs(*got - *due) <= 2.0 * look->tolerance * *due;
}

/* Were the squares of each tensor right, before they were added up? */
static bool tensors_right(const struct look *look)
{
    double got, due;
    for (uint32_t rank = 0; rank < emu_evidence_world(look->evidence); rank++)
        for (uint32_t i = 0; i < look->evidence->plan->tensor_count; i++)
            if (!counted_right(look, rank, i, &got, &due))
                return false;
    return true;
}

/* Has every rank the root of the right sum divided by the sizes of these axes? Over the axes of a
 * shard group tensor by tensor, over the others at last. */
static bool averaged(const struct look *look, uint32_t set)
{
    uint32_t last = (UINT32_C(1) << look->last_axes) - 1;
    if ((set & last) != 0 && (set & ~last) != 0)
        return false;
    if (tensors_right(look) != ((set & last) != 0))
        return false;
    struct emu_axes axes = part_of(look, set, true);
    const struct emu_mesh *mesh = emu_evidence_mesh(look->evidence);
    double wanted = look->wanted / sqrt((double)emu_axes_group_size(mesh, &axes));
    for (uint32_t rank = 0; rank < mesh->world; rank++)
        if (!is_near(look, rank, wanted))
            return false;
    return true;
}

static uint32_t bits_in(uint32_t set)
{
    uint32_t bits = 0;
    for (; set; set &= set - 1)
        bits++;
    return bits;
}

/* The smallest sets of axes for which it holds, told one after the other: sizes alone do not tell
 * two axes of one size apart. false: none. */
static bool tell_sets(const struct look *look, bool (*holds)(const struct look *, uint32_t),
                      const char *words, struct emu_finding *finding, struct emu_text *why)
{
    const struct emu_mesh *mesh = emu_evidence_mesh(look->evidence);
    uint32_t found = 0;
    for (uint32_t bits = 1; bits <= look->axes.count && !found; bits++)
        for (uint32_t set = 1; set < UINT32_C(1) << look->axes.count; set++) {
            if (bits_in(set) != bits || !holds(look, set))
                continue;
            struct emu_axes axes = part_of(look, set, true);
            emu_text_puts(why, found++ > 0 ? ", or over " : words);
            for (uint32_t i = 0; i < axes.count; i++) {
                const char *name = mesh->axes[axes.index[i]].name;
                emu_text_printf(why, "%s%s", i > 0 ? " and " : "", name);
                emu_finding_axis(finding, name);
            }
        }
    return found > 0;
}

static bool tell_axes(const struct look *look, struct emu_finding *finding, struct emu_text *why)
{
    return tell_sets(look, left_out, "the squares were not summed over ", finding, why) ||
           tell_sets(look, averaged, "the squares were averaged, not summed, over ", finding, why);
}

/* The tensors of which a rank counted other squares than there are. */
static bool tell_tensors(const struct look *look, struct emu_finding *finding, struct emu_text *why)
{
    const struct emu_evidence *evidence = look->evidence;
    uint32_t world = emu_evidence_world(evidence);
    size_t told = 0;
    for (uint32_t rank = 0; rank < world; rank++)
        for (uint32_t i = 0; i < evidence->plan->tensor_count; i++) {
            double got, due;
            if (counted_right(look, rank, i, &got, &due))
                continue;
            if (told++ == 0)
                emu_text_printf(why, "rank %" PRIu32 " counted %.6g for %s, whose squares are %.6g",
                                rank, got, evidence->plan->tensors[i].name, due);
            emu_finding_parameter(finding, evidence->plan->tensors[i].name);
            emu_finding_culprit(finding, rank);
        }
    return told > 0;
}

bool emu_norm_tell(const struct emu_evidence *evidence, double wanted, double tolerance,
                   struct emu_finding *finding, struct emu_text *why)
{
    struct look look = {.evidence = evidence, .wanted = wanted, .tolerance = tolerance};
    bool told =
        look_init(&look) && (tell_axes(&look, finding, why) || tell_tensors(&look, finding, why));
    free(look.kept);
    return told;
}
