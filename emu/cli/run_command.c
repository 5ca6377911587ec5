#include "cli/run_command.h"

#include "os/clock.h"
#include "os/file.h"
#include "os/terminal.h"
#include "plan/plan.h"
#include "report/breakdown_table.h"
#include "report/config_file.h"
#include "report/json_output.h"
#include "report/record_json.h"
#include "report/run_json.h"
#include "report/run_report.h"
#include "report/traffic_map.h"
#include "run/fault_load.h"
#include "run/training.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { EXIT_PASS = 0, EXIT_FINDING = 1, EXIT_USAGE = 2, EXIT_SYSTEM = 3, EXIT_INTERNAL = 70 };

#define EXIT_INTERRUPTED 130 /* 128 + SIGINT, as a shell reports it */

/* A text is indexed in memory: this much is plenty for a mesh on one machine. */
#define TEXT_MOST ((size_t)1 << 30)

/* Everything that must be given back at the end. */
struct session {
    const struct emu_run_options *options;
    struct emu_config *config;
    struct emu_plan *plan;
    struct emu_fault_load faults;
    char *text;
    size_t text_size;
    struct emu_json_output json, record;
    struct emu_training_result result;
    bool ran;
    uint64_t began_ns;
    bool progress_shown;
};

static int exit_of(enum emu_status status)
{
    return status == EMU_EPARSE || status == EMU_EINVAL ? EXIT_USAGE : EXIT_SYSTEM;
}

/* Print what is wrong; the text is finished. */
static int give_up(struct emu_text *diagnostics, enum emu_status status)
{
    if (diagnostics->size)
        fputs(emu_text_get(diagnostics), stderr);
    else
        fprintf(stderr, "meshemu run: %s\n", emu_status_text(status));
    emu_text_finish(diagnostics);
    return exit_of(status);
}

static int read_config(struct session *session)
{
    const struct emu_run_options *options = session->options;
    struct emu_text diagnostics = {0};
    enum emu_status status = emu_config_file_read(
        options->config_path, options->sets, options->set_count, &diagnostics, &session->config);
    if (status == EMU_OK)
        status = emu_plan_create(session->config, &diagnostics, &session->plan);
    struct emu_fault_specs specs = {options->faults, options->fault_count, "--fault"};
    if (status == EMU_OK)
        status = emu_fault_load_plan(session->plan, &specs, &diagnostics, &session->faults);
    if (status != EMU_OK)
        return give_up(&diagnostics, status);
    emu_text_finish(&diagnostics);
    uint32_t world = session->config->mesh.world;
    if (options->only_output < (int64_t)world)
        return EXIT_PASS;
    fprintf(stderr, "meshemu run: --only-output %" PRId64 ": the mesh has ranks 0 to %u\n",
            options->only_output, (unsigned)world - 1);
    return EXIT_USAGE;
}

/* A text without a document is refused here, before anything starts. */
static int read_text(struct session *session)
{
    const char *path = session->config->data.text;
    struct emu_text diagnostics = {0};
    struct emu_reason reason;
    if (!path)
        return EXIT_PASS;
    enum emu_status status =
        emu_file_read(path, TEXT_MOST, &session->text, &session->text_size, &reason);
    if (status == EMU_ESYSTEM) {
        emu_config_complain(session->config, &diagnostics, "data.text", "%s", reason.text);
        return give_up(&diagnostics, EMU_EPARSE);
    }
    if (status != EMU_OK)
        return give_up(&diagnostics, status);
    if (strspn(session->text, "\r\n") < session->text_size)
        return EXIT_PASS;
    emu_config_complain(session->config, &diagnostics, "data.text",
                        "'%s' holds no document: every line is empty", path);
    return give_up(&diagnostics, EMU_EPARSE);
}

static int open_output(const char *path, const char *origin, struct emu_json_output *output)
{
    struct emu_text error = {0};
    if (!path)
        return EXIT_PASS;
    enum emu_status status = emu_json_output_open(output, path, &error);
    if (status != EMU_OK)
        fprintf(stderr, "meshemu run: %s%s\n", origin, emu_text_get(&error));
    emu_text_finish(&error);
    return status == EMU_OK ? EXIT_PASS : EXIT_SYSTEM;
}

/* Before anything starts: a place that cannot be written is refused at once. */
static int open_outputs(struct session *session)
{
    int code = open_output(session->options->json, "", &session->json);
    if (code == EXIT_PASS)
        code = open_output(session->options->record, "--record: ", &session->record);
    return code;
}

static bool json_on_stdout(const struct session *session)
{
    return session->options->json && !strcmp(session->options->json, "-");
}

/* One line that is written over, once the run takes longer than a second. */
static void show_progress(const struct emu_training_step *step, uint64_t steps, void *user)
{
    struct session *session = user;
    if (emu_clock_ns() - session->began_ns < UINT64_C(1000000000))
        return;
    session->progress_shown = true;
    fprintf(stderr, "\r\033[Kstep %" PRIu64 "/%" PRIu64 "  loss %.6g", step->step, steps,
            step->loss);
    fflush(stderr);
}

