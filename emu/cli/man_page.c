#include "cli/environment.h"
#include "cli/exit_code.h"
#include "cli/help.h"

#include <meshemu/meshemu.h>

/* Text that roff shall show as it is: a dash stays a dash, no line is taken for a request. */
static void put_plain(struct emu_text *out, const char *text)
{
    bool line_start = true;
    for (; *text; text++) {
        if (line_start && (*text == '.' || *text == '\''))
            emu_text_puts(out, "\\&");
        if (*text == '\\')
            emu_text_puts(out, "\\e");
        else if (*text == '-')
            emu_text_puts(out, "\\-");
        else
            emu_text_putc(out, *text);
        line_start = *text == '\n';
    }
}

static void put_option(struct emu_text *out, const struct emu_option *option)
{
    emu_text_puts(out, ".TP\n\\fB\\-\\-");
    put_plain(out, option->name);
    emu_text_puts(out, "\\fR");
    if (option->argument) {
        emu_text_puts(out, " \\fI");
        put_plain(out, option->argument);
        emu_text_puts(out, "\\fR");
    }
    emu_text_putc(out, '\n');
    put_plain(out, option->help);
    emu_text_puts(out, option->repeats ? ". May be repeated.\n" : ".\n");
}

static void put_options(struct emu_text *out, const struct emu_command *command)
{
    for (size_t i = 0; i < command->option_count; i++)
        put_option(out, &command->options[i]);
}

static void put_command(struct emu_text *out, const struct emu_command *command)
{
    struct emu_text usage = {0};
    emu_help_usage(command, &usage);
    emu_text_puts(out, ".SS ");
    put_plain(out, emu_text_get(&usage));
    emu_text_finish(&usage);
    emu_text_putc(out, '\n');
    put_plain(out, command->summary);
    emu_text_puts(out, ".\n.PP\n");
    put_plain(out, command->details);
    emu_text_putc(out, '\n');
    put_options(out, command);
}

void emu_man_page(struct emu_text *out)
{
    emu_text_puts(out, ".TH MESHEMU 1 \"\" \"meshemu " EMU_VERSION "\" \"User Commands\"\n"
                       ".SH NAME\nmeshemu \\- ");
    put_plain(out, emu_program.summary);
    emu_text_puts(out, "\n.SH SYNOPSIS\n");
    for (size_t i = 0; i < emu_command_count; i++) {
        struct emu_text usage = {0};
        emu_help_usage(emu_commands[i], &usage);
        emu_text_puts(out, i ? ".br\n" : "");
        put_plain(out, emu_text_get(&usage));
        emu_text_putc(out, '\n');
        emu_text_finish(&usage);
    }
    emu_text_puts(out, ".SH DESCRIPTION\n");
    put_plain(out, emu_program.details);
    emu_text_puts(out, "\n.SH OPTIONS\n");
    put_options(out, &emu_program);
    emu_text_puts(out, ".SH COMMANDS\n");
    for (size_t i = 0; i < emu_command_count; i++)
        put_command(out, emu_commands[i]);
    emu_text_puts(out, ".SH ENVIRONMENT\n");
#define VARIABLE_ROW(name, text) emu_text_puts(out, ".TP\n.B " name "\n" text ".\n");
    EMU_ENVIRONMENT_LIST(VARIABLE_ROW)
#undef VARIABLE_ROW
    emu_text_puts(out, ".SH EXIT STATUS\n");
#define EXIT_ROW(name, code, text) emu_text_puts(out, ".TP\n.B " #code "\n" text ".\n");
    EMU_EXIT_LIST(EXIT_ROW)
#undef EXIT_ROW
}
