#include "campaign.h"

#include "base/number.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define REDRAWS_MOST 1000
#define FAILURES_SHOWN 20

static bool read_number(const char *text, uint64_t *out)
{
    char *end;
    if (!text || *text < '0' || *text > '9')
        return false;
    *out = strtoull(text, &end, 10);
    return *end == '\0';
}

bool campaign_begin(struct campaign *campaign, int argc, char **argv, uint64_t cases)
{
    *campaign = (struct campaign){.cases = cases, .seed = 1, .only = -1};
    for (int i = 1; i < argc; i += 2) {
        uint64_t number;
        if (i + 1 < argc && read_number(argv[i + 1], &number) && number < INT64_MAX) {
            if (!strcmp(argv[i], "--cases")) {
                campaign->cases = number;
                continue;
            }
            if (!strcmp(argv[i], "--seed")) {
                campaign->seed = number;
                continue;
            }
            if (!strcmp(argv[i], "--only")) {
                campaign->only = (int64_t)number;
                continue;
            }
        }
        fprintf(stderr, "usage: %s [--cases N] [--seed S] [--only K]\n", argv[0]);
        return false;
    }
    return true;
}

static void print_failure(const struct campaign *campaign, const struct campaign_plan *plan,
                          uint64_t index, const struct scenario *scenario,
                          const struct emu_text *why)
{
    struct emu_text config = {0};
    if (campaign->failed > FAILURES_SHOWN)
        return;
    scenario_write(scenario, &config);
    printf("%s: case %" PRIu64 " of seed %" PRIu64 " (--seed %" PRIu64 " --only %" PRIu64
           "):\n%s--- config\n%s",
           plan->name, index, campaign->seed, campaign->seed, index, emu_text_get(why),
           emu_text_get(&config));
    if (scenario->language)
        printf("--- t.txt\n%s", scenario->text);
    printf("---\n");
    emu_text_finish(&config);
}

static void run_case(struct campaign *campaign, const struct campaign_plan *plan, uint64_t index)
{
    static struct scenario scenario;
    struct draw draw = draw_begin(campaign->seed, index);
    struct verdict verdict = {.judgement = JUDGEMENT_REDRAW};
    struct emu_text why = {0};
    const char *words = NULL;
    for (int i = 0; i < REDRAWS_MOST && verdict.judgement == JUDGEMENT_REDRAW; i++) {
        scenario_setting(&scenario, &draw);
        words = plan->build(&scenario, &draw, plan->user);
        if (words)
            judge_scenario(&scenario, &verdict, &why);
    }
    const char *more = plan->after ? plan->after(&verdict, words, plan->user) : NULL;
    if (more)
        emu_text_printf(&why, "%s\n", more);
    if (verdict.judgement == JUDGEMENT_HOLDS && !more) {
        campaign->passed++;
    } else {
        campaign->failed++;
        print_failure(campaign, plan, index, &scenario, &why);
    }
    campaign->faults[verdict.fault]++;
    campaign->exact += verdict.exact;
    campaign->hidden += verdict.hidden;
    emu_text_finish(&why);
}

void campaign_run(struct campaign *campaign, const struct campaign_plan *plan)
{
    printf("%s: seed %" PRIu64 "\n", plan->name, campaign->seed);
    fflush(stdout);
    if (campaign->only >= 0) {
        run_case(campaign, plan, (uint64_t)campaign->only);
        return;
    }
    for (uint64_t i = 0; i < campaign->cases; i++)
        run_case(campaign, plan, i);
}

void campaign_print(const struct campaign *campaign)
{
    for (int fault = 0; fault < FAULT_COUNT; fault++)
        printf("  %8" PRIu64 "  %s\n", campaign->faults[fault], fault_name((enum fault)fault));
    printf("  %8" PRIu64 "  compared bit for bit\n", campaign->exact);
    printf("  %8" PRIu64 "  wrong, with sums that hide it\n", campaign->hidden);
}
