#include "check/consequence_text.h"

#include "check/finding_values.h"
#include "check/scene.h"
#include "check/text_table.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define RANK "rank "
#define FOLD_FROM 4
#define LINES_SHOWN 16

/* What comes behind "rank 3 (dp=1,tp=1) "; NULL: it does not begin so. */
static const char *behind_rank(const char *text)
{
    if (strncmp(text, RANK, strlen(RANK)) != 0 || !isdigit((unsigned char)text[strlen(RANK)]))
        return NULL;
    const char *at = text + strlen(RANK);
    while (isdigit((unsigned char)*at))
        at++;
    if (strncmp(at, " (", 2) != 0)
        return NULL;
    at = strstr(at, ") ");
    return at ? at + 2 : NULL;
}

static bool is_alike(const char *text, const char *rest)
{
    const char *own = behind_rank(text);
    return own && strcmp(own, rest) == 0;
}

static size_t count_alike(const struct emu_finding *finding, const char *rest)
{
    size_t alike = 0;
    for (size_t i = 0; i < finding->consequence_count; i++)
        alike += is_alike(finding->consequences[i], rest);
    return alike;
}

/* "was ended" of one is "were ended" of many; verbs in the past are the same. */
static void put_plural(const char *rest, struct emu_text *out)
{
    static const char *const verbs[][2] = {{"was ", "were "}, {"is ", "are "}, {"has ", "have "}};
    for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++) {
        size_t size = strlen(verbs[i][0]);
        if (strncmp(rest, verbs[i][0], size) != 0)
            continue;
        emu_text_puts(out, verbs[i][1]);
        rest += size;
        break;
    }
    emu_text_visible(out, rest);
}

static int compare_ranks(const void *a, const void *b)
{
    uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
    return (left > right) - (left < right);
}

/* "0-17, 19-4095": the ranks of these, which stand in the order in which they happened. */
static void put_ranges(const struct emu_finding *finding, const char *rest, uint32_t *ranks,
                       struct emu_text *out)
{
    size_t count = 0;
    for (size_t i = 0; i < finding->consequence_count; i++)
        if (is_alike(finding->consequences[i], rest))
            ranks[count++] = (uint32_t)strtoul(finding->consequences[i] + strlen(RANK), NULL, 10);
    qsort(ranks, count, sizeof *ranks, compare_ranks);
    size_t distinct = 0;
    for (size_t i = 0; i < count; i++)
        if (i == 0 || ranks[i] != ranks[i - 1])
            ranks[distinct++] = ranks[i];
    emu_ranges_text(out, ranks, distinct, EMU_RANGES_SHOWN);
}

static void put_folded(const struct emu_finding *finding, const char *rest, size_t alike,
                       struct emu_text *out)
{
    uint32_t *ranks = malloc(alike * sizeof *ranks);
    emu_text_printf(out, "%zu ranks (", alike);
    if (ranks)
        put_ranges(finding, rest, ranks, out);
    emu_text_puts(out, ") ");
    free(ranks);
    put_plural(rest, out);
}

static bool is_told(const char *const *told, size_t count, const char *rest)
{
    for (size_t i = 0; rest && i < count; i++)
        if (strcmp(told[i], rest) == 0)
            return true;
    return false;
}

void emu_consequences_text(const struct emu_finding *finding, struct emu_text *out)
{
    const char *folded[LINES_SHOWN];
    size_t folds = 0, lines = 0, left = finding->consequence_count;
    for (size_t i = 0; i < finding->consequence_count && lines < LINES_SHOWN; i++) {
        const char *text = finding->consequences[i];
        const char *rest = behind_rank(text);
        if (is_told(folded, folds, rest))
            continue;
        size_t alike = rest ? count_alike(finding, rest) : 1;
        bool folds_here = alike >= FOLD_FROM;
        emu_text_puts(out, EMU_FINDING_INDENT "consequence: ");
        if (folds_here)
            put_folded(finding, folded[folds++] = rest, alike, out);
        else
            emu_text_visible(out, text);
        emu_text_putc(out, '\n');
        left -= folds_here ? alike : 1;
        lines++;
    }
    if (left > 0)
        emu_text_printf(out, EMU_FINDING_INDENT "and %zu more consequences\n", left);
}
