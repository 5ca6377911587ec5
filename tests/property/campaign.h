/* How do the property programs read their options, print a case that fails, and count? */
#ifndef TESTS_PROPERTY_CAMPAIGN_H
#define TESTS_PROPERTY_CAMPAIGN_H

#include "judge.h"

#include <stdint.h>

struct campaign {
    uint64_t cases, seed;
    int64_t only; /* a single case of the seed; -1: all */
    uint64_t passed, failed;
    uint64_t faults[FAULT_COUNT]; /* cases by what the reference found */
    uint64_t exact, hidden;
};

/* --cases N --seed S --only K; false (and a line on stderr): not understood. */
bool campaign_begin(struct campaign *campaign, int argc, char **argv, uint64_t cases);

struct campaign_plan {
    const char *name;
    /* Give a setting its recipe, from the case's own random numbers. Returns words for `after`;
     * NULL: draw again. */
    const char *(*build)(struct scenario *scenario, struct draw *draw, void *user);
    /* What else is wrong with the verdict? NULL: nothing. */
    const char *(*after)(const struct verdict *verdict, const char *words, void *user);
    void *user;
};

/* Run all cases: each is built (again, where a number did not fit) and judged. */
void campaign_run(struct campaign *campaign, const struct campaign_plan *plan);

/* The classes that were met. */
void campaign_print(const struct campaign *campaign);

#endif
