#include "report/run_json.h"

#include "report/books_json.h"
#include "report/breakdown_table.h"
#include "report/fault_json.h"
#include "report/finding_json.h"
#include "report/gradient_json.h"
#include "report/mesh_parts_json.h"
#include "report/ownership.h"
#include "report/run_report.h"

static void put_config(struct emu_json *json, const struct emu_config *config)
{
    struct emu_text text = {0};
    emu_config_to_json(config, &text);
    json->failed = json->failed || text.failed;
    emu_json_key(json, "config");
    emu_json_raw(json, emu_text_get(&text));
    emu_text_finish(&text);
}

static const char *status_word(enum emu_check_status status)
{
    switch (status) {
    case EMU_CHECK_PASS:
        return "pass";
    case EMU_CHECK_FAIL:
        return "fail";
    default:
        return "skipped";
    }
}

static void put_check(struct emu_json *json, enum emu_check check,
                      const struct emu_check_figures *figures)
{
    emu_json_key(json, emu_check_name(check));
    emu_json_object_begin(json);
    emu_json_put_string(json, "status", status_word(figures->status));
    if (figures->status == EMU_CHECK_SKIPPED) {
        emu_json_put_string(json, "why", figures->why);
    } else {
        emu_json_put_u64(json, "steps", figures->steps);
        emu_json_put_u64(json, "compared", figures->compared);
        emu_json_put_u64(json, "differed", figures->differed);
    }
    if (check == EMU_CHECK_ORACLE && figures->status != EMU_CHECK_SKIPPED) {
        emu_json_put_f64(json, "worst", figures->worst);
        emu_json_put_f64(json, "largest_difference", figures->largest_difference);
        emu_json_put_f64(json, "largest_bound", figures->largest_bound);
        emu_json_put_u64(json, "examined", figures->examined);
        emu_json_put_u64(json, "loose", figures->loose);
    }
    emu_json_object_end(json);
}

/* Exact arithmetic: steps proved equal bit for bit, and where a rounding ended that. */
static void put_exact(struct emu_json *json, const struct emu_training_result *result)
{
    if (result->config->arithmetic != EMU_ARITH_EXACT)
        return;
    emu_json_key(json, "exact");
    emu_json_object_begin(json);
    emu_json_put_u64(json, "steps_equal_in_all_bits", result->exact_steps);
    emu_json_key(json, "first_rounding");
    if (result->rounding.step == 0) {
        emu_json_null(json);
    } else {
        emu_json_object_begin(json);
        emu_json_put_u64(json, "step", result->rounding.step);
        emu_json_put_u64(json, "rank", result->rounding.rank);
        emu_json_put_string(json, "kernel", result->rounding.kernel);
        emu_json_put_string(json, "where", result->rounding.where);
        emu_json_object_end(json);
    }
    emu_json_object_end(json);
}

static void put_checks(struct emu_json *json, const struct emu_audit *audit)
{
    emu_json_key(json, "checks");
    emu_json_object_begin(json);
    for (int i = 0; i < EMU_CHECK_COUNT; i++)
        put_check(json, (enum emu_check)i, &audit->figures[i]);
    emu_json_object_end(json);
}

static void put_steps(struct emu_json *json, const struct emu_training_result *result)
{
    emu_json_key(json, "steps");
    emu_json_array_begin(json);
    for (uint64_t i = 0; i < result->step_count && !json->failed; i++) {
        const struct emu_training_step *step = &result->steps[i];
        emu_json_object_begin(json);
        emu_json_put_u64(json, "step", step->step);
        emu_json_put_f64(json, "loss", step->loss);
        emu_json_put_f64(json, "grad_norm", step->grad_norm);
        emu_json_put_u64(json, "tokens", step->tokens);
        if (step->has_oracle) {
            emu_json_put_f64(json, "oracle_loss", step->oracle_loss);
            emu_json_put_f64(json, "loss_bound", step->loss_bound);
        }
        emu_json_object_end(json);
    }
    emu_json_array_end(json);
}

void emu_run_to_json(const struct emu_training_result *result, struct emu_json *json)
{
    emu_json_report_begin(json, "run");
    put_config(json, result->config);
    emu_mesh_to_json(result->plan->roster.mesh, json);
    emu_json_put_string(json, "verdict", emu_run_passed(result) ? "pass" : "fail");
    emu_json_key(json, "findings");
    emu_findings_to_json(&result->findings, &result->plan->roster, json);
    emu_faults_to_json(result->faults, result->fault_count, json);
    put_checks(json, &result->audit);
    put_steps(json, result);
    if (result->gradients) {
        emu_json_key(json, "gradients");
        emu_gradients_to_json(result->plan, result->gradients, json);
    }
    put_exact(json, result);
    emu_books_to_json(result, json);
    emu_ownership_to_json(result, json);
    if (result->breakdown) {
        emu_json_put_bool(json, "pinned", result->pinned);
        emu_json_key(json, "breakdown");
        emu_breakdown_to_json(result->breakdown, json);
    }
    emu_job_to_json(&result->job, result->plan->roster.mesh, json);
    emu_json_put_string(json, "replay", result->replay);
    emu_json_object_end(json);
}
