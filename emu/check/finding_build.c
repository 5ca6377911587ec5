#include "check/finding_build.h"

#include <assert.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static const char *const class_names[EMU_CLASS_COUNT] = {
#define CLASS_NAME(name) [EMU_CLASS_##name] = #name,
    EMU_CLASS_LIST(CLASS_NAME)
#undef CLASS_NAME
};

const char *emu_class_name(enum emu_class class_id)
{
    return (unsigned)class_id < EMU_CLASS_COUNT ? class_names[class_id] : "UNKNOWN";
}

static void free_strings(char **strings, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(strings[i]);
    free(strings);
}

void emu_finding_finish(struct emu_finding *finding)
{
    for (size_t i = 0; i < finding->wait_count; i++)
        free(finding->waits[i].targets);
    free_strings(finding->axes, finding->axis_count);
    free_strings(finding->parameters, finding->parameter_count);
    free_strings(finding->consequences, finding->consequence_count);
    char *single[] = {finding->message,  finding->group_name, finding->parameter,   finding->replay,
                      finding->expected, finding->got,        finding->explanation, finding->ratio};
    for (size_t i = 0; i < sizeof single / sizeof *single; i++)
        free(single[i]);
    free(finding->group);
    free(finding->culprits);
    free(finding->members);
    free(finding->waits);
    for (size_t i = 0; i < finding->coefficient_count; i++) {
        free(finding->coefficients[i].source);
        free(finding->coefficients[i].value);
    }
    free(finding->coefficients);
}

void emu_findings_finish(struct emu_findings *findings)
{
    if (!findings)
        return;
    for (size_t i = 0; i < findings->count; i++)
        emu_finding_finish(&findings->items[i]);
    free(findings->items);
    *findings = (struct emu_findings){0};
}

size_t emu_findings_faults(const struct emu_findings *findings)
{
    size_t faults = 0;
    for (size_t i = 0; i < findings->count; i++)
        faults += !findings->items[i].note;
    return faults;
}

/* Make room for `more` findings. */
static bool reserve(struct emu_findings *findings, size_t more)
{
    if (more <= findings->room - findings->count)
        return true;
    size_t room = findings->count + more + findings->room / 2 + 4;
    if (room > SIZE_MAX / sizeof *findings->items)
        return false;
    struct emu_finding *items = realloc(findings->items, room * sizeof *items);
    if (!items)
        return false;
    findings->items = items;
    findings->room = room;
    return true;
}

struct emu_finding *emu_findings_add(struct emu_findings *findings, enum emu_class class_id)
{
    assert((unsigned)class_id < EMU_CLASS_COUNT);
    if (!reserve(findings, 1))
        return NULL;
    struct emu_finding *finding = &findings->items[findings->count++];
    *finding = (struct emu_finding){.class_id = class_id, .coefficient_rank = -1, .after_ns = -1};
    return finding;
}

bool emu_findings_move(struct emu_findings *to, struct emu_findings *from)
{
    if (!reserve(to, from->count))
        return false;
    if (from->count > 0)
        memcpy(to->items + to->count, from->items, from->count * sizeof *from->items);
    to->count += from->count;
    free(from->items);
    *from = (struct emu_findings){0};
    return true;
}

/* One more element at the end of an array, or NULL. Findings are rare and short: no spare room. */
static void *extend(void *array, size_t count, size_t size)
{
    if (count >= SIZE_MAX / size)
        return NULL;
    return realloc(array, (count + 1) * size);
}

/* Append `string`, which is taken over in every case; NULL stands for memory that ran out. */
static void append_string(char ***strings, size_t *count, char *string)
{
    char **longer = string ? extend(*strings, *count, sizeof **strings) : NULL;
    if (!longer) {
        free(string);
        return;
    }
    longer[(*count)++] = string;
    *strings = longer;
}

static char *format_text(const char *format, va_list arguments)
{
    struct emu_text text = {0};
    emu_text_vprintf(&text, format, arguments);
    return emu_text_take(&text);
}

void emu_finding_message(struct emu_finding *finding, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    char *message = format_text(format, arguments);
    va_end(arguments);
    free(finding->message);
    finding->message = message;
}

void emu_finding_set_text(char **field, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    char *text = format_text(format, arguments);
    va_end(arguments);
    free(*field);
    *field = text;
}

void emu_finding_consequence(struct emu_finding *finding, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    char *text = format_text(format, arguments);
    va_end(arguments);
    for (size_t i = 0; text && i < finding->consequence_count; i++)
        if (strcmp(finding->consequences[i], text) == 0) {
            free(text);
            return;
        }
    append_string(&finding->consequences, &finding->consequence_count, text);
}

