#include "account/survival.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

/* Limbs touched by the reduction of all rows: about two seconds. */
#define MOST_WORK 4e9

void emu_odds_begin(struct emu_odds *odds, struct emu_holder_sets sets)
{
    *odds = (struct emu_odds){.sets = sets};
    emu_natural_set(&odds->chosen, 1);
    odds->terms = calloc(4, sizeof *odds->terms);
    odds->term_room = 4;
    odds->failed = !odds->terms;
    if (odds->failed)
        return;
    emu_natural_set(&odds->terms[0], 1); /* C(W, 0) */
    odds->term_count = 1;
}

void emu_odds_finish(struct emu_odds *odds)
{
    for (uint64_t j = 0; j < odds->term_count; j++)
        emu_natural_finish(&odds->terms[j]);
    free(odds->terms);
    emu_natural_finish(&odds->chosen);
    *odds = (struct emu_odds){0};
}

/* Term j begins at lost = R*j, as C(S, j). */
static void begin_term(struct emu_odds *odds)
{
    uint64_t j = odds->term_count;
    if (j == odds->term_room) {
        size_t room = odds->term_room * 2;
        struct emu_natural *terms = realloc(odds->terms, room * sizeof *terms);
        if (!terms) {
            odds->failed = true;
            return;
        }
        odds->terms = terms;
        odds->term_room = room;
    }
    emu_natural_times(&odds->chosen, (uint32_t)(odds->sets.sets - j + 1));
    emu_natural_divide(&odds->chosen, (uint32_t)j);
    odds->terms[j] = (struct emu_natural){0};
    emu_natural_copy(&odds->terms[j], &odds->chosen);
    odds->term_count++;
}

/* C(n, r+1) = C(n, r) (n - r)/(r + 1), n = W - R*j and r = lost - R*j. */
static void advance(struct emu_odds *odds)
{
    const struct emu_holder_sets *sets = &odds->sets;
    for (uint64_t j = 0; j < odds->term_count; j++) {
        emu_natural_times(&odds->terms[j], (uint32_t)(sets->units - odds->lost));
        emu_natural_divide(&odds->terms[j], (uint32_t)(odds->lost + 1 - sets->per_set * j));
    }
    odds->lost++;
    uint64_t next = odds->term_count;
    if (next <= sets->sets && odds->lost == next * sets->per_set)
        begin_term(odds);
}

/* Even terms less odd ones. */
static void add_up(const struct emu_odds *odds, struct emu_natural *sum)
{
    struct emu_natural odd = {0};
    emu_natural_set(sum, 0);
    emu_natural_set(&odd, 0);
    for (uint64_t j = 0; j < odds->term_count; j++)
        emu_natural_add(j % 2 ? &odd : sum, &odds->terms[j]);
    emu_natural_subtract(sum, &odd);
    emu_natural_finish(&odd);
}

bool emu_odds_next(struct emu_odds *odds, struct emu_natural *numerator,
                   struct emu_natural *denominator)
{
    assert(odds->failed || odds->lost < odds->sets.units);
    if (odds->lost + odds->sets.sets >=
        odds->sets.units) { /* fewer survivors than sets, for good */
        odds->lost++;
        emu_natural_set(numerator, 0);
        emu_natural_set(denominator, 1);
        return !odds->failed && !numerator->failed && !denominator->failed;
    }
    if (!odds->failed)
        advance(odds);
    if (odds->failed)
        return false;
    emu_natural_copy(denominator, &odds->terms[0]);
    add_up(odds, numerator);
    if (numerator->failed || denominator->failed)
        return false;
    if (emu_natural_compare(numerator, denominator) == 0) {
        emu_natural_set(numerator, 1);
        emu_natural_set(denominator, 1);
    } else {
        emu_natural_reduce(numerator, denominator);
    }
    return !numerator->failed && !denominator->failed;
}

uint64_t emu_survival_most(uint64_t units, uint64_t asked)
{
    double bits = 0; /* of C(units, lost), the largest so far */
    double work = 0;
    double most = 0;
    uint64_t lost = 0;
    while (lost < asked && lost < units) {
        bits += log2((double)(units - lost) / (double)(lost + 1));
        most = bits > most ? bits : most;
        work += most * most / 16; /* bits steps on bits/32 limbs, twice */
        if (work > MOST_WORK)
            break;
        lost++;
    }
    return lost;
}

bool emu_odds_next_text(struct emu_odds *odds, double *probability, struct emu_text *exact)
{
    struct emu_natural numerator = {0};
    struct emu_natural denominator = {0};
    bool good = emu_odds_next(odds, &numerator, &denominator);
    if (good) {
        emu_natural_print(&numerator, exact);
        emu_text_putc(exact, '/');
        emu_natural_print(&denominator, exact);
        *probability = emu_natural_ratio(&numerator, &denominator);
        good = !exact->failed;
    }
    emu_natural_finish(&numerator);
    emu_natural_finish(&denominator);
    return good;
}
