#include "report/run_report.h"

#include "base/number.h"
#include "check/finding_build.h"
#include "check/text_table.h"
#include "report/gradient_text.h"
#include "report/ownership.h"
#include "report/verdict_text.h"

#include <meshemu/meshemu.h>

#include <inttypes.h>
#include <math.h>
#include <string.h>

#define RANKS_SHOWN 16
#define STEPS_SHOWN 14 /* of more steps: the first ones, some, the last ones */
#define STEPS_AT_END 3

bool emu_run_passed(const struct emu_training_result *result)
{
    return emu_findings_faults(&result->findings) == 0 && !result->job.interrupted;
}

static const char *plural(uint64_t count)
{
    return count == 1 ? "" : "s";
}

static void add_ranks(const struct emu_training_result *result, struct emu_text *out)
{
    const struct emu_mesh *mesh = result->plan->roster.mesh;
    struct emu_text_table table;
    if (!result->job.ranks)
        return;
    emu_text_table_init(&table, 3);
    emu_text_table_cell(&table, "rank");
    emu_text_table_cell(&table, "pid");
    emu_text_table_cell(&table, "coordinate");
    uint32_t shown = mesh->world <= RANKS_SHOWN ? mesh->world : RANKS_SHOWN - 1;
    for (uint32_t rank = 0; rank < shown; rank++) {
        emu_text_table_cell(&table, "%" PRIu32, rank);
        emu_text_table_cell(&table, "%ld", (long)result->job.ranks[rank].pid);
        struct emu_text coordinate = {0};
        emu_coordinate_text(&coordinate, mesh, rank);
        emu_text_table_cell(&table, "%s", emu_text_get(&coordinate));
        emu_text_finish(&coordinate);
    }
    emu_text_table_print(&table, "          ", out);
    emu_text_table_finish(&table);
    if (shown < mesh->world)
        emu_text_printf(out, "          and %" PRIu32 " more\n", mesh->world - shown);
}

static void add_mesh(const struct emu_training_result *result, struct emu_text *out)
{
    const struct emu_mesh *mesh = result->plan->roster.mesh;
    emu_text_puts(out, "mesh      ");
    emu_processes_text(mesh, out);
    add_ranks(result, out);
}

static void add_model(const struct emu_training_result *result, struct emu_text *out)
{
    const struct emu_plan *plan = result->plan;
    const struct emu_model_config *model = &result->config->model;
    uint64_t parameters = 0;
    for (uint32_t i = 0; i < plan->tensor_count; i++)
        parameters += plan->tensors[i].rows * plan->tensors[i].columns;
    emu_text_puts(out, "model     ");
    if (model->kind == EMU_MODEL_LINEAR)
        emu_text_printf(out, "linear, %" PRIu64 " feature%s", model->features,
                        plural(model->features));
    else
        emu_text_printf(
            out,
            "mlp_lm, %" PRIu64 " layer%s, context %" PRIu64 ", embed %" PRIu64 ", hidden %" PRIu64,
            model->layers, plural(model->layers), model->context, model->embed, model->hidden);
    emu_text_printf(out, ": %" PRIu64 " parameter%s in %" PRIu32 " tensor%s\n", parameters,
                    plural(parameters), plan->tensor_count, plural(plan->tensor_count));
}

static void add_data(const struct emu_training_result *result, struct emu_text *out)
{
    const struct emu_data_config *data = &result->config->data;
    if (!data->text)
        return;
    emu_text_puts(out, "data      ");
    emu_text_visible(out, data->text);
    emu_text_printf(out, ": %" PRIu64 " byte%s, %" PRIu64 " sequence%s of %" PRIu64 "\n",
                    result->text_bytes, plural(result->text_bytes), result->text_sequences,
                    plural(result->text_sequences), data->sequence);
    emu_text_printf(out, "          a step reads %" PRIu64 " in %" PRIu64 " microbatch%s a rank\n",
                    result->plan->batch, (uint64_t)result->plan->microbatches,
                    result->plan->microbatches == 1 ? "" : "es");
}

static void add_training(const struct emu_training_result *result, struct emu_text *out)
{
    static const char *const optimizers[] = {"sgd", "momentum", "adamw"};
    static const char *const arithmetics[] = {"f64", "f32", "exact"};
    const struct emu_config *config = result->config;
    char rate[EMU_NUMBER_MAX];
    emu_text_printf(out,
                    "training  %s, lr %s, %" PRIu64 " step%s, seed %" PRIu64 "%s, %s arithmetic\n",
                    optimizers[config->optimizer.kind], emu_number_f64(config->optimizer.lr, rate),
                    config->train.steps, plural(config->train.steps), config->train.seed,
                    config->train.initial == EMU_INITIAL_BROADCAST ? " by broadcast" : "",
                    arithmetics[config->arithmetic]);
}

