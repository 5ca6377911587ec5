#include "cli/help.h"

#include "cli/environment.h"
#include "cli/exit_code.h"
#include "cli/print.h"

#include <meshemu/meshemu.h>

#include <string.h>

/* Where the second column of a list begins. */
#define HELP_COLUMN 24

void emu_help_usage(const struct emu_command *command, struct emu_text *out)
{
    emu_text_puts(out, "meshemu");
    if (command == &emu_program)
        emu_text_puts(out, " COMMAND");
    else
        emu_text_printf(out, " %s", command->name);
    emu_text_puts(out, " [OPTION...]");
    if (command->operand)
        emu_text_printf(out, " %s", command->operand);
}

/* One row of a list; the second column goes to a line of its own where the first is too wide. */
static void put_row(struct emu_text *out, const char *left, const char *right)
{
    size_t width = strlen(left) + 2;
    emu_text_printf(out, "  %s", left);
    if (width + 2 > HELP_COLUMN) {
        emu_text_putc(out, '\n');
        width = 0;
    }
    emu_text_printf(out, "%*s%s\n", (int)(HELP_COLUMN - width), "", right);
}

static void put_options(struct emu_text *out, const struct emu_command *command)
{
    emu_text_puts(out, "\nOptions:\n");
    for (size_t i = 0; i < command->option_count; i++) {
        const struct emu_option *option = &command->options[i];
        struct emu_text left = {0};
        emu_text_printf(&left, "--%s%s%s", option->name, option->argument ? " " : "",
                        option->argument ? option->argument : "");
        put_row(out, emu_text_get(&left), option->help);
        emu_text_finish(&left);
    }
}

static void put_exit_codes(struct emu_text *out)
{
    emu_text_puts(out, "\nExit codes:\n");
#define EXIT_ROW(name, code, text) put_row(out, #code, text);
    EMU_EXIT_LIST(EXIT_ROW)
#undef EXIT_ROW
}

static void put_environment(struct emu_text *out)
{
    emu_text_puts(out, "\nEnvironment:\n");
#define VARIABLE_ROW(name, text) put_row(out, name, text);
    EMU_ENVIRONMENT_LIST(VARIABLE_ROW)
#undef VARIABLE_ROW
}

void emu_help_text(const struct emu_command *command, struct emu_text *out)
{
    bool program = command == &emu_program;
    emu_text_printf(out, "meshemu%s%s: %s\n\nUsage: ", program ? "" : " ", command->name,
                    command->summary);
    emu_help_usage(command, out);
    emu_text_printf(out, "\n\n%s\n", command->details);
    if (program) {
        emu_text_puts(out, "\nCommands:\n");
        for (size_t i = 0; i < emu_command_count; i++)
            put_row(out, emu_commands[i]->name, emu_commands[i]->summary);
    }
    put_options(out, command);
    if (program) {
        put_exit_codes(out);
        put_environment(out);
        emu_text_puts(out, "\nmeshemu help COMMAND says more about one.\n");
    }
}

int emu_help_run(const struct emu_arguments *arguments)
{
    const struct emu_command *command = &emu_program;
    if (arguments->operand)
        command = emu_command_find(arguments->operand);
    if (!command)
        return emu_print_unknown_command(arguments->operand);
    struct emu_text text = {0};
    emu_help_text(command, &text);
    return emu_print_text(&text);
}

int emu_help_program_run(const struct emu_arguments *arguments)
{
    struct emu_text text = {0};
    const char *shell = emu_arguments_value(arguments, "completion");
    if (emu_arguments_has(arguments, "version"))
        emu_text_puts(&text, "meshemu " EMU_VERSION "\n");
    else if (emu_arguments_has(arguments, "man"))
        emu_man_page(&text);
    else if (!shell)
        return emu_print_usage_error(&emu_program, "which command?");
    else if (strcmp(shell, "bash") != 0)
        return emu_print_usage_error(&emu_program, "no completion for '%s': bash is there", shell);
    else
        emu_completion_bash(&text);
    return emu_print_text(&text);
}
