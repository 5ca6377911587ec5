/* Right recipes are never flagged; a single change of one is found, unless it changes nothing.
 *
 * Two campaigns of --cases each. Neutral is what the reference proves: every source with tokens has
 * the coefficient 1/N on every rank all the same. A mutation that is not neutral must be a fault of
 * its class. */
#include "campaign.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define KINDS_MOST 16

struct counts {
    const char *name[KINDS_MOST];
    uint64_t found[KINDS_MOST], neutral[KINDS_MOST];
};

static const char *build_right(struct scenario *scenario, struct draw *draw, void *user)
{
    (void)user;
    scenario_right_recipe(scenario, draw);
    return "right";
}

/* The generator's promise: if it is broken, nothing that follows means anything. */
static const char *must_be_right(const struct verdict *verdict, const char *words, void *user)
{
    (void)words;
    (void)user;
    return verdict->fault == FAULT_NONE ? NULL : "the recipe was to be right, and is not";
}

static const char *build_mutation(struct scenario *scenario, struct draw *draw, void *user)
{
    (void)user;
    scenario_right_recipe(scenario, draw);
    return scenario_mutate(scenario, draw);
}

static const char *count(const struct verdict *verdict, const char *words, void *user)
{
    struct counts *counts = user;
    int i = 0;
    if (!words)
        return "nothing could be changed";
    while (i < KINDS_MOST - 1 && counts->name[i] && strcmp(counts->name[i], words) != 0)
        i++;
    counts->name[i] = words;
    if (verdict->fault == FAULT_NONE)
        counts->neutral[i]++;
    else
        counts->found[i]++;
    return NULL;
}

static void print_counts(const struct counts *counts)
{
    uint64_t wrong = 0, neutral = 0;
    printf("  %8s  %8s  mutation\n", "wrong", "neutral");
    for (int i = 0; i < KINDS_MOST && counts->name[i]; i++) {
        printf("  %8" PRIu64 "  %8" PRIu64 "  %s\n", counts->found[i], counts->neutral[i],
               counts->name[i]);
        wrong += counts->found[i];
        neutral += counts->neutral[i];
    }
    printf("  %8" PRIu64 "  %8" PRIu64 "  all; every wrong one was looked for in the findings\n",
           wrong, neutral);
}

int main(int argc, char **argv)
{
    struct campaign right, mutated;
    struct counts counts = {0};
    if (!campaign_begin(&right, argc, argv, 1000))
        return 2;
    mutated = right;
    struct campaign_plan rights = {
        .name = "right recipes", .build = build_right, .after = must_be_right};
    struct campaign_plan mutations = {
        .name = "mutations", .build = build_mutation, .after = count, .user = &counts};
    campaign_run(&right, &rights);
    printf("  %" PRIu64 " without a false alarm, %" PRIu64 " failed\n", right.passed, right.failed);
    campaign_run(&mutated, &mutations);
    campaign_print(&mutated);
    print_counts(&counts);
    printf("%" PRIu64 " passed, %" PRIu64 " failed\n", right.passed + mutated.passed,
           right.failed + mutated.failed);
    return right.failed + mutated.failed > 0;
}
