#include "check/consequence_text.h"

#include "check/finding_values.h"
#include "check/text_table.h"

#include <ctype.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define RANK "rank "
#define FOLD_FROM 4
#define RANKS_SHOWN 8
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

/* The smallest rank of these from `least` on; they stand in the order in which they happened. */
static unsigned long next_rank(const struct emu_finding *finding, const char *rest,
                               unsigned long least)
{
    unsigned long next = ULONG_MAX;
    for (size_t i = 0; i < finding->consequence_count; i++) {
        if (!is_alike(finding->consequences[i], rest))
            continue;
        unsigned long rank = strtoul(finding->consequences[i] + strlen(RANK), NULL, 10);
        next = rank >= least && rank < next ? rank : next;
    }
    return next;
}

static void put_folded(const struct emu_finding *finding, const char *rest, size_t alike,
                       struct emu_text *out)
{
    unsigned long least = 0;
    emu_text_printf(out, "%zu ranks (", alike);
    for (size_t i = 0; i < alike && i < RANKS_SHOWN; i++) {
        unsigned long rank = next_rank(finding, rest, least);
        emu_text_printf(out, "%s%lu", i > 0 ? ", " : "", rank);
        least = rank + 1;
    }
    emu_text_puts(out, alike > RANKS_SHOWN ? ", ...) " : ") ");
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