void emu_finding_axis(struct emu_finding *finding, const char *axis)
{
    for (size_t i = 0; i < finding->axis_count; i++)
        if (strcmp(finding->axes[i], axis) == 0)
            return;
    append_string(&finding->axes, &finding->axis_count, strdup(axis));
}

void emu_finding_culprit(struct emu_finding *finding, uint32_t rank)
{
    size_t at = 0;
    while (at < finding->culprit_count && finding->culprits[at] < rank)
        at++;
    if (at < finding->culprit_count && finding->culprits[at] == rank)
        return;
    uint32_t *longer = extend(finding->culprits, finding->culprit_count, sizeof *longer);
    if (!longer)
        return;
    memmove(longer + at + 1, longer + at, (finding->culprit_count - at) * sizeof *longer);
    longer[at] = rank;
    finding->culprits = longer;
    finding->culprit_count++;
}

void emu_finding_parameter(struct emu_finding *finding, const char *name)
{
    for (size_t i = 0; i < finding->parameter_count; i++)
        if (strcmp(finding->parameters[i], name) == 0)
            return;
    if (!finding->parameter)
        finding->parameter = strdup(name);
    append_string(&finding->parameters, &finding->parameter_count, strdup(name));
}

void emu_finding_index(struct emu_finding *finding, uint64_t index)
{
    finding->has_index = true;
    finding->index = index;
}

static void take_group(struct emu_finding *finding, uint32_t *members, size_t count)
{
    free(finding->group);
    finding->group = members;
    finding->group_size = members ? count : 0;
}

void emu_finding_group(struct emu_finding *finding, const struct emu_roster *roster, uint32_t group)
{
    const struct emu_family *family = &roster->families[emu_roster_family_of(roster, group)];
    struct emu_group members = emu_roster_group(roster, group);
    uint32_t *ranks = malloc(members.size * sizeof *ranks);
    for (uint32_t i = 0; ranks && i < members.size; i++)
        ranks[i] = emu_group_member(&members, i);
    take_group(finding, ranks, members.size);
    emu_finding_set_text(&finding->group_name, "%s", family->name);
    for (uint32_t i = 0; i < family->axes.count; i++)
        emu_finding_axis(finding, roster->mesh->axes[family->axes.index[i]].name);
}

void emu_finding_ranks(struct emu_finding *finding, const uint32_t *ranks, size_t count)
{
    uint32_t *copy = malloc(count > 0 ? count * sizeof *copy : 1);
    if (copy && count > 0)
        memcpy(copy, ranks, count * sizeof *copy);
    take_group(finding, copy, count);
}

void emu_finding_member(struct emu_finding *finding, uint32_t rank, const char *state,
                        const struct emu_call_view *call)
{
    struct emu_member_view *longer =
        extend(finding->members, finding->member_count, sizeof *longer);
    if (!longer)
        return;
    finding->members = longer;
    struct emu_member_view *member = &longer[finding->member_count++];
    *member = (struct emu_member_view){.rank = rank, .has_call = call != NULL};
    snprintf(member->state, sizeof member->state, "%s", state ? state : "");
    if (call)
        member->call = *call;
}

void emu_finding_wait(struct emu_finding *finding, const struct emu_wait_view *wait)
{
    size_t bytes = wait->target_count * sizeof *wait->targets;
    uint32_t *targets = malloc(bytes > 0 ? bytes : 1);
    struct emu_wait_view *longer =
        targets ? extend(finding->waits, finding->wait_count, sizeof *longer) : NULL;
    if (!longer) {
        free(targets);
        return;
    }
    if (bytes > 0)
        memcpy(targets, wait->targets, bytes);
    finding->waits = longer;
    struct emu_wait_view *copy = &longer[finding->wait_count++];
    *copy = *wait;
    copy->targets = targets;
}

void emu_finding_coefficient(struct emu_finding *finding, const char *source, const char *value,
                             uint64_t tokens)
{
    struct emu_coefficient_view *more =
        realloc(finding->coefficients, (finding->coefficient_count + 1) * sizeof *more);
    if (!more)
        return;
    finding->coefficients = more;
    struct emu_coefficient_view view = {strdup(source), strdup(value), tokens};
    if (view.source && view.value) {
        more[finding->coefficient_count++] = view;
        return;
    }
    free(view.source);
    free(view.value);
}