/* Is this one of the steps to show? The first, the last, and evenly spread ones between. */
static bool is_shown(uint64_t at, uint64_t count)
{
    if (count <= STEPS_SHOWN || at + STEPS_AT_END >= count)
        return true;
    uint64_t spread = STEPS_SHOWN - STEPS_AT_END;
    uint64_t stride = (count - STEPS_AT_END + spread - 1) / spread;
    return at % stride == 0;
}

static void add_step(struct emu_text_table *table, const struct emu_training_step *step)
{
    emu_text_table_cell(table, "%" PRIu64, step->step);
    emu_text_table_cell(table, fabs(step->loss) < 1e6 ? "%.6f" : "%.6g", step->loss);
    emu_text_table_cell(table, "%.6g", step->grad_norm);
    emu_text_table_cell(table, "%" PRIu64, step->tokens);
    if (!step->has_oracle) {
        emu_text_table_cell(table, "%s", "");
        return;
    }
    double difference = fabs(step->loss - step->oracle_loss);
    emu_text_table_cell(table, "%.3g", difference == 0.0 ? 0.0 : difference / step->loss_bound);
}

static void add_steps(const struct emu_training_result *result, struct emu_text *out)
{
    static const char *const headings[] = {"step", "loss", "grad_norm", "tokens",
                                           "|loss - oracle| / bound"};
    if (result->step_count == 0) {
        emu_text_puts(out, "\nno step was completed\n");
        return;
    }
    struct emu_text_table table;
    emu_text_table_init(&table, 5);
    for (size_t i = 0; i < 5; i++)
        emu_text_table_cell(&table, "%s", headings[i]);
    for (uint64_t i = 0; i < result->step_count; i++)
        if (is_shown(i, result->step_count))
            add_step(&table, &result->steps[i]);
    emu_text_putc(out, '\n');
    emu_text_table_print(&table, "  ", out);
    emu_text_table_finish(&table);
}

/* What each check looked at, as "N of these, all as they should be". */
static const struct {
    const char *what, *good, *bad;
} check_words[EMU_CHECK_COUNT] = {
    [EMU_CHECK_INIT] = {"blocks compared with what the seed draws", "all equal", "different"},
    [EMU_CHECK_DATA] = {"sequences of the steps", "each read once, alike by all that share them",
                        "wrong"},
    [EMU_CHECK_REPLICAS] = {"hashes of weights, gradients and optimizer state", "all equal",
                            "different"},
    [EMU_CHECK_TILING] = {"blocks", "each element in one", "wrong"},
    [EMU_CHECK_LEDGER] = {"coefficients", "every source counts 1/tokens on every rank",
                          "wrong, counted by parameter"},
    [EMU_CHECK_ORACLE] = {"values compared with a mesh of one", "all within twice their bound",
                          "too far"},
    [EMU_CHECK_MEMORY] = {"byte counts", "all as predicted", "different"},
    [EMU_CHECK_TRAFFIC] = {"byte counts", "all as predicted", "different"},
};

/* How far values are from the oracle's: in bounds, where a bound allows anything. */
static void add_distance(const struct emu_check_figures *figures, struct emu_text *out)
{
    if (isfinite(figures->worst))
        emu_text_printf(out, "; worst %.2g of it, largest difference %.2g", figures->worst,
                        figures->largest_difference);
    else
        emu_text_printf(out, "; largest difference %.2g", figures->largest_difference);
}

static void add_check(const struct emu_check_figures *figures, enum emu_check check, bool colour,
                      struct emu_text *out)
{
    static const char *const words[] = {"skipped", "pass   ", "fail   "};
    static const enum emu_tone tones[] = {EMU_TONE_QUIET, EMU_TONE_GOOD, EMU_TONE_BAD};
    emu_text_printf(out, "  %-9s ", emu_check_name(check));
    emu_tone_text(words[figures->status], tones[figures->status], colour, out);
    if (figures->status == EMU_CHECK_SKIPPED) {
        emu_text_puts(out, figures->why[0] ? "  " : "");
        emu_text_visible(out, figures->why);
        emu_text_putc(out, '\n');
        return;
    }
    emu_text_printf(out, "  %" PRIu64 " %s: ", figures->compared, check_words[check].what);
    if (figures->status == EMU_CHECK_PASS)
        emu_text_puts(out, check_words[check].good);
    else
        emu_text_printf(out, "%" PRIu64 " %s", figures->differed, check_words[check].bad);
    if (check == EMU_CHECK_ORACLE)
        add_distance(figures, out);
    emu_text_putc(out, '\n');
    if (check == EMU_CHECK_ORACLE && figures->loose > 0)
        emu_text_printf(
            out,
            "                     the bound is tight for %.4g %% of them, and above the "
            "value itself for the rest\n",
            100.0 * (double)(figures->examined - figures->loose) / (double)figures->examined);
}

