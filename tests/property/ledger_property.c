/* Ledger, oracle and an independent reference agree about random meshes, recipes and data.
 *
 * A third of the cases has a recipe of any kind, a third one that is right, a third one with a few
 * changes: each class of fault is met often. A campaign of a thousand cases in which a class never
 * occurred fails: it would prove nothing about it. */
#include "campaign.h"

#include <inttypes.h>
#include <stdio.h>

#define ENOUGH 1000

static const char *build(struct scenario *scenario, struct draw *draw, void *user)
{
    (void)user;
    uint32_t kind = draw_below(draw, 3);
    if (kind == 0) {
        scenario_random_recipe(scenario, draw);
        return "any recipe";
    }
    scenario_right_recipe(scenario, draw);
    for (uint32_t changes = kind == 1 ? 0 : 1 + draw_below(draw, 3); changes > 0; changes--)
        scenario_mutate(scenario, draw);
    return "a right recipe, changed or not";
}

int main(int argc, char **argv)
{
    struct campaign campaign;
    if (!campaign_begin(&campaign, argc, argv, 2000))
        return 2;
    struct campaign_plan plan = {.name = "ledger_property", .build = build};
    campaign_run(&campaign, &plan);
    campaign_print(&campaign);
    for (int fault = 0; campaign.only < 0 && campaign.cases >= ENOUGH && fault < FAULT_COUNT;
         fault++) {
        campaign.passed += campaign.faults[fault] > 0;
        campaign.failed += campaign.faults[fault] == 0;
        if (campaign.faults[fault] == 0)
            printf("no case of %s: the campaign proves nothing about it\n",
                   fault_name((enum fault)fault));
    }
    printf("%" PRIu64 " passed, %" PRIu64 " failed\n", campaign.passed, campaign.failed);
    return campaign.failed > 0;
}
