#include "cli/faults_command.h"

#include "base/number.h"
#include "cli/exit_code.h"
#include "cli/faults_print.h"
#include "cli/print.h"
#include "os/file.h"
#include "os/terminal.h"
#include "report/config_file.h"
#include "report/json_output.h"
#include "run/campaign.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TEXT_MOST ((size_t)1 << 30)
#define MOST_RANDOM UINT64_C(1000000)

/* Everything that must be given back at the end. */
struct session {
    const struct emu_arguments *arguments;
    struct emu_override *sets;
    size_t set_count;
    const char *json; /* NULL: no report */
    struct emu_campaign_options options;
    struct emu_config *config;
    struct emu_plan *plan;
    char *text;
    struct emu_json_output output;
    struct emu_campaign campaign;
};

static int read_number(const struct session *session, const char *option, uint64_t most,
                       uint64_t *out)
{
    const char *text = emu_arguments_value(session->arguments, option);
    if (!text || (emu_parse_u64(text, out) && *out <= most))
        return EMU_EXIT_PASS;
    return emu_print_usage_error(session->arguments->command,
                                 "--%s '%s': a whole number from 0 to %" PRIu64 " is allowed",
                                 option, text, most);
}

static int read_options(struct session *session)
{
    const struct emu_arguments *arguments = session->arguments;
    if (!arguments->operand)
        return emu_print_usage_error(arguments->command, "which CONFIG?");
    session->sets = calloc(arguments->given_count + 1, sizeof *session->sets);
    if (!session->sets)
        return emu_print_no_memory(arguments->command);
    for (size_t i = 0; i < arguments->given_count; i++)
        if (!strcmp(arguments->given[i].option->name, "set"))
            session->sets[session->set_count++].text = arguments->given[i].value;
    session->json = emu_arguments_value(arguments, "json");
    session->options.seed = 1;
    int code = read_number(session, "random", MOST_RANDOM, &session->options.random);
    return code == EMU_EXIT_PASS ? read_number(session, "seed", UINT64_MAX, &session->options.seed)
                                 : code;
}

static int give_up(const struct session *session, struct emu_text *diagnostics,
                   enum emu_status status)
{
    if (!diagnostics->size)
        emu_text_printf(diagnostics, "meshemu %s: %s\n", session->arguments->command->name,
                        emu_status_text(status));
    fputs(emu_text_get(diagnostics), stderr);
    emu_text_finish(diagnostics);
    return emu_exit_of(status);
}

static int read_config(struct session *session)
{
    struct emu_text diagnostics = {0};
    struct emu_reason reason;
    size_t size = 0;
    enum emu_status status =
        emu_config_file_read(session->arguments->operand, session->sets, session->set_count,
                             &diagnostics, &session->config);
    if (status == EMU_OK)
        status = emu_plan_create(session->config, &diagnostics, &session->plan);
    const char *path = status == EMU_OK ? session->config->data.text : NULL;
    if (path)
        status = emu_file_read(path, TEXT_MOST, &session->text, &size, &reason);
    if (path && status == EMU_ESYSTEM) {
        emu_config_complain(session->config, &diagnostics, "data.text", "cannot read '%s': %s",
                            path, reason.text);
        status = EMU_EPARSE;
    } else if (path && status == EMU_OK && strspn(session->text, "\r\n") >= size) {
        emu_config_complain(session->config, &diagnostics, "data.text",
                            "'%s' holds no document: every line is empty", path);
        status = EMU_EPARSE;
    }
    if (status != EMU_OK)
        return give_up(session, &diagnostics, status);
    emu_text_finish(&diagnostics);
    session->options.text = session->text;
    session->options.text_size = size;
    return EMU_EXIT_PASS;
}

static void show_progress(const struct emu_campaign *campaign, size_t runs, void *user)
{
    (void)user;
    fprintf(stderr, "\r\033[Kfault %zu/%zu  %s", campaign->count, runs,
            campaign->runs[campaign->count - 1].fault);
    fflush(stderr);
}

