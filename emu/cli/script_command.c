#include "cli/script_command.h"

#include "base/number.h"
#include "cli/exit_code.h"
#include "cli/print.h"
#include "config/duration.h"
#include "config/script.h"
#include "os/file.h"
#include "os/terminal.h"
#include "report/json_output.h"
#include "report/record_json.h"
#include "report/script_json.h"
#include "report/script_text.h"
#include "run/script_run.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EXIT_INTERRUPTED 130 /* 128 + SIGINT, as a shell reports it */
#define SCRIPT_LIMIT ((size_t)1 << 20)
#define MOST_REPEATS UINT64_C(1000000)

/* Everything that must be given back at the end. */
struct session {
    const struct emu_arguments *arguments;
    const char *json;   /* NULL: no report */
    const char *record; /* NULL: no flight recorders */
    struct emu_script_options options;
    struct emu_script_repeats repeats;
    bool repeated; /* --repeat was given */
    struct emu_script *script;
    struct emu_json_output output, recorded;
    struct emu_script_outcome outcome;
    bool ran;
    int worst; /* exit code over all runs */
};

static int read_options(struct session *session)
{
    const struct emu_arguments *arguments = session->arguments;
    const char *timeout = emu_arguments_value(arguments, "timeout");
    const char *repeat = emu_arguments_value(arguments, "repeat");
    uint64_t *ns = &session->options.timeout_ns;
    session->json = emu_arguments_value(arguments, "json");
    session->record = emu_arguments_value(arguments, "record");
    session->options.keep_records = session->record != NULL;
    session->options.replay = arguments->replay;
    session->options.output_fd =
        session->json && !strcmp(session->json, "-") ? STDERR_FILENO : STDOUT_FILENO;
    session->repeats.asked = 1;
    session->repeated = repeat != NULL;
    if (!arguments->operand)
        return emu_print_usage_error(arguments->command, "which FILE?");
    if (timeout && (!emu_duration_parse(timeout, ns) || *ns == 0))
        return emu_print_usage_error(arguments->command,
                                     "--timeout '%s': above zero is allowed, " EMU_DURATION_HINT,
                                     timeout);
    int code = emu_print_two_outputs(arguments->command, session->json, session->record);
    if (code != EMU_EXIT_PASS)
        return code;
    if (repeat && (!emu_parse_u64(repeat, &session->repeats.asked) || session->repeats.asked == 0 ||
                   session->repeats.asked > MOST_REPEATS))
        return emu_print_usage_error(
            arguments->command, "--repeat '%s': a whole number from 1 to %" PRIu64 " is allowed",
            repeat, MOST_REPEATS);
    return EMU_EXIT_PASS;
}

/* A file that cannot be read is the user's mistake; that memory ran out is not. */
static int read_script(struct session *session)
{
    const struct emu_arguments *arguments = session->arguments;
    struct emu_reason reason;
    struct emu_text diagnostics = {0};
    struct emu_script_params params = {.name = arguments->operand};
    char *text;
    enum emu_status status =
        emu_file_read(arguments->operand, SCRIPT_LIMIT, &text, &params.size, &reason);
    if (status != EMU_OK) {
        emu_print_refusal(arguments->command, reason.text);
        return status == EMU_ENOMEM ? EMU_EXIT_SYSTEM : EMU_EXIT_USAGE;
    }
    params.text = text;
    status = emu_script_read(&params, &diagnostics, &session->script);
    free(text);
    fputs(emu_text_get(&diagnostics), stderr);
    emu_text_finish(&diagnostics);
    return status == EMU_ENOMEM ? emu_print_no_memory(arguments->command) : emu_exit_of(status);
}

static int verdict_of(const struct emu_script_outcome *outcome)
{
    if (outcome->job.interrupted)
        return EXIT_INTERRUPTED;
    for (size_t i = 0; i < outcome->findings.count; i++)
        if (outcome->findings.items[i].class_id == EMU_CLASS_INTERNAL)
            return EMU_EXIT_INTERNAL;
    return emu_script_passed(outcome) ? EMU_EXIT_PASS : EMU_EXIT_FINDING;
}

static int run_once(struct session *session)
{
    if (session->ran)
        emu_script_outcome_finish(&session->outcome);
    session->ran = false;
    enum emu_status status = emu_script_run(session->script, &session->options, &session->outcome);
    if (status != EMU_OK)
        return emu_exit_of(status);
    session->ran = true;
    session->repeats.shown = ++session->repeats.made;
    int code = verdict_of(&session->outcome);
    session->repeats.failed += code != EMU_EXIT_PASS;
    if (code > session->worst)
        session->worst = code;
    return EMU_EXIT_PASS;
}

