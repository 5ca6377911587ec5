/* Exact reports of made results. */
#include "report/gradient_text.h"
#include "report/run_report.h"
#include "result_maker.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

static struct made_result made;
static struct emu_text text;

static void tear_down(void)
{
    emu_text_finish(&text);
    made_result_finish(&made);
}

TestSuite(report_run_text, .fini = tear_down);

Test(report_run_text, a_passed_run_is_told_from_mesh_to_verdict)
{
    made_result_init(&made, 3);
    emu_run_report(&made.result, false, &text);
    const char *wanted =
        "meshemu 0.1.0: run made.yaml\n"
        "mesh      dp=1,tp=2: 2 ranks, one process each\n"
        "          rank   pid  coordinate\n"
        "             0  4711  dp=0,tp=0\n"
        "             1  4811  dp=0,tp=1\n"
        "model     mlp_lm, 1 layer, context 4, embed 8, hidden 6: 2334 parameters in 6 tensors\n"
        "data      prose.txt: 1000 bytes, 63 sequences of 16\n"
        "          a step reads 4 in 2 microbatches a rank\n"
        "training  adamw, lr 0.001, 3 steps, seed 5, f64 arithmetic\n"
        "\n"
        "  step      loss  grad_norm  tokens  |loss - oracle| / bound\n"
        "     1  4.000000        0.5      60                     0.25\n"
        "     2  2.000000        0.5      60                     0.25\n"
        "     3  1.000000        0.5      60                     0.25\n"
        "\n"
        "checks\n"
        "  init      pass     14 blocks compared with what the seed draws: all equal\n"
        "  data      skipped  no step was checked\n"
        "  replicas  skipped  no step was checked\n"
        "  tiling    skipped  no step was checked\n"
        "  ledger    skipped  checks.ledger is false\n"
        "  oracle    pass     12000 values compared with a mesh of one: all within twice their "
        "bound; worst 0.031 of it, largest difference 2.5e-16\n"
        "  memory    skipped  no step was checked\n"
        "  traffic   skipped  no step was checked\n"
        "\n"
        "verdict: pass\n";
    cr_expect_str_eq(emu_text_get(&text), wanted, "got\n%s", emu_text_get(&text));
    cr_expect(emu_run_passed(&made.result));
}

Test(report_run_text, a_failed_run_ends_with_its_findings)
{
    made_result_init(&made, 1);
    struct emu_finding *fault = emu_findings_add(&made.result.findings, EMU_CLASS_STALL);
    emu_finding_message(fault, "rank 1 never came");
    emu_finding_culprit(fault, 1);
    struct emu_finding *note = emu_findings_add(&made.result.findings, EMU_CLASS_STRAGGLER);
    emu_finding_message(note, "rank 0 was slow");
    note->note = true;
    emu_run_report_verdict(&made.result, false, &text);
    cr_expect_str_eq(emu_text_get(&text), "verdict: fail, 1 fault, 1 note\n"
                                          "\n"
                                          "  STALL: rank 1 never came\n"
                                          "    culprit: rank 1 (dp=0,tp=1)\n"
                                          "\n"
                                          "  STRAGGLER (note): rank 0 was slow\n");
    cr_expect_not(emu_run_passed(&made.result));
}

Test(report_run_text, a_note_alone_passes)
{
    made_result_init(&made, 1);
    emu_findings_add(&made.result.findings, EMU_CLASS_STRAGGLER)->note = true;
    cr_expect(emu_run_passed(&made.result));
}

Test(report_run_text, an_interrupted_run_does_not_pass)
{
    made_result_init(&made, 1);
    made.result.job.interrupted = true;
    emu_run_report_verdict(&made.result, false, &text);
    cr_expect_str_eq(emu_text_get(&text), "verdict: fail, interrupted: the ranks were ended\n");
}

Test(report_run_text, a_failed_check_says_how_many_differ)
{
    made_result_init(&made, 1);
    made.result.audit.figures[EMU_CHECK_REPLICAS] = (struct emu_check_figures){
        .status = EMU_CHECK_FAIL, .steps = 2, .compared = 96, .differed = 3};
    emu_run_report(&made.result, false, &text);
    cr_expect_not_null(strstr(emu_text_get(&text),
                              "  replicas  fail     96 hashes of weights, gradients and optimizer "
                              "state: 3 different\n"));
}

