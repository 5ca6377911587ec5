#include "run/campaign.h"

#include "fault/campaign_schedule.h"
#include "fault/expectation.h"
#include "plan/initial.h"
#include "run/campaign_tokens.h"
#include "run/fault_load.h"
#include "run/training.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STALL_AFTER_NS UINT64_C(1000000000) /* of time on the wall: a loaded machine takes some */
#define STOP_GRACE_NS UINT64_C(300000000)
#define TIMEOUT_NS UINT64_C(60000000000)
#define CONTROL_EVERY 16 /* faults */

struct conducting {
    const struct emu_plan *plan;
    const struct emu_campaign_options *options;
    struct emu_campaign *campaign;
    size_t runs; /* that there will be */
    uint64_t calls_in_step;
    struct emu_corpus corpus;
};

enum emu_catcher emu_catcher_of(enum emu_class class_id)
{
    switch (class_id) {
    case EMU_CLASS_CRASH:
    case EMU_CLASS_EARLY_EXIT:
    case EMU_CLASS_STOPPED:
    case EMU_CLASS_STALL:
    case EMU_CLASS_STRAGGLER:
        return EMU_CATCHER_PROCESSES;
    case EMU_CLASS_CORRUPT_PAYLOAD:
        return EMU_CATCHER_PAYLOAD;
    case EMU_CLASS_INIT_MISMATCH:
        return EMU_CATCHER_INIT;
    case EMU_CLASS_SHARD_TILING:
        return EMU_CATCHER_TILING;
    case EMU_CLASS_DATA_OVERLAP:
    case EMU_CLASS_DATA_GAP:
    case EMU_CLASS_DATA_DIVERGENCE:
        return EMU_CATCHER_DATA;
    case EMU_CLASS_REPLICA_DIVERGENCE:
    case EMU_CLASS_NONFINITE:
        return EMU_CATCHER_REPLICAS;
    case EMU_CLASS_ORACLE_MISMATCH:
        return EMU_CATCHER_ORACLE;
    case EMU_CLASS_MEMORY_MISMATCH:
    case EMU_CLASS_TRAFFIC_MISMATCH:
        return EMU_CATCHER_BOOKS;
    default:
        return class_id < EMU_CLASS_CRASH ? EMU_CATCHER_CALLS : EMU_CATCHER_LEDGER;
    }
}

const char *emu_catcher_name(enum emu_catcher catcher)
{
    static const char *const names[] = {
#define NAME(name, text) text,
        EMU_CATCHER_LIST(NAME)
#undef NAME
    };
    return (unsigned)catcher < EMU_CATCHER_COUNT ? names[catcher] : "?";
}

static struct emu_training_options training_of(const struct conducting *c)
{
    return (struct emu_training_options){.text = c->options->text,
                                         .text_size = c->options->text_size,
                                         .timeout_ns = TIMEOUT_NS,
                                         .stall_after_ns = STALL_AFTER_NS,
                                         .stop_grace_ns = STOP_GRACE_NS,
                                         .only_output = -1,
                                         .output_fd = c->options->output_fd};
}

static const struct emu_finding *first_fault(const struct emu_findings *findings)
{
    for (size_t i = 0; i < findings->count; i++)
        if (!findings->items[i].note)
            return &findings->items[i];
    return NULL;
}

/* Calls of a step that every rank makes. */
static uint64_t calls_of(const struct emu_training_result *result)
{
    uint64_t least = UINT64_MAX;
    for (uint32_t rank = 0; rank < result->job.world; rank++) {
        uint64_t begun = result->job.records[rank].begun;
        uint64_t before = emu_initial_calls(result->plan, rank);
        uint64_t stepped = begun > before ? begun - before : 0;
        least = stepped < least ? stepped : least;
    }
    return result->step_count && least >= result->step_count ? least / result->step_count : 1;
}

