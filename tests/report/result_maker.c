#include "result_maker.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

static const char config_text[] =
    "mesh: dp=1,tp=2\n"
    "model: {kind: mlp_lm, context: 4, embed: 8, hidden: 6, layers: 1}\n"
    "data: {text: prose.txt, sequence: 16, batch: 4, microbatches: 2}\n"
    "train: {steps: 3, seed: 5}\n";

static void make_checks(struct emu_audit *audit)
{
    emu_audit_init(audit);
    audit->figures[EMU_CHECK_INIT] =
        (struct emu_check_figures){.status = EMU_CHECK_PASS, .steps = 1, .compared = 14};
    audit->figures[EMU_CHECK_ORACLE] = (struct emu_check_figures){.status = EMU_CHECK_PASS,
                                                                  .steps = 3,
                                                                  .compared = 12000,
                                                                  .worst = 0.03125,
                                                                  .largest_difference = 2.5e-16,
                                                                  .largest_bound = 1e-14};
    emu_audit_skip(audit, EMU_CHECK_LEDGER, "checks.ledger is false");
}

void made_result_init(struct made_result *made, uint64_t steps)
{
    struct emu_text diagnostics = {0};
    struct emu_config_params params = {
        .name = "made.yaml", .directory = "", .text = config_text, .size = strlen(config_text)};
    cr_assert_leq(steps, sizeof made->steps / sizeof *made->steps);
    cr_assert_eq(emu_config_read(&params, &diagnostics, &made->config), EMU_OK, "%s",
                 emu_text_get(&diagnostics));
    cr_assert_eq(emu_plan_create(made->config, &diagnostics, &made->plan), EMU_OK, "%s",
                 emu_text_get(&diagnostics));
    emu_text_finish(&diagnostics);
    for (uint32_t rank = 0; rank < 2; rank++)
        made->ranks[rank] = (struct emu_job_rank){.pid = (pid_t)(4711 + 100 * rank)};
    for (uint64_t i = 0; i < steps; i++) {
        double loss = ldexp(4.0, -(int)(i % 20));
        made->steps[i] = (struct emu_training_step){.step = i + 1,
                                                    .loss = loss,
                                                    .grad_norm = 0.5,
                                                    .tokens = 60,
                                                    .has_oracle = true,
                                                    .oracle_loss = loss + 0x1p-50,
                                                    .loss_bound = 0x1p-48};
    }
    made->result = (struct emu_training_result){
        .config = made->config,
        .plan = made->plan,
        .job = {.ranks = made->ranks, .forked_ns = 1000, .total_ns = 2000000},
        .steps = made->steps,
        .step_count = steps,
        .text_bytes = 1000,
        .text_sequences = 63,
        .replay = made->replay};
    strcpy(made->replay, "meshemu run made.yaml");
    make_checks(&made->result.audit);
}

void made_result_finish(struct made_result *made)
{
    emu_findings_finish(&made->result.findings);
    emu_audit_finish(&made->result.audit);
    emu_plan_destroy(made->plan);
    emu_config_destroy(made->config);
}
