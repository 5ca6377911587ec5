#include "judge.h"

#include "judge_values.h"
#include "run/training.h"

#include <meshemu/finding.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A case while it is looked at. */
struct trial {
    const struct scenario *scenario;
    struct emu_text config_text;
    struct emu_config *config;
    struct emu_plan *plan;
    bool ran;
    struct emu_training_result result;
    struct reference *references; /* one a tensor */
    struct verdict *verdict;
    struct emu_text *why;
};

static bool read_config(struct trial *trial)
{
    scenario_write(trial->scenario, &trial->config_text);
    const char *text = emu_text_get(&trial->config_text);
    struct emu_config_params params = {
        .name = "case.yaml", .directory = "", .text = text, .size = strlen(text)};
    struct emu_text diagnostics = {0};
    enum emu_status status = emu_config_read(&params, &diagnostics, &trial->config);
    if (status == EMU_OK)
        status = emu_plan_create(trial->config, &diagnostics, &trial->plan);
    if (status != EMU_OK)
        emu_text_printf(trial->why, "the config was refused: %s\n", emu_text_get(&diagnostics));
    emu_text_finish(&diagnostics);
    return status == EMU_OK;
}

/* false: a number did not fit. */
static bool refer(struct trial *trial)
{
    uint32_t count = trial->plan->tensor_count;
    trial->references = calloc(count, sizeof *trial->references);
    if (!trial->references)
        abort();
    for (uint32_t i = 0; i < count; i++) {
        struct reference *reference = &trial->references[i];
        reference_run(trial->scenario, trial->plan->tensors[i].name,
                      trial->plan->tensors[i].over_tp.kind == EMU_SHARD, reference);
        if (reference->lost)
            return false;
        if (reference->fault == FAULT_SHARD_TILING || trial->verdict->fault == FAULT_NONE)
            trial->verdict->fault = reference->fault;
    }
    return true;
}

static void run(struct trial *trial)
{
    const struct scenario *scenario = trial->scenario;
    struct emu_training_options options = {.text = scenario->language ? scenario->text : NULL,
                                           .text_size = strlen(scenario->text),
                                           .timeout_ns = UINT64_C(60000000000),
                                           .only_output = -1,
                                           .gradients = true,
                                           .output_fd = 1};
    enum emu_status status = emu_training_run(trial->plan, &options, &trial->result);
    trial->ran = status == EMU_OK;
    if (!trial->ran)
        emu_text_printf(trial->why, "the run failed: %s\n", emu_status_text(status));
}

static bool admits(enum fault fault, enum emu_class class_id)
{
    switch (fault) {
    case FAULT_NONFINITE:
        return class_id == EMU_CLASS_NONFINITE;
    case FAULT_SHARD_TILING:
        return class_id == EMU_CLASS_SHARD_TILING;
    case FAULT_MISSING_REDUCTION:
        return class_id == EMU_CLASS_MISSING_REDUCTION;
    case FAULT_COPIES_SCALED:
        return class_id == EMU_CLASS_WRONG_SCALE || class_id == EMU_CLASS_REPLICA_DIVERGENCE;
    case FAULT_LOST_MICROBATCH:
        return class_id == EMU_CLASS_LOST_MICROBATCH;
    case FAULT_DOUBLE_REDUCTION:
        return class_id == EMU_CLASS_DOUBLE_REDUCTION;
    case FAULT_REDUCED_REPLICATED:
        return class_id == EMU_CLASS_REDUCED_REPLICATED;
    case FAULT_WRONG_SCALE:
        return class_id == EMU_CLASS_WRONG_SCALE;
    case FAULT_TOKEN_WEIGHT:
        return class_id == EMU_CLASS_TOKEN_WEIGHT;
    default:
        return false;
    }
}

/* Do the parameters differ in what is wrong with them? Then there may be a finding for each. */
static bool one_cause(const struct trial *trial)
{
    for (uint32_t i = 1; i < trial->plan->tensor_count; i++)
        if (memcmp(trial->references[0].coefficient, trial->references[i].coefficient,
                   sizeof trial->references[0].coefficient) != 0 ||
            trial->references[0].fault != trial->references[i].fault)
            return false;
    return true;
}

static bool class_expected(const struct trial *trial, enum emu_class class_id)
{
    for (uint32_t i = 0; i < trial->plan->tensor_count; i++)
        if (admits(trial->references[i].fault, class_id) ||
            admits(trial->references[i].by_path, class_id))
            return true;
    return false;
}

static void check_ratio(const struct trial *trial, const struct emu_finding *finding)
{
    const struct reference *reference = &trial->references[0];
    char wanted[64];
    if (!reference->uniform || trial->plan->tensor_count > 1)
        return;
    int used = snprintf(wanted, sizeof wanted, "%lld", (long long)reference->ratio.top);
    if (reference->ratio.bottom != 1)
        snprintf(wanted + used, sizeof wanted - (size_t)used, "/%lld",
                 (long long)reference->ratio.bottom);
    if (!finding->ratio || strcmp(finding->ratio, wanted) != 0)
        emu_text_printf(trial->why, "the ratio is %s, told was %s\n", wanted,
                        finding->ratio ? finding->ratio : "none");
}