static int conduct(struct session *session)
{
    bool watched = emu_terminal_is(STDERR_FILENO);
    session->options.output_fd = STDERR_FILENO;
    session->options.progress = watched ? show_progress : NULL;
    enum emu_status status =
        emu_campaign_conduct(session->plan, &session->options, &session->campaign);
    if (watched)
        fputs("\r\033[K", stderr);
    return emu_exit_of(status);
}

static int print_text(const struct session *session, bool list)
{
    FILE *stream = session->json && !strcmp(session->json, "-") ? stderr : stdout;
    struct emu_text text = {0};
    if (list)
        emu_faults_list_text(session->plan, &text);
    else
        emu_campaign_to_text(&session->campaign, &text);
    bool good = !text.failed && fputs(emu_text_get(&text), stream) != EOF && !fflush(stream);
    emu_text_finish(&text);
    return good ? EMU_EXIT_PASS
                : emu_print_refusal(session->arguments->command, "cannot write the report");
}

static int write_json(struct session *session, bool list)
{
    struct emu_text error = {0};
    struct emu_json json;
    if (!session->json)
        return EMU_EXIT_PASS;
    emu_json_init_file(&json, session->output.stream);
    if (list)
        emu_faults_list_json(session->plan, &json);
    else
        emu_campaign_to_json(&session->campaign, &json);
    enum emu_status status = emu_json_output_end(&session->output, &json, &error);
    int code = EMU_EXIT_PASS;
    if (status != EMU_OK)
        code = emu_print_refusal(session->arguments->command, emu_text_get(&error));
    emu_text_finish(&error);
    return code;
}

static int verdict_of(const struct session *session, bool list)
{
    if (list)
        return EMU_EXIT_PASS;
    if (session->campaign.interrupted)
        return EMU_EXIT_INTERRUPTED;
    return emu_campaign_passed(&session->campaign) ? EMU_EXIT_PASS : EMU_EXIT_FINDING;
}

static int perform(struct session *session)
{
    bool list = emu_arguments_has(session->arguments, "list");
    int code = read_options(session);
    if (code == EMU_EXIT_PASS)
        code = read_config(session);
    if (code == EMU_EXIT_PASS)
        code = emu_print_open_json(session->arguments->command, session->json, &session->output);
    if (code == EMU_EXIT_PASS && !list)
        code = conduct(session);
    if (code == EMU_EXIT_PASS)
        code = print_text(session, list);
    if (code == EMU_EXIT_PASS)
        code = write_json(session, list);
    return code == EMU_EXIT_PASS ? verdict_of(session, list) : code;
}

static int run(const struct emu_arguments *arguments)
{
    struct session session = {.arguments = arguments};
    int code = perform(&session);
    emu_campaign_finish(&session.campaign);
    emu_json_output_discard(&session.output);
    free(session.text);
    emu_plan_destroy(session.plan);
    emu_config_destroy(session.config);
    free(session.sets);
    return code;
}

static const struct emu_option options[] = {
    {"list", NULL, "print every kind with its parameters, run nothing", false},
    {"random", "N", "draw N faults; those that do not apply are skipped", false},
    {"seed", "S", "of the random faults, 1 by default", false},
    {"set", "KEY=VALUE", "change a key of the config, as in --set train.steps=2", true},
    {"json", "FILE|-", "write the report as JSON; - is standard output", false},
    {"help", NULL, "print this help", false},
};

const struct emu_command emu_faults_command = {
    "faults",
    "CONFIG",
    "inject every kind of fault and score the diagnosis",
    "Runs the mesh once for each fault, and between them without one. What a run\n"
    "should find follows from the plan and the fault's address. It passes when each\n"
    "fault acted once, was told as its class with its culprit, and no run without a\n"
    "fault raised one. Faults of the config are left out.",
    options,
    sizeof options / sizeof options[0],
    run,
};