/* Equal bits are claimed only where the oracle found nothing else. */
static void add_exact(const struct emu_training_result *result, struct emu_text *out)
{
    const struct emu_first_rounding *first = &result->rounding;
    enum emu_check_status oracle = result->audit.figures[EMU_CHECK_ORACLE].status;
    if (result->config->arithmetic != EMU_ARITH_EXACT || oracle == EMU_CHECK_SKIPPED)
        return;
    emu_text_printf(out, "  exact     %" PRIu64 " of %" PRIu64 " step%s rounded nothing: %s\n",
                    result->exact_steps, result->step_count, plural(result->step_count),
                    oracle == EMU_CHECK_PASS ? "mesh and oracle equal bit for bit"
                                             : "equal bits are needed there");
    if (result->plan->recipe.clipped)
        emu_text_puts(out, "            a clipped step rounds its norm: its weights and moments "
                           "are held to their bound\n");
    if (first->step > 0)
        emu_text_printf(out,
                        "            first rounding: step %" PRIu64 ", rank %" PRIu32
                        ", kernel %s (%s); from there the derived bound applies\n",
                        first->step, first->rank, first->kernel, first->where);
}

static uint64_t sum_of(const uint64_t bytes[EMU_CATEGORY_COUNT])
{
    uint64_t sum = 0;
    for (int i = 0; i < EMU_CATEGORY_COUNT; i++)
        sum += bytes[i];
    return sum;
}

/* Three opinions of the rank that asked for most. The kernel's is no check: it counts pages. */
static void add_memory(const struct emu_training_result *result, struct emu_text *out)
{
    if (!result->books)
        return;
    const struct emu_rank_books *most = result->books;
    for (uint32_t rank = 1; rank < result->plan->roster.mesh->world; rank++)
        if (sum_of(result->books[rank].requested) > sum_of(most->requested))
            most = &result->books[rank];
    emu_text_printf(out,
                    "  held      rank %u the most: %" PRIu64 " bytes asked for, %" PRIu64
                    " rounded up; by the kernel's books ",
                    (unsigned)(most - result->books), sum_of(most->requested),
                    sum_of(most->rounded));
    if (most->pss == UINT64_MAX)
        emu_text_puts(out, "(PSS, /proc/self/smaps) unknown: they cannot be read here\n");
    else
        emu_text_printf(out, "%" PRIu64 " of the shared mapping (PSS)\n", most->pss);
}

static void add_checks(const struct emu_audit *audit, bool colour, struct emu_text *out)
{
    emu_text_puts(out, "\nchecks\n");
    for (int i = 0; i < EMU_CHECK_COUNT; i++)
        add_check(&audit->figures[i], (enum emu_check)i, colour, out);
}

void emu_run_report_verdict(const struct emu_training_result *result, bool colour,
                            struct emu_text *out)
{
    emu_verdict_text(&result->findings, result->job.interrupted, result->plan->roster.mesh, colour,
                     out);
    emu_ownership_print(result, out);
}

void emu_run_report(const struct emu_training_result *result, bool colour, struct emu_text *out)
{
    emu_text_printf(out, "meshemu %s: run ", EMU_VERSION);
    emu_text_visible(out, result->config->name ? result->config->name : "");
    emu_text_putc(out, '\n');
    add_mesh(result, out);
    add_model(result, out);
    add_data(result, out);
    add_training(result, out);
    add_steps(result, out);
    if (result->gradients) {
        emu_text_puts(out, "\ngradients of the last step\n");
        emu_gradients_to_text(result->plan, result->gradients, out);
    }
    add_checks(&result->audit, colour, out);
    add_exact(result, out);
    add_memory(result, out);
    emu_text_putc(out, '\n');
    emu_run_report_verdict(result, colour, out);
}
