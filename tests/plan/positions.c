#include "plan/positions.h"

#include "plan_fixture.h"

#include <stdio.h>

static void open_cp(struct plan_fixture *f, unsigned cp, unsigned sequence, unsigned context,
                    const char *split)
{
    char text[512];
    snprintf(text, sizeof text,
             "mesh: cp=%u\nmodel: {kind: mlp_lm, context: %u, cp_split: %s}\n"
             "data: {text: t.txt, sequence: %u}\n",
             cp, context, split, sequence);
    cr_assert_eq(plan_open(f, text), EMU_OK, "%s", emu_text_get(&f->diagnostics));
}

Test(plan_positions, balanced_gives_each_rank_an_early_and_a_late_run)
{
    struct plan_fixture f;
    open_cp(&f, 2, 8, 3, "balanced");
    uint32_t runs[2];
    cr_assert_eq(emu_runs(f.plan), 4);
    cr_assert(emu_runs_of(f.plan, 0, runs) == 2 && runs[0] == 0 && runs[1] == 3);
    cr_assert(emu_runs_of(f.plan, 1, runs) == 2 && runs[0] == 1 && runs[1] == 2);
    struct emu_slice halo = emu_run_halo(f.plan, 2, 0);
    cr_assert(halo.start == 1 && halo.count == 1);
    halo = emu_run_halo(f.plan, 2, 1);
    cr_assert(halo.start == 2 && halo.count == 2);
    plan_close(&f);
}

/* Every position is owned once, and every window is made of own positions, halo, and what lies
 * before. */
Test(plan_positions, runs_and_halos_cover_every_window)
{
    static const char *const splits[] = {"contiguous", "balanced"};
    for (unsigned cp = 1; cp <= 5; cp++)
        for (unsigned sequence = 1; sequence <= 17; sequence += 4)
            for (unsigned context = 1; context <= 9; context += 4)
                for (int split = 0; split < 2; split++) {
                    struct plan_fixture f;
                    open_cp(&f, cp, sequence, context, splits[split]);
                    uint64_t owned = 0;
                    for (uint32_t i = 0; i < cp; i++)
                        owned += emu_positions_owned(f.plan, i);
                    cr_assert_eq(owned, sequence);
                    for (uint32_t i = 0; i < cp; i++)
                        cr_assert_leq(emu_positions_owned(f.plan, i) *
                                          emu_plan_sequences(f.plan, 0).count,
                                      emu_plan_rows_most(f.plan));
                    for (uint32_t run = 0; run < emu_runs(f.plan); run++) {
                        struct emu_slice own = emu_run_positions(f.plan, run);
                        uint64_t halo = 0;
                        for (uint32_t from = 0; from < run; from++)
                            halo += emu_run_halo(f.plan, run, from).count;
                        uint64_t want = own.start < context ? own.start : context;
                        cr_assert_eq(halo, own.count ? want : 0);
                    }
                    plan_close(&f);
                }
}
