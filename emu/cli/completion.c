#include "bench/bench_op.h"
#include "cli/bench_command.h"
#include "cli/help.h"

#include <string.h>

static bool takes_file(const char *argument)
{
    return strstr(argument, "FILE") || strstr(argument, "CONFIG");
}

/* "--a|--b" of the options whose argument is (or is not) a file; false: there are none. */
static bool put_patterns(struct emu_text *out, const struct emu_command *command, bool file)
{
    bool any = false;
    for (size_t i = 0; i < command->option_count; i++) {
        const struct emu_option *option = &command->options[i];
        if (!option->argument || takes_file(option->argument) != file)
            continue;
        emu_text_printf(out, "%s--%s", any ? "|" : "        ", option->name);
        any = true;
    }
    return any;
}

static void put_ops(struct emu_text *out)
{
    emu_text_puts(out, "        words=\"");
    for (size_t i = 0; i < EMU_BENCH_OPS; i++)
        emu_text_printf(out, "%s%s", i ? " " : "", emu_bench_op_name(emu_bench_ops[i]));
    emu_text_puts(out, "\"\n");
}

static void put_command(struct emu_text *out, const struct emu_command *command)
{
    emu_text_printf(out, "    %s)\n        case $prev in\n", command->name);
    if (put_patterns(out, command, true))
        emu_text_puts(out, ") files=1; kind=file ;;\n");
    if (put_patterns(out, command, false))
        emu_text_puts(out, ") return ;;\n");
    emu_text_puts(out, "        esac\n        options=\"");
    for (size_t i = 0; i < command->option_count; i++)
        emu_text_printf(out, "%s--%s", i ? " " : "", command->options[i].name);
    emu_text_puts(out, "\"\n");
    if (command->operand && takes_file(command->operand))
        emu_text_puts(out, "        files=1\n");
    else if (command == &emu_bench_command)
        put_ops(out);
    else if (command->operand)
        emu_text_puts(out, "        words=$commands\n");
    emu_text_puts(out, "        ;;\n");
}

void emu_completion_bash(struct emu_text *out)
{
    emu_text_puts(out, "# Completion of meshemu for bash, made by: meshemu --completion bash\n"
                       "_meshemu()\n{\n"
                       "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}\n"
                       "    local options= words= files= kind= commands=\"");
    for (size_t i = 0; i < emu_command_count; i++)
        emu_text_printf(out, "%s%s", i ? " " : "", emu_commands[i]->name);
    emu_text_puts(out, "\"\n    COMPREPLY=()\n    if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
                       "        COMPREPLY=($(compgen -W \"$commands");
    for (size_t i = 0; i < emu_program.option_count; i++)
        emu_text_printf(out, " --%s", emu_program.options[i].name);
    emu_text_puts(out, "\" -- \"$cur\"))\n        return\n    fi\n"
                       "    case ${COMP_WORDS[1]} in\n");
    for (size_t i = 0; i < emu_command_count; i++)
        put_command(out, emu_commands[i]);
    emu_text_puts(out, "    --completion) words=bash ;;\n    *) return ;;\n    esac\n"
                       "    if [ -z \"$kind\" ] && [ \"${cur#-}\" != \"$cur\" ]; then\n"
                       "        COMPREPLY=($(compgen -W \"$options\" -- \"$cur\"))\n"
                       "    elif [ -n \"$files\" ]; then\n"
                       "        local IFS=$'\\n'\n"
                       "        COMPREPLY=($(compgen -f -- \"$cur\"))\n"
                       "    else\n"
                       "        COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n"
                       "    fi\n}\n"
                       "complete -o filenames -F _meshemu meshemu\n");
}
