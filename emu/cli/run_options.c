#include "cli/run_options.h"

#include "base/number.h"
#include "cli/command.h"
#include "cli/exit_code.h"
#include "cli/print.h"
#include "cli/run_command.h"
#include "config/config.h"
#include "config/duration.h"

#include <meshemu/mesh.h>

#include <stdlib.h>
#include <string.h>

/* Options with their lists, which are as long as what was given at most. */
struct collected {
    struct emu_run_options options;
    struct emu_override *sets;
    const char **faults;
};

static bool is_option(const struct emu_given *given, const char *name)
{
    return strcmp(given->option->name, name) == 0;
}

static bool collect_lists(const struct emu_arguments *arguments, struct collected *made)
{
    made->sets = calloc(arguments->given_count + 1, sizeof *made->sets);
    made->faults = calloc(arguments->given_count + 1, sizeof *made->faults);
    if (!made->sets || !made->faults)
        return false;
    struct emu_run_options *options = &made->options;
    for (size_t i = 0; i < arguments->given_count; i++) {
        const struct emu_given *given = &arguments->given[i];
        if (is_option(given, "set"))
            made->sets[options->set_count++].text = given->value;
        if (is_option(given, "fault"))
            made->faults[options->fault_count++] = given->value;
    }
    options->sets = made->sets;
    options->faults = made->faults;
    return true;
}

static int read_timeout(const struct emu_arguments *arguments, struct emu_run_options *options)
{
    const char *text = emu_arguments_value(arguments, "timeout");
    if (!text)
        return EMU_EXIT_PASS;
    if (emu_duration_parse(text, &options->timeout_ns) && options->timeout_ns > 0)
        return EMU_EXIT_PASS;
    return emu_print_usage_error(arguments->command,
                                 "--timeout '%s': above zero is allowed, " EMU_DURATION_HINT, text);
}

static int read_only_output(const struct emu_arguments *arguments, struct emu_run_options *options)
{
    options->only_output = -1;
    const char *text = emu_arguments_value(arguments, "only-output");
    if (!text)
        return EMU_EXIT_PASS;
    uint64_t rank;
    if (!emu_parse_u64(text, &rank) || rank >= EMU_MESH_MAX_WORLD)
        return emu_print_usage_error(arguments->command,
                                     "--only-output '%s' is no rank: a whole number from 0", text);
    options->only_output = (int64_t)rank;
    return EMU_EXIT_PASS;
}

static void read_flags(const struct emu_arguments *arguments, struct emu_run_options *options)
{
    options->gradients = emu_arguments_has(arguments, "gradients");
    options->traffic = emu_arguments_has(arguments, "traffic");
    options->breakdown = emu_arguments_has(arguments, "breakdown");
    options->pin = emu_arguments_has(arguments, "pin");
    options->no_pin = emu_arguments_has(arguments, "no-pin");
    options->show_recipe = emu_arguments_has(arguments, "show-recipe");
    options->keep_going = emu_arguments_has(arguments, "keep-going");
    options->stop_on_finding = emu_arguments_has(arguments, "stop-on-finding");
    options->quiet = emu_arguments_has(arguments, "quiet");
    options->json = emu_arguments_value(arguments, "json");
    options->record = emu_arguments_value(arguments, "record");
    options->replay = arguments->replay;
}

static int help_config(void)
{
    struct emu_text text = {0};
    emu_config_help(&text);
    return emu_print_text(&text);
}

int emu_run_options_run(const struct emu_arguments *arguments)
{
    if (emu_arguments_has(arguments, "help-config"))
        return help_config();
    if (!arguments->operand)
        return emu_print_usage_error(arguments->command, "which CONFIG?");
    struct collected made = {.options = {.config_path = arguments->operand}};
    int code = read_timeout(arguments, &made.options);
    if (code == EMU_EXIT_PASS)
        code = read_only_output(arguments, &made.options);
    if (code == EMU_EXIT_PASS && emu_arguments_has(arguments, "pin") &&
        emu_arguments_has(arguments, "no-pin"))
        code = emu_print_usage_error(arguments->command, "--pin and --no-pin exclude each other");
    if (code == EMU_EXIT_PASS)
        code = emu_print_two_outputs(arguments->command, emu_arguments_value(arguments, "json"),
                                     emu_arguments_value(arguments, "record"));
    if (code == EMU_EXIT_PASS) {
        read_flags(arguments, &made.options);
        code = collect_lists(arguments, &made) ? emu_command_run(&made.options)
                                               : emu_print_no_memory(arguments->command);
    }
    free(made.sets);
    free(made.faults);
    return code;
}
