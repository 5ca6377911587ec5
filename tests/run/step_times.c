/* Where the time of the steps goes: the division of gates, and whole runs that measure it. */
#include "../plan/plan_fixture.h"
#include "run/fault_load.h"
#include "run/step_time.h"
#include "run/training.h"

#include <stdio.h>
#include <string.h>

TestSuite(run_step_time, .timeout = 120);

#define MS UINT64_C(1000000)

/* An auditor's step whose laps are set by hand: the clock itself is not asked. */
static void end_step(struct emu_step_time *time, uint64_t last_ns, uint64_t oracle_done_ns)
{
    time->oracle_done_ns = oracle_done_ns;
    emu_step_time_open(time, last_ns);
}

Test(run_step_time, a_gate_is_divided_by_who_is_waited_for)
{
    struct emu_step_time time;
    cr_assert_eq(emu_step_time_begin(&time, 2), EMU_OK);
    uint64_t now = time.watch.since_ns;
    /* rank 0 came 30 ms before rank 1, the oracle was done 7 ms after that */
    struct emu_rank_laps first = {.arrived_ns = now - 40 * MS, .cpu_ns = 3 * MS};
    struct emu_rank_laps last = {.arrived_ns = now - 10 * MS, .cpu_ns = 4 * MS};
    first.spent_ns[EMU_LAP_COMPUTE] = 5 * MS;
    first.spent_ns[EMU_LAP_WAIT] = 2 * MS;
    first.spent_ns[EMU_LAP_CHECK] = 1 * MS;
    last.spent_ns[EMU_LAP_COMPUTE] = 35 * MS;
    end_step(&time, last.arrived_ns, last.arrived_ns + 7 * MS);
    emu_step_time_close(&time, 1);
    emu_step_time_take(&time, 0, &first);
    emu_step_time_take(&time, 1, &last);
    const struct emu_rank_time *early = &time.breakdown->ranks[0], *late = early + 1;
    uint64_t end = time.watch.since_ns;
    cr_assert_eq(time.breakdown->steps, 1);
    cr_assert_eq(early->ns[EMU_SPENT_ORACLE], 7 * MS);
    cr_assert_eq(late->ns[EMU_SPENT_ORACLE], 7 * MS);
    cr_assert_eq(emu_rank_time_total(early), 8 * MS + (end - first.arrived_ns));
    cr_assert_eq(emu_rank_time_total(late), 35 * MS + (end - last.arrived_ns));
    cr_assert_eq(early->ns[EMU_SPENT_WAITING] - 2 * MS - late->ns[EMU_SPENT_WAITING], 30 * MS);
    cr_assert_eq(early->ns[EMU_SPENT_CHECKS] - 1 * MS, late->ns[EMU_SPENT_CHECKS]);
    cr_assert_eq(late->cpu_ns, 4 * MS);
    emu_step_time_finish(&time);
}

Test(run_step_time, an_oracle_that_came_first_held_nobody)
{
    struct emu_step_time time;
    cr_assert_eq(emu_step_time_begin(&time, 1), EMU_OK);
    uint64_t now = time.watch.since_ns;
    struct emu_rank_laps laps = {.arrived_ns = now - 4 * MS};
    end_step(&time, laps.arrived_ns, laps.arrived_ns - 1);
    emu_step_time_close(&time, 1);
    emu_step_time_take(&time, 0, &laps);
    cr_assert_eq(time.breakdown->ranks[0].ns[EMU_SPENT_ORACLE], 0);
    emu_step_time_finish(&time);
}

Test(run_step_time, one_that_was_not_begun_does_nothing)
{
    struct emu_step_time time = {0};
    emu_step_time_enter(&time, EMU_AUDIT_ORACLE);
    emu_step_time_open(&time, 5);
    emu_step_time_close(&time, 1);
    static const struct emu_step_time zero;
    cr_assert_eq(memcmp(&time, &zero, sizeof time), 0);
    emu_step_time_finish(&time);
}

static const char text[] = "Ranks that hold one shard see the same examples.\n"
                           "A mean of means is no mean.\n";