static int run(struct session *session)
{
    const struct emu_run_options *options = session->options;
    bool watched = !options->quiet && emu_terminal_is(STDERR_FILENO);
    struct emu_training_options training = {
        .text = session->text,
        .text_size = session->text_size,
        .timeout_ns = options->timeout_ns,
        .only_output = options->only_output,
        .stop_on_finding = options->stop_on_finding,
        .keep_going = options->keep_going,
        .gradients = options->gradients,
        .breakdown = options->breakdown,
        .pinning = options->pin      ? EMU_PIN_ALWAYS
                   : options->no_pin ? EMU_PIN_NEVER
                                     : EMU_PIN_CROWDED,
        .keep_records = options->record != NULL,
        .output_fd = json_on_stdout(session) ? STDERR_FILENO : STDOUT_FILENO,
        .replay = options->replay,
        .faults = session->faults.set.count ? &session->faults.set : NULL,
        .progress = watched ? show_progress : NULL,
        .user = session};
    session->began_ns = emu_clock_ns();
    enum emu_status status = emu_training_run(session->plan, &training, &session->result);
    if (session->progress_shown)
        fputs("\r\033[K", stderr);
    session->ran = status == EMU_OK;
    if (session->ran)
        status = emu_fault_load_tell(&session->faults);
    session->result.faults = session->faults.told;
    session->result.fault_count = session->faults.set.count;
    return status == EMU_OK ? EXIT_PASS : EXIT_SYSTEM;
}

static int verdict_of(const struct session *session)
{
    const struct emu_findings *findings = &session->result.findings;
    if (session->result.job.interrupted)
        return EXIT_INTERRUPTED;
    for (size_t i = 0; i < findings->count; i++)
        if (findings->items[i].class_id == EMU_CLASS_INTERNAL)
            return EXIT_INTERNAL;
    return emu_findings_faults(findings) ? EXIT_FINDING : EXIT_PASS;
}

/* The report for people; with --json - it goes to standard error. */
static int print_text(const struct session *session)
{
    FILE *stream = json_on_stdout(session) ? stderr : stdout;
    bool colour = emu_terminal_colour(fileno(stream));
    struct emu_text text = {0};
    if (session->options->quiet)
        emu_run_report_verdict(&session->result, colour, &text);
    else
        emu_run_report(&session->result, colour, &text);
    if (session->options->traffic)
        emu_traffic_map_print(&session->result, &text);
    if (session->options->breakdown)
        emu_breakdown_print(&session->result, &text);
    bool good = !text.failed && fputs(emu_text_get(&text), stream) != EOF && !fflush(stream);
    emu_text_finish(&text);
    if (!good)
        perror("meshemu run: cannot write the report");
    return good ? EXIT_PASS : EXIT_SYSTEM;
}

static int write_json(struct session *session)
{
    if (!session->options->json)
        return EXIT_PASS;
    struct emu_text error = {0};
    struct emu_json json;
    emu_json_init_file(&json, session->json.stream);
    emu_run_to_json(&session->result, &json);
    enum emu_status status = emu_json_output_end(&session->json, &json, &error);
    if (status != EMU_OK)
        fprintf(stderr, "meshemu run: %s\n", emu_text_get(&error));
    emu_text_finish(&error);
    return status == EMU_OK ? EXIT_PASS : EXIT_SYSTEM;
}

static int write_record(struct session *session)
{
    struct emu_text error = {0};
    enum emu_status status = emu_record_write(&session->result.job, &session->config->mesh, "run",
                                              &session->record, &error);
    if (status != EMU_OK)
        fprintf(stderr, "meshemu run: --record: %s\n", emu_text_get(&error));
    emu_text_finish(&error);
    return status == EMU_OK ? EXIT_PASS : EXIT_SYSTEM;
}

static int show_recipe(const struct session *session)
{
    struct emu_text text = {0};
    emu_recipe_to_yaml(&session->plan->recipe, &text);
    bool good = !text.failed && fputs(emu_text_get(&text), stdout) != EOF && !fflush(stdout);
    emu_text_finish(&text);
    if (!good)
        perror("meshemu run: cannot write the recipe");
    return good ? EXIT_PASS : EXIT_SYSTEM;
}

/* A fault that never met its address proves nothing: what passed is not what was asked for. */
static int judge_faults(const struct session *session, int code)
{
    bool decides = code == EXIT_PASS;
    struct emu_text text = {0};
    emu_fault_load_name_idle(&session->faults, !decides,
                             decides ? "meshemu run: error: " : "meshemu run: note: ", &text);
    fputs(emu_text_get(&text), stderr);
    emu_text_finish(&text);
    return decides && emu_fault_load_idle(&session->faults) > 0 ? EXIT_USAGE : code;
}

static int perform(struct session *session)
{
    int code = read_config(session);
    if (code == EXIT_PASS && session->options->show_recipe)
        return show_recipe(session);
    if (code == EXIT_PASS)
        code = read_text(session);
    if (code == EXIT_PASS)
        code = open_outputs(session);
    if (code == EXIT_PASS)
        code = run(session);
    if (code == EXIT_PASS)
        code = print_text(session);
    if (code == EXIT_PASS)
        code = write_json(session);
    if (code == EXIT_PASS)
        code = write_record(session);
    return code == EXIT_PASS ? judge_faults(session, verdict_of(session)) : code;
}

int emu_command_run(const struct emu_run_options *options)
{
    struct session session = {.options = options};
    int code = perform(&session);
    if (session.ran)
        emu_training_result_finish(&session.result);
    emu_json_output_discard(&session.json);
    emu_json_output_discard(&session.record);
    free(session.text);
    emu_fault_load_finish(&session.faults);
    emu_plan_destroy(session.plan);
    emu_config_destroy(session.config);
    return code;
}
