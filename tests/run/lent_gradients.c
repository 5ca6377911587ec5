/* Long gradients go from buffer to buffer, with their coefficients and with checksums, and every
 * step has the bits that it has where all of them go in rounds. */
#include "../plan/plan_fixture.h"
#include "run/training.h"

#include <stdio.h>
#include <stdlib.h>

#define STEPS 3
#define LEND_FROM 8192

static const char text[] = "What is lent comes back whole.\n\nOr it is told.\n";

struct finished {
    struct plan_fixture plan;
    struct emu_training_result result;
};

/* ways: of MESHEMU_WAYS, which the launcher reads. */
static void train_by(struct finished *f, const char *mesh, const char *more, const char *ways)
{
    char config[1024];
    snprintf(config, sizeof config,
             "mesh: %s\n"
             "model: {kind: mlp_lm, context: 4, embed: 16, hidden: 80, layers: 2}\n"
             "data: {text: t.txt, sequence: 12, batch: 4, microbatches: 2}\n"
             "optimizer: {kind: adamw, lr: 1e-2}\n"
             "train: {steps: %d, seed: 3}\n%s",
             mesh, STEPS, more);
    cr_assert_eq(plan_open(&f->plan, config), EMU_OK, "%s", emu_text_get(&f->plan.diagnostics));
    struct emu_training_options options = {
        .text = text, .text_size = sizeof text - 1, .only_output = -1, .output_fd = 1};
    setenv("MESHEMU_WAYS", ways, 1);
    cr_assert_eq(emu_training_run(f->plan.plan, &options, &f->result), EMU_OK);
    unsetenv("MESHEMU_WAYS");
    cr_assert_eq(f->result.findings.count, 0, "%s: %s", mesh,
                 f->result.findings.count ? f->result.findings.items[0].message : "");
    cr_assert_eq(f->result.step_count, STEPS);
}

static void close_run(struct finished *f)
{
    emu_training_result_finish(&f->result);
    plan_close(&f->plan);
}

/* Of the whole gradients, each of which is summed by one call in each step, those that are long
 * with their coefficients. */
static uint64_t long_gradients(const struct emu_plan *plan, bool coefficients)
{
    uint64_t count = 0;
    for (uint32_t i = 0; i < plan->tensor_count; i++) {
        uint64_t bytes = plan->tensors[i].rows * plan->tensors[i].columns * sizeof(double);
        bytes += coefficients ? emu_tensor_lanes(plan, i) * sizeof(uint64_t) : 0;
        count += bytes > LEND_FROM;
    }
    return count;
}

static void assert_lent(const struct finished *f, uint64_t calls, const char *what)
{
    for (uint32_t rank = 0; rank < f->plan.plan->roster.mesh->world; rank++)
        cr_expect_eq(f->result.books[rank].lent_calls, calls, "%s: rank %u lent %lu, not %lu", what,
                     rank, (unsigned long)f->result.books[rank].lent_calls, (unsigned long)calls);
}

static void assert_same_steps(const struct finished *a, const struct finished *b)
{
    for (uint64_t i = 0; i < STEPS; i++) {
        cr_expect_eq(a->result.steps[i].loss, b->result.steps[i].loss);
        cr_expect_eq(a->result.steps[i].grad_norm, b->result.steps[i].grad_norm);
    }
}

#define LENDING "cores=2,few=8192,many=8192"
#define ROUNDS "cores=2,few=1000000000,many=1000000000"

static void compare(const char *mesh, const char *more, bool coefficients)
{
    struct finished lent, rounds;
    train_by(&lent, mesh, more, LENDING);
    uint64_t calls = long_gradients(lent.plan.plan, coefficients) * STEPS;
    cr_assert_gt(calls, 0);
    assert_lent(&lent, calls, mesh);
    train_by(&rounds, mesh, more, ROUNDS);
    assert_lent(&rounds, 0, mesh);
    assert_same_steps(&lent, &rounds);
    close_run(&lent);
    close_run(&rounds);
}

Test(lent_gradients, go_from_buffer_to_buffer_with_all_checks, .timeout = 120)
{
    compare("dp=2", "", true);
    compare("dp=4", "", true);
    compare("cp=3", "", true);
}

Test(lent_gradients, go_so_without_checks_too, .timeout = 120)
{
    compare("dp=4", "checks: {checksums: false}\n", true);
    compare("dp=4", "checks: {ledger: false}\n", false);
}
