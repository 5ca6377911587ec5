#include "check/call_counts.h"

#include "check/finding_build.h"

#include <inttypes.h>
#include <stdlib.h>

#define UNKNOWN_CALLS UINT64_MAX

static uint64_t calls_of(const struct emu_scene *scene, uint32_t rank, uint32_t group)
{
    uint64_t calls;
    return emu_scene_group_calls(scene, rank, group, &calls) ? calls : UNKNOWN_CALLS;
}

/* The first member whose number of calls no member before `end` has; group_size: none is left. */
static size_t next_number(const struct emu_finding *finding, const uint64_t *calls, size_t end)
{
    for (size_t i = end; i < finding->group_size; i++) {
        bool told = false;
        for (size_t before = 0; before < i && !told; before++)
            told = calls[before] == calls[i];
        if (!told)
            return i;
    }
    return finding->group_size;
}

/* "6 by ranks 2-4, 5 by rank 1". ranks: room for the group. */
static void put_calls(const struct emu_finding *finding, const uint64_t *calls, uint32_t *ranks,
                      struct emu_text *text)
{
    for (size_t first = 0; first < finding->group_size;
         first = next_number(finding, calls, first + 1)) {
        size_t count = 0;
        for (size_t i = first; i < finding->group_size; i++)
            if (calls[i] == calls[first])
                ranks[count++] = finding->group[i];
        emu_text_puts(text, first ? ", " : " ");
        if (calls[first] == UNKNOWN_CALLS)
            emu_text_puts(text, "unknown by ");
        else
            emu_text_printf(text, "%" PRIu64 " by ", calls[first]);
        emu_ranks_text(text, ranks, count);
    }
}

void emu_call_counts_explain(const struct emu_scene *scene, const struct emu_incident *incident,
                             struct emu_finding *finding)
{
    struct emu_text text = {0};
    uint64_t *calls = malloc(finding->group_size * sizeof *calls);
    uint32_t *ranks = malloc(finding->group_size * sizeof *ranks);
    emu_text_printf(&text, "calls on %s:", finding->group_name ? finding->group_name : "the group");
    for (size_t i = 0; calls && i < finding->group_size; i++)
        calls[i] = calls_of(scene, finding->group[i], incident->group);
    if (calls && ranks)
        put_calls(finding, calls, ranks, &text);
    free(calls);
    free(ranks);
    if (incident->index > 0)
        emu_text_printf(&text, "; the last call of all was #%" PRIu64, incident->index - 1);
    emu_finding_set_text(&finding->explanation, "%s", emu_text_get(&text));
    emu_text_finish(&text);
}
