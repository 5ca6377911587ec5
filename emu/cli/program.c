#include "cli/program.h"

#include "base/cpu_variant.h"
#include "cli/command.h"
#include "cli/exit_code.h"
#include "cli/help.h"
#include "cli/print.h"
#include "seg/ways.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

/* A reader that went away and a limit on file sizes shall be errors of a write, not our death. */
static void survive_writes(void)
{
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
}

static int show_help(const struct emu_command *command)
{
    struct emu_text text = {0};
    emu_help_text(command, &text);
    return emu_print_text(&text);
}

/* argv[0] is the command's name (or the program's). */
static int run(const struct emu_command *command, int argc, char **argv)
{
    struct emu_arguments arguments;
    struct emu_text error = {0};
    enum emu_status status = emu_arguments_read(command, argc, argv, &error, &arguments);
    int code;
    if (status == EMU_ENOMEM) {
        code = emu_print_no_memory(command);
    } else if (status != EMU_OK) {
        code = emu_print_usage_error(command, "%s", emu_text_get(&error));
    } else {
        code =
            emu_arguments_has(&arguments, "help") ? show_help(command) : command->run(&arguments);
        emu_arguments_finish(&arguments);
    }
    emu_text_finish(&error);
    return code;
}

/* EMU_EXIT_PASS, or the usage error that a variable is. */
static int read_environment(void)
{
    struct emu_ways ways;
    struct emu_reason reason = {0};
    if (!emu_cpu_variant_asked_well())
        return emu_print_usage_error(
            &emu_program, "MESHEMU_CPU_VARIANT: baseline, avx2 or avx512 is allowed, not '%s'",
            getenv("MESHEMU_CPU_VARIANT"));
    if (emu_ways_here(&ways, &reason) != EMU_OK)
        return emu_print_usage_error(&emu_program, "%s", reason.text);
    return EMU_EXIT_PASS;
}

int emu_program_run(int argc, char **argv)
{
    survive_writes();
    int code = read_environment();
    if (code != EMU_EXIT_PASS)
        return code;
    if (argc < 2)
        return emu_print_usage_error(&emu_program, "which command?");
    if (argv[1][0] == '-')
        return run(&emu_program, argc, argv);
    const struct emu_command *command = emu_command_find(argv[1]);
    if (!command)
        return emu_print_unknown_command(argv[1]);
    return run(command, argc - 1, argv + 1);
}