struct finished {
    struct plan_fixture plan;
    struct emu_fault_load faults;
    struct emu_training_result result;
};

static void train(struct finished *f, bool breakdown, const char *fault, const char *more)
{
    char config[1024];
    snprintf(config, sizeof config,
             "mesh: dp=2,tp=2\n"
             "model: {kind: mlp_lm, context: 4, embed: 6, hidden: 10, layers: 2}\n"
             "data: {text: t.txt, sequence: 12, batch: 4}\n"
             "train: {steps: 4, seed: 3}\n%s",
             more);
    memset(f, 0, sizeof *f);
    cr_assert_eq(plan_open(&f->plan, config), EMU_OK, "%s", emu_text_get(&f->plan.diagnostics));
    struct emu_text wrong = {0};
    struct emu_fault_specs specs = {&fault, fault ? 1 : 0, "--fault"};
    cr_assert_eq(emu_fault_load_plan(f->plan.plan, &specs, &wrong, &f->faults), EMU_OK, "%s",
                 emu_text_get(&wrong));
    struct emu_training_options options = {.text = text,
                                           .text_size = sizeof text - 1,
                                           .only_output = -1,
                                           .output_fd = 1,
                                           .breakdown = breakdown,
                                           .faults = fault ? &f->faults.set : NULL};
    cr_assert_eq(emu_training_run(f->plan.plan, &options, &f->result), EMU_OK);
}

static void close_run(struct finished *f)
{
    emu_training_result_finish(&f->result);
    emu_fault_load_finish(&f->faults);
    plan_close(&f->plan);
}

/* The gates end at one time on all ranks, and begin after one: so do their totals, but for the time
 * until each of them runs. */
Test(run_step_time, every_rank_accounts_for_its_steps)
{
    struct finished f;
    train(&f, true, NULL, "");
    const struct emu_breakdown *breakdown = f.result.breakdown;
    cr_assert_not_null(breakdown);
    cr_assert_eq(breakdown->world, 4);
    cr_assert_eq(breakdown->steps, 4);
    cr_assert_gt(breakdown->oracle_cpu_ns, 0);
    cr_assert_gt(breakdown->audit_cpu_ns, 0);
    for (uint32_t rank = 0; rank < 4; rank++) {
        const struct emu_rank_time *time = &breakdown->ranks[rank];
        uint64_t total = emu_rank_time_total(time);
        cr_assert_leq(total, f.result.job.total_ns);
        cr_assert_leq(time->cpu_ns, total);
        for (int i = 0; i < EMU_SPENT_COUNT; i++)
            if (i != EMU_SPENT_ORACLE) /* it may always have come first */
                cr_assert_gt(time->ns[i], 0, "rank %u: %s", rank,
                             emu_spent_name((enum emu_spent)i));
    }
    close_run(&f);
}

Test(run_step_time, without_an_oracle_nobody_waits_for_it)
{
    struct finished f;
    train(&f, true, NULL, "checks: {oracle: false}\n");
    cr_assert_eq(f.result.breakdown->oracle_cpu_ns, 0);
    for (uint32_t rank = 0; rank < 4; rank++)
        cr_assert_eq(f.result.breakdown->ranks[rank].ns[EMU_SPENT_ORACLE], 0);
    close_run(&f);
}

Test(run_step_time, who_is_late_makes_the_others_wait)
{
    struct finished f;
    train(&f, true, "delay rank=2 step=2 time=1s", "checks: {oracle: false}\n");
    const struct emu_rank_time *ranks = f.result.breakdown->ranks;
    cr_assert_geq(ranks[2].ns[EMU_SPENT_CALLS], 1000 * MS); /* faults act inside calls */
    for (uint32_t rank = 0; rank < 4; rank++)
        if (rank != 2)
            cr_assert_geq(ranks[rank].ns[EMU_SPENT_WAITING], 250 * MS, "rank %u", rank);
    close_run(&f);
}

Test(run_step_time, nothing_is_measured_unasked)
{
    struct finished f;
    train(&f, false, NULL, "");
    cr_assert_null(f.result.breakdown);
    close_run(&f);
}