static void check_findings(const struct trial *trial)
{
    const struct emu_findings *findings = &trial->result.findings;
    enum fault fault = trial->verdict->fault;
    size_t faults = 0;
    for (size_t i = 0; i < findings->count; i++) {
        const struct emu_finding *finding = &findings->items[i];
        if (finding->class_id == EMU_CLASS_INTERNAL)
            emu_text_printf(trial->why, "INTERNAL: %s\n", finding->message);
        if (finding->note || finding->class_id == EMU_CLASS_INTERNAL)
            continue;
        if (!faults++)
            check_ratio(trial, finding);
        if (!class_expected(trial, finding->class_id))
            emu_text_printf(trial->why, "expected %s, found %s: %s\n", fault_name(fault),
                            emu_class_name(finding->class_id), finding->message);
    }
    bool one = one_cause(trial) || fault == FAULT_SHARD_TILING || fault == FAULT_NONFINITE;
    if (fault == FAULT_NONE ? faults > 0 : one ? faults != 1 : faults == 0)
        emu_text_printf(trial->why, "expected %s, found %zu faults\n", fault_name(fault), faults);
}

/* Ledger passes: so does the oracle. Ledger fails beside a passing oracle: only where it hides. */
static void check_binding(const struct trial *trial)
{
    const struct emu_check_figures *figures = trial->result.audit.figures;
    enum emu_check_status ledger = figures[EMU_CHECK_LEDGER].status;
    enum emu_check_status oracle = figures[EMU_CHECK_ORACLE].status;
    bool right = trial->verdict->fault == FAULT_NONE;
    if (ledger != (right ? EMU_CHECK_PASS : EMU_CHECK_FAIL))
        emu_text_printf(trial->why, "the ledger check is %s\n",
                        ledger == EMU_CHECK_PASS   ? "passed"
                        : ledger == EMU_CHECK_FAIL ? "failed"
                                                   : "skipped");
    if (right && oracle != EMU_CHECK_PASS)
        emu_text_puts(trial->why, "the ledger passes and the oracle does not\n");
    if (trial->scenario->language || !judge_has_values(trial->verdict->fault))
        return;
    bool same = judge_same_values(trial->scenario, &trial->references[0]);
    trial->verdict->hidden = !right && same;
    if (!right && oracle == EMU_CHECK_PASS && !same)
        emu_text_puts(trial->why, "wrong values passed the oracle\n");
    if (!right && oracle != EMU_CHECK_PASS && same && trial->result.exact_steps > 0)
        emu_text_puts(trial->why, "equal exact values failed the oracle\n");
}

static void check_values(const struct trial *trial)
{
    const struct scenario *scenario = trial->scenario;
    if (!judge_has_values(trial->verdict->fault))
        return;
    if (!trial->result.gradients) {
        emu_text_puts(trial->why, "no gradients were kept\n");
        return;
    }
    bool exact = trial->result.exact_steps > 0;
    bool claims = !strcmp(scenario->arithmetic, "exact");
    if (claims && trial->references[0].dyadic && !exact)
        emu_text_puts(trial->why, "every factor is dyadic, yet something rounded\n");
    if (!claims && exact)
        emu_text_puts(trial->why, "exact steps without exact arithmetic\n");
    trial->verdict->exact = exact;
    for (uint32_t i = 0; i < trial->plan->tensor_count; i++) {
        struct judged_tensor tensor = {scenario, &trial->references[i], &trial->result.gradients[i],
                                       exact};
        judge_tensor(&tensor, trial->why);
    }
}

static void check_steps(const struct trial *trial)
{
    const struct emu_training_result *result = &trial->result;
    bool right = trial->verdict->fault == FAULT_NONE;
    uint32_t wanted = right ? trial->scenario->steps : 1;
    if (result->step_count != wanted)
        emu_text_printf(trial->why, "%llu steps ran, expected %u\n",
                        (unsigned long long)result->step_count, (unsigned)wanted);
    else if (result->steps[0].tokens != scenario_tokens(trial->scenario))
        emu_text_printf(trial->why, "%llu tokens were counted, expected %u\n",
                        (unsigned long long)result->steps[0].tokens,
                        (unsigned)scenario_tokens(trial->scenario));
}

static void finish(struct trial *trial)
{
    if (trial->ran)
        emu_training_result_finish(&trial->result);
    emu_plan_destroy(trial->plan);
    emu_config_destroy(trial->config);
    emu_text_finish(&trial->config_text);
    free(trial->references);
}

void judge_scenario(const struct scenario *scenario, struct verdict *verdict, struct emu_text *why)
{
    struct trial trial = {.scenario = scenario, .verdict = verdict, .why = why};
    size_t before = strlen(emu_text_get(why));
    *verdict = (struct verdict){.judgement = JUDGEMENT_HOLDS};
    if (read_config(&trial)) {
        if (!refer(&trial)) {
            verdict->judgement = JUDGEMENT_REDRAW;
            finish(&trial);
            return;
        }
        run(&trial);
    }
    if (trial.ran) {
        check_findings(&trial);
        check_binding(&trial);
        check_values(&trial);
        check_steps(&trial);
    }
    if (strlen(emu_text_get(why)) != before)
        verdict->judgement = JUDGEMENT_BREACH;
    finish(&trial);
}