static void show_progress(const struct session *session)
{
    if (session->repeats.asked > 1 && emu_terminal_is(STDERR_FILENO))
        fprintf(stderr, "\r\033[Krun %" PRIu64 "/%" PRIu64, session->repeats.made,
                session->repeats.asked);
}

/* Until all are made, one differs from the first, or a person ends it. */
static int run_all(struct session *session)
{
    struct emu_script_repeats *repeats = &session->repeats;
    struct emu_text first = {0}, latest = {0};
    int code = EMU_EXIT_PASS;
    while (code == EMU_EXIT_PASS && repeats->made < repeats->asked && !repeats->differs &&
           !session->outcome.job.interrupted) {
        code = run_once(session);
        if (code != EMU_EXIT_PASS || repeats->asked == 1)
            break;
        emu_text_finish(&latest);
        emu_script_fingerprint(&session->outcome, repeats->made == 1 ? &first : &latest);
        repeats->differs =
            repeats->made > 1 && strcmp(emu_text_get(&first), emu_text_get(&latest)) != 0;
        if (first.failed || latest.failed)
            code = emu_print_no_memory(session->arguments->command);
        show_progress(session);
    }
    if (repeats->asked > 1 && emu_terminal_is(STDERR_FILENO))
        fputs("\r\033[K", stderr);
    emu_text_finish(&first);
    emu_text_finish(&latest);
    return code;
}

/* The report for people; with --json - it goes to standard error. */
static int print_text(const struct session *session)
{
    FILE *stream = session->options.output_fd == STDERR_FILENO ? stderr : stdout;
    struct emu_text text = {0};
    emu_script_to_text(&session->outcome, session->repeated ? &session->repeats : NULL,
                       emu_terminal_colour(fileno(stream)), &text);
    bool good = !text.failed && fputs(emu_text_get(&text), stream) != EOF && !fflush(stream);
    emu_text_finish(&text);
    return good ? EMU_EXIT_PASS
                : emu_print_refusal(session->arguments->command, "cannot write the report");
}

static int write_json(struct session *session)
{
    struct emu_text error = {0};
    struct emu_json json;
    if (!session->json)
        return EMU_EXIT_PASS;
    emu_json_init_file(&json, session->output.stream);
    emu_script_to_json(&session->outcome, session->repeated ? &session->repeats : NULL, &json);
    enum emu_status status = emu_json_output_end(&session->output, &json, &error);
    int code = EMU_EXIT_PASS;
    if (status != EMU_OK)
        code = emu_print_refusal(session->arguments->command, emu_text_get(&error));
    emu_text_finish(&error);
    return code;
}

static int write_record(struct session *session)
{
    struct emu_text error = {0};
    int code = EMU_EXIT_PASS;
    enum emu_status status = emu_record_write(&session->outcome.job, &session->script->mesh,
                                              "script", &session->recorded, &error);
    if (status != EMU_OK)
        code = emu_print_refusal(session->arguments->command, emu_text_get(&error));
    emu_text_finish(&error);
    return code;
}

static int perform(struct session *session)
{
    int code = read_options(session);
    if (code == EMU_EXIT_PASS)
        code = read_script(session);
    if (code == EMU_EXIT_PASS)
        code = emu_print_open_json(session->arguments->command, session->json, &session->output);
    if (code == EMU_EXIT_PASS)
        code =
            emu_print_open_json(session->arguments->command, session->record, &session->recorded);
    if (code == EMU_EXIT_PASS)
        code = run_all(session);
    if (code == EMU_EXIT_PASS)
        code = print_text(session);
    if (code == EMU_EXIT_PASS)
        code = write_json(session);
    if (code == EMU_EXIT_PASS)
        code = write_record(session);
    return code == EMU_EXIT_PASS ? session->worst : code;
}

int emu_script_command_run(const struct emu_arguments *arguments)
{
    struct session session = {.arguments = arguments};
    int code = perform(&session);
    if (session.ran)
        emu_script_outcome_finish(&session.outcome);
    emu_json_output_discard(&session.output);
    emu_json_output_discard(&session.recorded);
    emu_script_destroy(session.script);
    return code;
}
