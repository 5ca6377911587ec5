#include "check/audit.h"

#include "check/audit_parts.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RANKS_SHOWN 16
#define CONSEQUENCES_MOST 8 /* of a cause that goes on step after step */

static const char *const check_names[EMU_CHECK_COUNT] = {
#define CHECK_NAME(name, text) [name] = text,
    EMU_CHECK_LIST(CHECK_NAME)
#undef CHECK_NAME
};

_Static_assert(EMU_CLASS_COUNT <= 64, "sets of classes are 64-bit masks");

const char *emu_check_name(enum emu_check check)
{
    return (unsigned)check < EMU_CHECK_COUNT ? check_names[check] : "unknown";
}

void emu_audit_init(struct emu_audit *audit)
{
    *audit = (struct emu_audit){0};
    for (int i = 0; i < EMU_CHECK_COUNT; i++)
        emu_audit_skip(audit, (enum emu_check)i, "no step was checked");
}

void emu_audit_finish(struct emu_audit *audit)
{
    if (!audit)
        return;
    emu_findings_finish(&audit->findings);
    *audit = (struct emu_audit){0};
}

void emu_audit_skip(struct emu_audit *audit, enum emu_check check, const char *why)
{
    struct emu_check_figures *figures = &audit->figures[check];
    snprintf(figures->why, sizeof figures->why, "%s", why);
}

void emu_audit_count(struct emu_audit *audit, enum emu_check check, uint64_t compared,
                     uint64_t differed)
{
    struct emu_check_figures *figures = &audit->figures[check];
    figures->steps++;
    figures->compared += compared;
    figures->differed += differed;
    figures->status = figures->differed > 0 ? EMU_CHECK_FAIL : EMU_CHECK_PASS;
    figures->why[0] = '\0';
}

void emu_audit_no_memory(struct emu_audit *audit, enum emu_check check)
{
    struct emu_finding *finding = emu_findings_add(&audit->findings, EMU_CLASS_INTERNAL);
    if (finding)
        emu_finding_message(finding, "no memory was left for the check '%s'",
                            emu_check_name(check));
    emu_audit_count(audit, check, 0, 1);
}

struct emu_finding *emu_audit_fault(struct emu_audit *audit, uint64_t classes)
{
    for (size_t i = 0; i < audit->findings.count; i++) {
        struct emu_finding *finding = &audit->findings.items[i];
        if (!finding->note && (classes >> finding->class_id & 1))
            return finding;
    }
    return NULL;
}

static bool same_text(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

static bool says_the_same(const struct emu_finding *a, const struct emu_finding *b)
{
    return a->class_id == b->class_id && a->note == b->note &&
           a->culprit_count == b->culprit_count &&
           (a->culprit_count == 0 ||
            memcmp(a->culprits, b->culprits, a->culprit_count * sizeof *a->culprits) == 0) &&
           same_text(a->parameter, b->parameter);
}

void emu_audit_fold(struct emu_audit *audit, size_t before, uint64_t step)
{
    struct emu_finding *items = audit->findings.items;
    size_t kept = before;
    for (size_t i = before; i < audit->findings.count; i++) {
        size_t earlier = 0;
        while (earlier < before && !says_the_same(&items[earlier], &items[i]))
            earlier++;
        if (earlier == before) {
            items[kept++] = items[i];
            continue;
        }
        if (items[earlier].consequence_count < CONSEQUENCES_MOST)
            emu_finding_consequence(&items[earlier], "the same in step %" PRIu64, step);
        emu_finding_finish(&items[i]);
    }
    audit->findings.count = kept;
}

bool emu_marks_init(struct emu_marks *marks, size_t size)
{
    *marks = (struct emu_marks){.at = calloc(size > 0 ? size : 1, sizeof *marks->at), .size = size};
    return marks->at != NULL;
}

void emu_marks_finish(struct emu_marks *marks)
{
    free(marks->at);
    *marks = (struct emu_marks){0};
}

size_t emu_marks_count(const struct emu_marks *marks)
{
    size_t count = 0;
    for (size_t i = 0; i < marks->size; i++)
        count += marks->at[i];
    return count;
}

bool emu_marks_equal(const struct emu_marks *a, const struct emu_marks *b)
{
    return a->size == b->size && memcmp(a->at, b->at, a->size * sizeof *a->at) == 0;
}

bool emu_marks_within(const struct emu_marks *a, const struct emu_marks *b)
{
    for (size_t i = 0; i < a->size; i++)
        if (a->at[i] && !b->at[i])
            return false;
    return true;
}

void emu_marks_add(struct emu_marks *to, const struct emu_marks *from)
{
    for (size_t i = 0; i < from->size; i++)
        to->at[i] = to->at[i] || from->at[i];
}

void emu_ranks_words(struct emu_text *out, const uint32_t *ranks, size_t count)
{
    emu_text_puts(out, count == 1 ? "rank " : "ranks ");
    size_t shown = count <= RANKS_SHOWN ? count : RANKS_SHOWN - 2;
    for (size_t i = 0; i < shown; i++)
        emu_text_printf(out, "%s%" PRIu32, i > 0 ? ", " : "", ranks[i]);
    if (shown < count)
        emu_text_printf(out, ", ... %" PRIu32 " (%zu of them)", ranks[count - 1], count);
}

void emu_marks_words(struct emu_text *out, const struct emu_marks *ranks)
{
    uint32_t *list = malloc((ranks->size > 0 ? ranks->size : 1) * sizeof *list);
    size_t count = 0;
    for (size_t i = 0; list && i < ranks->size; i++)
        if (ranks->at[i])
            list[count++] = (uint32_t)i;
    emu_ranks_words(out, list, count);
    free(list);
}

void emu_tensors_words(struct emu_text *out, const struct emu_plan *plan,
                       const struct emu_marks *tensors)
{
    size_t count = emu_marks_count(tensors), first = 0;
    while (first < tensors->size && !tensors->at[first])
        first++;
    if (first < tensors->size)
        emu_text_puts(out, plan->tensors[first].name);
    if (count > 1)
        emu_text_printf(out, " and %zu more", count - 1);
}

void emu_finding_culprits(struct emu_finding *finding, const struct emu_marks *ranks)
{
    for (size_t i = 0; i < ranks->size; i++)
        if (ranks->at[i])
            emu_finding_culprit(finding, (uint32_t)i);
}

void emu_finding_parameters(struct emu_finding *finding, const struct emu_plan *plan,
                            const struct emu_marks *tensors)
{
    for (size_t i = 0; i < tensors->size; i++)
        if (tensors->at[i])
            emu_finding_parameter(finding, plan->tensors[i].name);
}

bool emu_finding_blames(const struct emu_finding *finding, const struct emu_marks *ranks)
{
    if (finding->culprit_count != emu_marks_count(ranks))
        return false;
    for (size_t i = 0; i < finding->culprit_count; i++)
        if (!ranks->at[finding->culprits[i]])
            return false;
    return true;
}
