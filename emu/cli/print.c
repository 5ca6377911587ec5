#include "cli/print.h"

#include "cli/exit_code.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* "meshemu" or "meshemu mesh". */
static void put_name(const struct emu_command *command)
{
    fprintf(stderr, "meshemu%s%s: error: ", *command->name ? " " : "", command->name);
}

static void put_advice(const struct emu_command *command)
{
    fprintf(stderr, "Try: meshemu %s%s\n", *command->name ? "help " : "--help", command->name);
}

int emu_print_flush(void)
{
    bool failed = ferror(stdout) != 0;
    int reason = errno;
    if (fflush(stdout) != 0) {
        failed = true;
        reason = errno;
    }
    if (!failed)
        return EMU_EXIT_PASS;
    fprintf(stderr, "meshemu: error: cannot write the output: %s\n",
            strerror(reason ? reason : EIO));
    return EMU_EXIT_SYSTEM;
}

int emu_print_text(struct emu_text *text)
{
    if (text->failed) {
        emu_text_finish(text);
        return emu_print_no_memory(&emu_program);
    }
    fwrite(emu_text_get(text), 1, text->size, stdout);
    emu_text_finish(text);
    return emu_print_flush();
}

int emu_print_usage_error(const struct emu_command *command, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    put_name(command);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
    put_advice(command);
    return EMU_EXIT_USAGE;
}

int emu_print_unknown_command(const char *name)
{
    const char *near = emu_command_suggest(name);
    return emu_print_usage_error(&emu_program, "unknown command '%s'%s%s%s", name,
                                 near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
}

int emu_print_refusal(const struct emu_command *command, const char *why)
{
    put_name(command);
    fprintf(stderr, "%s\n", why);
    return EMU_EXIT_SYSTEM;
}

int emu_print_no_memory(const struct emu_command *command)
{
    return emu_print_refusal(command, "out of memory");
}

int emu_print_open_json(const struct emu_command *command, const char *path,
                        struct emu_json_output *output)
{
    struct emu_text error = {0};
    int code = EMU_EXIT_PASS;
    if (path && emu_json_output_open(output, path, &error) != EMU_OK)
        code = emu_print_refusal(command, emu_text_get(&error));
    emu_text_finish(&error);
    return code;
}

int emu_print_two_outputs(const struct emu_command *command, const char *json, const char *record)
{
    if (json && record && !strcmp(json, record))
        return emu_print_usage_error(command, "--json and --record both go to '%s'", json);
    return EMU_EXIT_PASS;
}
