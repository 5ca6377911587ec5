#include "cli/faults_print.h"

#include <inttypes.h>
#include <string.h>

#define NAME_WIDTH 22
#define CELL_WIDTH 10

/* One row of the matrix: all runs of one kind. */
struct row {
    size_t runs, skipped, passed, quiet;
    size_t culprits; /* named rightly */
    size_t caught[EMU_CATCHER_COUNT];
    int64_t slowest_ns; /* of those with a time; -1: none */
    const char *skip;
};

static struct row row_of(const struct emu_campaign *campaign, enum emu_fault_kind kind)
{
    struct row row = {.slowest_ns = -1};
    for (size_t i = 0; i < campaign->count; i++) {
        const struct emu_campaign_run *run = &campaign->runs[i];
        if (run->kind != kind)
            continue;
        if (run->skipped) {
            row.skipped++;
            row.skip = run->skipped;
            continue;
        }
        row.runs++;
        row.passed += run->pass;
        row.culprits += run->culprit_right;
        row.quiet += run->quiet && !run->found;
        if (!run->found)
            continue;
        row.caught[emu_catcher_of(run->got)]++;
        if (run->after_ns > row.slowest_ns)
            row.slowest_ns = run->after_ns;
    }
    return row;
}

static void add_cell(struct emu_text *out, size_t number)
{
    if (number)
        emu_text_printf(out, "%*zu", CELL_WIDTH, number);
    else
        emu_text_printf(out, "%*s", CELL_WIDTH, ".");
}

/* Columns that nothing was caught by in the whole campaign are left out. */
static bool used_column(const struct emu_campaign *campaign, enum emu_catcher catcher)
{
    for (size_t i = 0; i < campaign->count; i++)
        if (campaign->runs[i].found && emu_catcher_of(campaign->runs[i].got) == catcher)
            return true;
    return false;
}

static void add_head(const struct emu_campaign *campaign, struct emu_text *out)
{
    emu_text_printf(out, "%-*s%5s", NAME_WIDTH, "caught by", "runs");
    for (int c = 0; c < EMU_CATCHER_COUNT; c++)
        if (used_column(campaign, (enum emu_catcher)c))
            emu_text_printf(out, "%*s", CELL_WIDTH, emu_catcher_name((enum emu_catcher)c));
    emu_text_printf(out, "%*s%*s%*s\n", CELL_WIDTH, "after", CELL_WIDTH, "culprit", CELL_WIDTH,
                    "passed");
}

static void add_row(const struct emu_campaign *campaign, enum emu_fault_kind kind,
                    struct emu_text *out)
{
    struct row row = row_of(campaign, kind);
    if (row.runs + row.skipped == 0)
        return;
    emu_text_printf(out, "%-*s", NAME_WIDTH, emu_fault_name(kind));
    if (row.runs == 0) {
        emu_text_printf(out, "    - skipped: %s\n", row.skip ? row.skip : "");
        return;
    }
    emu_text_printf(out, "%5zu", row.runs);
    for (int c = 0; c < EMU_CATCHER_COUNT; c++)
        if (used_column(campaign, (enum emu_catcher)c))
            add_cell(out, row.caught[c]);
    if (row.slowest_ns >= 0)
        emu_text_printf(out, "%*.1fms", CELL_WIDTH - 2, (double)row.slowest_ns / 1e6);
    else
        emu_text_printf(out, "%*s", CELL_WIDTH, row.quiet == row.runs ? "quiet" : "step");
    emu_text_printf(out, "%*zu%*zu\n", CELL_WIDTH, row.culprits, CELL_WIDTH, row.passed);
}

static void add_classes(uint64_t classes, struct emu_text *out)
{
    const char *before = "";
    for (int class_id = 0; class_id < EMU_CLASS_COUNT; class_id++) {
        if (!(classes >> class_id & 1))
            continue;
        emu_text_printf(out, "%s%s", before, emu_class_name((enum emu_class)class_id));
        before = " or ";
    }
}

static void add_failure(const struct emu_campaign_run *run, struct emu_text *out)
{
    emu_text_printf(out, "\nFAILED %s\n    fired %" PRIu32 " times; expected ", run->fault,
                    run->fired);
    if (run->quiet)
        emu_text_puts(out, "no fault");
    else
        add_classes(run->expected, out);
    emu_text_printf(out, ", got %s%s\n", run->found ? emu_class_name(run->got) : "none",
                    run->class_right && !run->culprit_right ? ", which names another culprit" : "");
    if (run->message)
        emu_text_printf(out, "    %s\n", run->message);
}

void emu_campaign_to_text(const struct emu_campaign *campaign, struct emu_text *out)
{
    size_t runs = 0, passed = 0;
    add_head(campaign, out);
    for (int kind = 0; kind < EMU_FAULT_KIND_COUNT; kind++)
        add_row(campaign, (enum emu_fault_kind)kind, out);
    for (size_t i = 0; i < campaign->count; i++) {
        const struct emu_campaign_run *run = &campaign->runs[i];
        runs += !run->skipped;
        passed += !run->skipped && run->pass;
        if (!run->skipped && !run->pass)
            add_failure(run, out);
    }
    emu_text_printf(out,
                    "\n%zu of %zu faults fired once and were named, %zu skipped; %" PRIu32
                    " control runs, %" PRIu32 " false alarms\n",
                    passed, runs, campaign->count - runs, campaign->controls,
                    campaign->false_alarms);
    emu_text_printf(out, "verdict: %s\n", emu_campaign_passed(campaign) ? "pass" : "fail");
}

static void put_run(const struct emu_campaign_run *run, struct emu_json *json)
{
    emu_json_object_begin(json);
    emu_json_put_string(json, "fault", run->fault);
    emu_json_put_u64(json, "fired", run->fired);
    emu_json_key(json, "expected");
    emu_json_array_begin(json);
    for (int class_id = 0; class_id < EMU_CLASS_COUNT && !run->quiet; class_id++)
        if (run->expected >> class_id & 1)
            emu_json_string(json, emu_class_name((enum emu_class)class_id));
    emu_json_array_end(json);
    emu_json_put_string(json, "got", run->found ? emu_class_name(run->got) : NULL);
    emu_json_put_bool(json, "culprit_right", run->culprit_right);
    emu_json_key(json, "after_ns");
    if (run->found && run->after_ns >= 0)
        emu_json_i64(json, run->after_ns);
    else
        emu_json_null(json);
    emu_json_put_bool(json, "pass", run->pass);
    emu_json_object_end(json);
}

void emu_campaign_to_json(const struct emu_campaign *campaign, struct emu_json *json)
{
    emu_json_report_begin(json, "faults");
    emu_json_put_string(json, "verdict", emu_campaign_passed(campaign) ? "pass" : "fail");
    emu_json_key(json, "runs");
    emu_json_array_begin(json);
    for (size_t i = 0; i < campaign->count; i++)
        if (!campaign->runs[i].skipped)
            put_run(&campaign->runs[i], json);
    emu_json_array_end(json);
    emu_json_put_u64(json, "controls", campaign->controls);
    emu_json_put_u64(json, "false_alarms", campaign->false_alarms);
    emu_json_key(json, "skipped");
    emu_json_array_begin(json);
    for (size_t i = 0; i < campaign->count; i++) {
        if (!campaign->runs[i].skipped)
            continue;
        emu_json_object_begin(json);
        emu_json_put_string(json, "fault", campaign->runs[i].fault);
        emu_json_put_string(json, "why", campaign->runs[i].skipped);
        emu_json_object_end(json);
    }
    emu_json_array_end(json);
    emu_json_object_end(json);
}
