/* Which processors may a rank run on? */
#include "../plan/plan_fixture.h"
#include "job_maker.h"
#include "os/cpu.h"
#include "run/training.h"

#include <stdio.h>

TestSuite(run_pinning, .timeout = 60);

/* A rank tells by its code how many processors it may use; 0 is kept for "all of them". */
static int count(struct emu_rank *rank, void *user)
{
    const uint32_t *all = user;
    (void)rank;
    return emu_cpu_count() == *all ? 0 : (int)emu_cpu_count();
}

static void expect_codes(bool pin, int code)
{
    struct job_maker maker;
    uint32_t all = emu_cpu_count();
    make_job(&maker, "dp=3", count, &all);
    maker.job.pin = pin;
    maker.job.keep_going = true; /* or the first code that is not 0 ends the others */
    cr_assert_eq(emu_job_run(&maker.job, &maker.result), EMU_OK);
    for (int rank = 0; rank < 3; rank++)
        cr_assert_eq(maker.result.ranks[rank].code, code, "rank %d", rank);
    emu_job_result_finish(&maker.result);
}

Test(run_pinning, a_pinned_rank_has_one_processor)
{
    if (emu_cpu_count() > 1) /* with one, all and one are the same */
        expect_codes(true, 1);
}

Test(run_pinning, others_have_all)
{
    expect_codes(false, 0);
}

Test(run_pinning, asking_changes_nothing)
{
    uint32_t all = emu_cpu_count();
    cr_assert(emu_cpu_may_pin());
    cr_assert_eq(emu_cpu_count(), all);
}

static bool pinned(uint32_t ranks, enum emu_pinning pinning)
{
    struct plan_fixture plan;
    struct emu_training_result result;
    char config[256];
    snprintf(config, sizeof config,
             "mesh: dp=%u\n"
             "model: {kind: linear, features: 1}\n"
             "data: {tokens: [%s]}\n"
             "checks: {oracle: false}\n"
             "train: {steps: 1}\n",
             ranks, ranks == 1 ? "[[1]]" : "[[1]], [[2]]");
    cr_assert_eq(plan_open(&plan, config), EMU_OK, "%s", emu_text_get(&plan.diagnostics));
    struct emu_training_options options = {.only_output = -1, .output_fd = 1, .pinning = pinning};
    cr_assert_eq(emu_training_run(plan.plan, &options, &result), EMU_OK);
    bool answer = result.pinned;
    emu_training_result_finish(&result);
    plan_close(&plan);
    return answer;
}

Test(run_pinning, a_run_pins_where_ranks_take_turns)
{
    cr_assert(emu_cpu_pin(0)); /* this process, and with it the run: one processor */
    cr_assert_eq(emu_cpu_count(), 1);
    cr_assert(pinned(2, EMU_PIN_CROWDED));
    cr_assert_not(pinned(1, EMU_PIN_CROWDED));
    cr_assert(pinned(1, EMU_PIN_ALWAYS));
    cr_assert_not(pinned(2, EMU_PIN_NEVER));
}
