#include "plan/schedule.h"

#include "plan_fixture.h"

#include <stdio.h>

static void open_pipeline(struct plan_fixture *f, unsigned pp, unsigned micro, const char *schedule)
{
    char text[512];
    snprintf(text, sizeof text,
             "mesh: pp=%u\nmodel: {kind: mlp_lm, layers: 8}\n"
             "data: {text: t.txt, batch: 64, microbatches: %u}\ntrain: {schedule: %s}\n",
             pp, micro, schedule);
    cr_assert_eq(plan_open(f, text), EMU_OK, "%s", emu_text_get(&f->diagnostics));
}

static void assert_order(const struct plan_fixture *f, uint32_t stage, const char *want)
{
    char got[128] = "";
    for (uint32_t i = 0; i < 2 * f->plan->microbatches; i++) {
        struct emu_action action = emu_schedule_action(f->plan, stage, i);
        size_t used = strlen(got);
        snprintf(got + used, sizeof got - used, "%s%c%u", i ? " " : "", action.backward ? 'B' : 'F',
                 (unsigned)action.micro);
    }
    cr_assert_str_eq(got, want);
}

Test(plan_schedule, one_forward_one_backward_fills_runs_and_drains)
{
    struct plan_fixture f;
    open_pipeline(&f, 3, 4, "1f1b");
    assert_order(&f, 0, "F0 F1 F2 B0 F3 B1 B2 B3");
    assert_order(&f, 1, "F0 F1 B0 F2 B1 F3 B2 B3");
    assert_order(&f, 2, "F0 B0 F1 B1 F2 B2 F3 B3");
    plan_close(&f);
}

Test(plan_schedule, gpipe_runs_all_forwards_first)
{
    struct plan_fixture f;
    open_pipeline(&f, 2, 3, "gpipe");
    assert_order(&f, 0, "F0 F1 F2 B0 B1 B2");
    assert_order(&f, 1, "F0 F1 F2 B0 B1 B2");
    cr_assert_eq(emu_schedule_in_flight(f.plan, 1), 3);
    plan_close(&f);
}

Test(plan_schedule, a_short_pipeline_has_few_microbatches)
{
    struct plan_fixture f;
    open_pipeline(&f, 4, 2, "1f1b");
    assert_order(&f, 0, "F0 F1 B0 B1");
    assert_order(&f, 2, "F0 F1 B0 B1");
    assert_order(&f, 3, "F0 B0 F1 B1");
    plan_close(&f);
}

/* Every microbatch runs forward, later backward, and never more are held than promised. */
Test(plan_schedule, each_microbatch_runs_once_each_way_within_its_buffers)
{
    static const char *const names[] = {"1f1b", "gpipe"};
    for (unsigned pp = 1; pp <= 4; pp++)
        for (unsigned micro = 1; micro <= 7; micro++)
            for (int n = 0; n < 2; n++) {
                struct plan_fixture f;
                open_pipeline(&f, pp, micro, names[n]);
                for (uint32_t stage = 0; stage < pp; stage++) {
                    uint32_t forwards = 0;
                    uint32_t backwards = 0;
                    for (uint32_t i = 0; i < 2 * micro; i++) {
                        struct emu_action action = emu_schedule_action(f.plan, stage, i);
                        cr_assert_eq(action.micro, action.backward ? backwards : forwards);
                        backwards += action.backward;
                        forwards += !action.backward;
                        cr_assert_leq(backwards, forwards);
                        cr_assert_leq(forwards - backwards, emu_schedule_in_flight(f.plan, stage));
                    }
                    cr_assert(forwards == micro && backwards == micro);
                }
                plan_close(&f);
            }
}

Test(plan_stage, the_first_stages_take_the_remainder)
{
    struct plan_fixture f;
    open_pipeline(&f, 3, 1, "1f1b");
    static const uint64_t start[] = {0, 3, 6};
    static const uint64_t count[] = {3, 3, 2};
    for (uint32_t stage = 0; stage < 3; stage++) {
        cr_assert_eq(emu_plan_layers(f.plan, stage).start, start[stage]);
        cr_assert_eq(emu_plan_layers(f.plan, stage).count, count[stage]);
    }
    cr_assert_eq(emu_plan_stage_of(f.plan, 5), 1);
    cr_assert_eq(emu_plan_stage_of(f.plan, 6), 2);
    plan_close(&f);
}

Test(plan_stage, a_tied_table_is_held_by_both_ends)
{
    struct plan_fixture f;
    open_pipeline(&f, 3, 1, "1f1b");
    uint32_t up = (uint32_t)emu_plan_tensor(f.plan, "layers.4.up.weight");
    cr_assert(emu_tensor_held(f.plan, 0, 0) && emu_tensor_held(f.plan, 0, 2));
    cr_assert_not(emu_tensor_held(f.plan, 0, 1));
    cr_assert(emu_tensor_held(f.plan, up, 1) && !emu_tensor_held(f.plan, up, 0));
    cr_assert_eq(emu_tensor_lanes(f.plan, 0), 2 * emu_tensor_lanes(f.plan, up));
    cr_assert_eq(f.plan->recipe.reduction_count, 2);
    cr_assert_str_eq(f.plan->recipe.reductions[0].over, "tied");
    plan_close(&f);
}
