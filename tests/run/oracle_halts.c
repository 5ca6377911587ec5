/* The oracle of a run that was ended gives up its step, and says so. */
#include "../plan/plan_fixture.h"
#include "nn/halt.h"
#include "run/oracle.h"

static const char text[] = "One line to read.\nAnd another one.\n";

struct solo_oracle {
    struct plan_fixture plan;
    struct emu_corpus corpus;
    struct emu_oracle *oracle;
};

static void open_oracle(struct solo_oracle *s)
{
    cr_assert_eq(plan_open(&s->plan, "mesh: dp=2\nmodel: {kind: mlp_lm}\ndata: {text: t.txt}\n"),
                 EMU_OK, "%s", emu_text_get(&s->plan.diagnostics));
    cr_assert_eq(emu_corpus_init(&s->corpus, text, sizeof text - 1, 32), EMU_OK);
    cr_assert_eq(emu_oracle_create(s->plan.plan, &s->corpus, &s->oracle), EMU_OK);
}

static void close_oracle(struct solo_oracle *s)
{
    emu_oracle_destroy(s->oracle);
    emu_corpus_finish(&s->corpus);
    plan_close(&s->plan);
}

static bool yes(const void *context)
{
    (void)context;
    return true;
}

/* Says yes once it has been asked more often than the first calls of a step ask. */
static bool late(const void *context)
{
    unsigned *const *looks = context;
    return ++**looks > 40;
}

static enum emu_status run_watched(bool (*asked)(const void *), const void *context)
{
    struct solo_oracle s;
    struct emu_oracle_step view;
    open_oracle(&s);
    emu_halt_watch(asked, context);
    enum emu_status status = emu_oracle_run(s.oracle, &view);
    emu_halt_watch(NULL, NULL);
    close_oracle(&s);
    return status;
}

Test(oracle_halt, a_step_that_nobody_halts_runs_to_its_end)
{
    cr_assert_eq(run_watched(NULL, NULL), EMU_OK);
}

Test(oracle_halt, a_run_that_was_ended_before_the_step_has_none)
{
    cr_assert_eq(run_watched(yes, NULL), EMU_EABORTED);
}

Test(oracle_halt, a_run_that_is_ended_during_the_step_loses_it)
{
    unsigned count = 0, *looks = &count;
    cr_assert_eq(run_watched(late, &looks), EMU_EABORTED);
    cr_assert_lt(count, 80, "the kernels looked %u times, and went on", count);
}