static enum emu_status run_control(struct conducting *c)
{
    struct emu_training_options options = training_of(c);
    struct emu_training_result result;
    options.keep_records = true;
    enum emu_status status = emu_training_run(c->plan, &options, &result);
    if (status != EMU_OK)
        return status;
    c->calls_in_step = calls_of(&result);
    c->campaign->controls++;
    c->campaign->false_alarms += emu_findings_faults(&result.findings) > 0;
    c->campaign->interrupted = result.job.interrupted;
    emu_training_result_finish(&result);
    return EMU_OK;
}

static void judge(const struct conducting *c, const struct emu_fault_expectation *expected,
                  const struct emu_findings *findings, struct emu_campaign_run *run)
{
    const struct emu_finding *first = first_fault(findings);
    run->class_right = run->quiet ? !first : first != NULL;
    run->culprit_right = run->quiet && !first;
    for (size_t i = 0; i < findings->count; i++) {
        const struct emu_finding *finding = &findings->items[i];
        if (finding->note)
            continue;
        bool right = !run->quiet && emu_fault_class_right(expected, finding);
        run->class_right = run->class_right && right;
        if (right && emu_fault_culprit_right(expected, c->plan, finding))
            run->culprit_right = true;
    }
    run->pass = run->fired == 1 && run->class_right && run->culprit_right;
    if (!first)
        return;
    run->found = true;
    run->got = first->class_id;
    run->after_ns = first->after_ns;
    run->message = first->message ? strdup(first->message) : NULL;
}

/* What only the examples can say: nothing is wrong with a mean of means over equal counts, and a
 * microbatch without a valid token may be lost. A mean over no token is 0/0. */
static const char *refine_by_tokens(const struct conducting *c, const struct emu_fault *fault,
                                    struct emu_fault_expectation *expected)
{
    uint64_t step = emu_fault_number(fault, EMU_KEY_STEP, 1);
    uint32_t micro = fault->kind == EMU_FAULT_COUNT_PADDING
                         ? c->plan->microbatches - 1
                         : (uint32_t)emu_fault_number(fault, EMU_KEY_MICRO, 0);
    bool means = fault->kind == EMU_FAULT_MEAN_OF_MEANS && c->plan->keeps_ledger;
    if (means && emu_campaign_has_empty(c->plan, &c->corpus, step)) {
        expected->classes = UINT64_C(1) << EMU_CLASS_NONFINITE;
        return NULL;
    }
    if (fault->kind == EMU_FAULT_MEAN_OF_MEANS &&
        emu_campaign_tokens_equal(c->plan, &c->corpus, step))
        return "all sources hold the same number of tokens in that step";
    if (fault->kind == EMU_FAULT_SLICE_DENOMINATOR &&
        emu_campaign_slices_equal(c->plan, &c->corpus, step))
        return "all cp slices hold the same number of tokens in that step";
    if (expected->names_source &&
        emu_campaign_tokens(c->plan, &c->corpus, step, expected->source) == 0)
        return "the microbatch holds no valid token";
    if ((fault->kind == EMU_FAULT_DROP_MICROBATCH || fault->kind == EMU_FAULT_COUNT_PADDING) &&
        !emu_campaign_micro_holds(c->plan, &c->corpus, step, micro))
        return "the microbatch holds no valid token on any rank";
    return NULL;
}

static enum emu_status run_fault(struct conducting *c, const struct emu_fault_load *load,
                                 struct emu_campaign_run *run)
{
    struct emu_fault_expectation expected;
    emu_fault_expect(&load->faults[0], c->plan, &expected);
    run->skipped = expected.skip ? expected.skip : refine_by_tokens(c, &load->faults[0], &expected);
    run->expected = expected.classes;
    run->quiet = expected.quiet;
    if (run->skipped)
        return EMU_OK;
    struct emu_training_options options = training_of(c);
    struct emu_training_result result;
    options.faults = &load->set;
    enum emu_status status = emu_training_run(c->plan, &options, &result);
    if (status != EMU_OK)
        return status;
    run->fired = emu_fault_load_fired(load, 0);
    judge(c, &expected, &result.findings, run);
    c->campaign->interrupted = result.job.interrupted;
    emu_training_result_finish(&result);
    return EMU_OK;
}