/* An exact run of one step whose gradient is half a unit too large. */
static void make_exact(enum emu_check_status oracle)
{
    made_result_init(&made, 1);
    made.config->arithmetic = EMU_ARITH_EXACT;
    made.result.exact_steps = 1;
    made.result.audit.figures[EMU_CHECK_ORACLE] =
        (struct emu_check_figures){.status = oracle, .steps = 1, .compared = 10};
    if (oracle == EMU_CHECK_FAIL) {
        made.result.audit.figures[EMU_CHECK_ORACLE].differed = 6;
        made.result.audit.figures[EMU_CHECK_ORACLE].worst = INFINITY;
        made.result.audit.figures[EMU_CHECK_ORACLE].largest_difference = 0.5;
    }
    emu_run_report(&made.result, false, &text);
}

Test(report_run_text, equal_bits_are_claimed_where_the_oracle_passed)
{
    make_exact(EMU_CHECK_PASS);
    cr_expect_not_null(strstr(emu_text_get(&text), "  exact     1 of 1 step rounded nothing: mesh "
                                                   "and oracle equal bit for bit\n"));
}

Test(report_run_text, equal_bits_are_not_claimed_where_the_oracle_failed)
{
    make_exact(EMU_CHECK_FAIL);
    cr_expect_null(strstr(emu_text_get(&text), "equal bit for bit"));
    cr_expect_null(strstr(emu_text_get(&text), "inf"));
    cr_expect_not_null(strstr(emu_text_get(&text), "6 too far; largest difference 0.5\n"));
}

static size_t count_of(const char *part)
{
    size_t count = 0;
    for (const char *at = emu_text_get(&text); (at = strstr(at, part)); at++)
        count++;
    return count;
}

Test(report_run_text, of_many_steps_the_first_some_and_the_last_are_shown)
{
    made_result_init(&made, 200);
    emu_run_report(&made.result, false, &text);
    cr_expect_leq(count_of("                     0.25\n"), 14);
    cr_expect_geq(count_of("                     0.25\n"), 8);
    cr_expect_eq(count_of("\n     1  4.000000"), 1);
    cr_expect_eq(count_of("\n   198  "), 1);
    cr_expect_eq(count_of("\n   199  "), 1);
    cr_expect_eq(count_of("\n   200  "), 1);
}

Test(report_run_text, a_run_without_steps_oracle_and_processes_is_told)
{
    made_result_init(&made, 0);
    made.result.job.ranks = NULL;
    emu_run_report(&made.result, false, &text);
    cr_expect_eq(count_of("no step was completed\n"), 1);
    cr_expect_eq(count_of("pid"), 0);
    emu_text_finish(&text);
    made.steps[0] = (struct emu_training_step){.step = 1, .loss = (double)NAN};
    made.result.step_count = 1;
    emu_run_report(&made.result, false, &text);
    cr_expect_eq(count_of("oracle|"), 0);
    cr_expect_eq(count_of("nan"), 1);
}

Test(report_run_text, colour_comes_only_when_asked_for)
{
    made_result_init(&made, 2);
    emu_run_report(&made.result, false, &text);
    cr_expect_eq(count_of("\033"), 0);
    emu_text_finish(&text);
    emu_run_report(&made.result, true, &text);
    cr_expect_eq(count_of("verdict: \033[32mpass\033[0m\n"), 1);
    cr_expect_eq(count_of("\033[2mskipped\033[0m"), 6);
}

Test(report_run_text, small_gradients_are_told_with_what_is_in_them)
{
    made_result_init(&made, 1);
    double bias[8] = {0.5, -1.0, 100.0}, other[8] = {2.0};
    uint64_t thirds[2] = {1, 1}, mixed[2] = {1, 0};
    uint32_t ranks[] = {0, 1};
    struct emu_gradient_copy two[] = {
        {.ranks = ranks, .rank_count = 1, .value = bias, .coefficients = thirds},
        {.ranks = ranks + 1, .rank_count = 1, .value = other, .coefficients = mixed}};
    struct emu_gradient_view views[16] = {0};
    uint32_t last = made.plan->tensor_count - 1;
    cr_assert_lt(last, 16u);
    for (uint32_t i = 0; i < last; i++)
        views[i] = (struct emu_gradient_view){two, 1};
    views[last] = (struct emu_gradient_view){two, 2};
    emu_gradients_to_text(made.plan, views, &text);
    const char *wanted = "  layers.0.down.bias on rank 0: 0.5, -1, 100, 0, 0, 0, 0, 0\n"
                         "    = 1 of each of 2 sources\n"
                         "  layers.0.down.bias on rank 1: 2, 0, 0, 0, 0, 0, 0, 0\n"
                         "    = 1 of mb=0, 0 of mb=1\n";
    cr_expect_not_null(strstr(emu_text_get(&text), "  embed.weight: 2048 elements, use --json\n"),
                       "got\n%s", emu_text_get(&text));
    cr_expect_not_null(strstr(emu_text_get(&text), wanted), "got\n%s", emu_text_get(&text));
}
