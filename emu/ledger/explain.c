#include "ledger/explain.h"

#include <string.h>

/* One way to use the sizes: power[i] is -1, 0 or 1. */
struct way {
    int8_t power[EMU_EXPLAIN_MAX_SIZES];
};

#define WAYS_LISTED 4
#define LAST_RESORT_FACTORS 2 /* of more, many numbers are made by chance */

struct search {
    const struct emu_known_size *sizes[EMU_EXPLAIN_MAX_SIZES];
    size_t count;
    struct emu_rational ratio;
    struct way found[2 * WAYS_LISTED]; /* suspects first, then others */
    size_t suspects, others;
    struct way now;
};

static bool uses_suspect(const struct search *search)
{
    for (size_t i = 0; i < search->count; i++)
        if (search->now.power[i] && search->sizes[i]->suspect)
            return true;
    return false;
}

static void keep(struct search *search)
{
    if (uses_suspect(search)) {
        if (search->suspects < WAYS_LISTED)
            search->found[search->suspects++] = search->now;
    } else if (search->others < WAYS_LISTED) {
        search->found[WAYS_LISTED + search->others++] = search->now;
    }
}

/* Choose `left` more sizes from `first` on; `rest` is what they must multiply to. */
static void choose(struct search *search, size_t first, size_t left, struct emu_rational rest)
{
    if (left == 0) {
        if (rest.numerator == 1 && rest.denominator == 1)
            keep(search);
        return;
    }
    for (size_t i = first; i + left <= search->count; i++) {
        struct emu_rational size = emu_rational_whole(search->sizes[i]->size);
        struct emu_rational next;
        search->now.power[i] = 1;
        if (emu_rational_div(rest, size, &next) == EMU_OK)
            choose(search, i + 1, left - 1, next);
        search->now.power[i] = -1;
        if (emu_rational_mul(rest, size, &next) == EMU_OK)
            choose(search, i + 1, left - 1, next);
        search->now.power[i] = 0;
    }
}

/* The names with this power, joined by '*'; returns how many, the last of them in *last. */
static size_t put_names(const struct search *search, const struct way *way, int power,
                        struct emu_text *out, const struct emu_known_size **last)
{
    size_t put = 0;
    for (size_t i = 0; i < search->count; i++) {
        if (way->power[i] != power)
            continue;
        *last = search->sizes[i];
        emu_text_printf(out, "%s%s", put ? "*" : "", search->sizes[i]->name);
        put++;
    }
    return put;
}

static void put_way(const struct search *search, const struct way *way, struct emu_text *out)
{
    const struct emu_known_size *size = NULL;
    struct emu_text below = {0};
    size_t divisors = put_names(search, way, -1, &below, &size);
    struct emu_text above = {0};
    size_t factors = put_names(search, way, 1, &above, &size);
    if (factors == 1 && divisors == 0 && size->words)
        emu_text_puts(out, size->words);
    else if (factors == 1 && divisors == 0)
        emu_text_printf(out, "size of %s", size->name);
    else
        emu_text_puts(out, factors ? emu_text_get(&above) : "1");
    if (divisors)
        emu_text_printf(out, divisors > 1 ? "/(%s)" : "/%s", emu_text_get(&below));
    emu_text_finish(&above);
    emu_text_finish(&below);
}

static void put_all(const struct search *search, struct emu_text *out)
{
    char ratio[EMU_RATIONAL_TEXT_MAX];
    emu_text_printf(out, "%s = ", emu_rational_text(search->ratio, ratio));
    for (size_t i = 0; i < search->suspects + search->others; i++) {
        size_t at = i < search->suspects ? i : WAYS_LISTED + i - search->suspects;
        if (i)
            emu_text_puts(out, " or ");
        put_way(search, &search->found[at], out);
    }
}

/* The simplest products of the sizes, with or without those of last resort. */
static bool find(struct search *search, const struct emu_known_size *sizes, size_t count,
                 bool last_resort)
{
    search->count = 0;
    for (size_t i = 0; i < count && search->count < EMU_EXPLAIN_MAX_SIZES; i++)
        if (sizes[i].size > 1 && (last_resort || !sizes[i].last_resort))
            search->sizes[search->count++] = &sizes[i];
    size_t most =
        last_resort && search->count > LAST_RESORT_FACTORS ? LAST_RESORT_FACTORS : search->count;
    for (size_t factors = 1; factors <= most; factors++) {
        choose(search, 0, factors, search->ratio);
        if (search->suspects + search->others > 0)
            return true;
    }
    return false;
}

bool emu_explain(struct emu_rational ratio, const struct emu_known_size *sizes, size_t count,
                 struct emu_text *out)
{
    struct search search = {.ratio = ratio};
    if (find(&search, sizes, count, false) || find(&search, sizes, count, true)) {
        put_all(&search, out);
        return true;
    }
    char text[EMU_RATIONAL_TEXT_MAX];
    emu_text_printf(out, "no product of known sizes explains %s", emu_rational_text(ratio, text));
    return false;
}