/* The SPEC of run i, and which kind it is. */
static bool choose(const struct conducting *c, size_t i, struct emu_campaign_run *run)
{
    struct emu_fault_dice dice = emu_fault_dice_plain(c->plan);
    size_t row = i;
    if (c->options->random) {
        dice = emu_fault_dice_random(c->plan, c->options->seed, i, c->calls_in_step);
        row = emu_fault_schedule_random(c->options->seed, i);
    }
    bool full = emu_fault_schedule_spec(c->plan, row, &dice, run->fault);
    size_t size = strcspn(run->fault, " ");
    for (int kind = 0; kind < EMU_FAULT_KIND_COUNT; kind++) {
        const char *name = emu_fault_name((enum emu_fault_kind)kind);
        if (strlen(name) == size && !memcmp(name, run->fault, size))
            run->kind = (enum emu_fault_kind)kind;
    }
    return full;
}

static enum emu_status conduct_one(struct conducting *c, size_t i)
{
    struct emu_campaign_run *run = &c->campaign->runs[c->campaign->count];
    struct emu_text diagnostics = {0};
    struct emu_fault_load load;
    *run = (struct emu_campaign_run){.after_ns = -1};
    c->campaign->count++;
    if (!choose(c, i, run)) {
        run->skipped = "the plan has nothing for this address";
        return EMU_OK;
    }
    enum emu_status status = emu_fault_load_one(c->plan, run->fault, &diagnostics, &load);
    if (status != EMU_OK) {
        fprintf(stderr, "meshemu: '%s': %s", run->fault, emu_text_get(&diagnostics));
        emu_text_finish(&diagnostics);
        return status == EMU_EPARSE ? EMU_EINTERNAL : status;
    }
    emu_text_finish(&diagnostics);
    status = run_fault(c, &load, run);
    emu_fault_load_finish(&load);
    return status;
}

static enum emu_status conduct(struct conducting *c)
{
    enum emu_status status = run_control(c);
    for (size_t i = 0; i < c->runs && status == EMU_OK && !c->campaign->interrupted; i++) {
        status = conduct_one(c, i);
        if (status == EMU_OK && (i % CONTROL_EVERY == CONTROL_EVERY - 1 || i + 1 == c->runs))
            status = run_control(c);
        if (c->options->progress)
            c->options->progress(c->campaign, c->runs, c->options->user);
    }
    return status;
}

enum emu_status emu_campaign_conduct(const struct emu_plan *plan,
                                     const struct emu_campaign_options *options,
                                     struct emu_campaign *campaign)
{
    *campaign = (struct emu_campaign){0};
    struct conducting c = {
        .plan = plan,
        .options = options,
        .campaign = campaign,
        .runs = options->random ? options->random : emu_fault_schedule_count(),
        .calls_in_step = 1,
    };
    campaign->runs = calloc(c.runs, sizeof *campaign->runs);
    enum emu_status status = campaign->runs ? EMU_OK : EMU_ENOMEM;
    if (status == EMU_OK)
        status = emu_corpus_init(&c.corpus, options->text, options->text_size,
                                 plan->config->data.sequence);
    if (status == EMU_OK)
        status = conduct(&c);
    emu_corpus_finish(&c.corpus);
    if (status != EMU_OK)
        emu_campaign_finish(campaign);
    return status;
}

void emu_campaign_finish(struct emu_campaign *campaign)
{
    for (size_t i = 0; i < campaign->count; i++)
        free(campaign->runs[i].message);
    free(campaign->runs);
    *campaign = (struct emu_campaign){0};
}

bool emu_campaign_passed(const struct emu_campaign *campaign)
{
    bool passed = campaign->false_alarms == 0 && !campaign->interrupted;
    for (size_t i = 0; i < campaign->count; i++)
        passed = passed && (campaign->runs[i].skipped || campaign->runs[i].pass);
    return passed;
}
