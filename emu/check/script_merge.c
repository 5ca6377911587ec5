#include "check/script_merge.h"

#include "check/finding_build.h"

#include <string.h>

static bool is_refusal(const struct emu_finding *finding)
{
    return !finding->note && finding->culprit_count > 0 &&
           (finding->class_id == EMU_CLASS_INVALID_ARGUMENT ||
            finding->class_id == EMU_CLASS_NOT_A_MEMBER);
}

static bool is_one_mistake(const struct emu_script_outcome *outcome, const struct emu_finding *a,
                           const struct emu_finding *b)
{
    if (!is_refusal(a) || a->class_id != b->class_id || !is_refusal(b))
        return false;
    const struct emu_script_op *op = outcome->ended_at[a->culprits[0]];
    return op && op == outcome->ended_at[b->culprits[0]];
}

static void take_over(const struct emu_script_outcome *outcome, struct emu_finding *into,
                      const struct emu_finding *from)
{
    struct emu_text text = {0};
    for (size_t i = 0; i < from->culprit_count; i++) {
        emu_rank_text(&text, &outcome->script->mesh, from->culprits[i]);
        emu_finding_culprit(into, from->culprits[i]);
        emu_finding_consequence(into, "%s made the same mistake", emu_text_get(&text));
        emu_text_finish(&text);
    }
    for (size_t i = 0; i < from->consequence_count; i++)
        emu_finding_consequence(into, "%s", from->consequences[i]);
}

/* The one that stays speaks of the lowest rank, whoever came to it first. */
static void keep_lowest(struct emu_finding *a, struct emu_finding *b)
{
    if (a->culprits[0] <= b->culprits[0])
        return;
    struct emu_finding first = *b;
    *b = *a;
    *a = first;
}

void emu_script_merge(struct emu_script_outcome *outcome)
{
    struct emu_findings *findings = &outcome->findings;
    for (size_t i = 0; i < findings->count; i++) {
        size_t kept = i + 1;
        for (size_t j = i + 1; j < findings->count; j++) {
            if (is_one_mistake(outcome, &findings->items[i], &findings->items[j])) {
                keep_lowest(&findings->items[i], &findings->items[j]);
                take_over(outcome, &findings->items[i], &findings->items[j]);
                emu_finding_finish(&findings->items[j]);
            } else {
                findings->items[kept++] = findings->items[j];
            }
        }
        if (kept < findings->count)
            findings->count = kept;
    }
}
