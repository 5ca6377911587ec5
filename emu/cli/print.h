/* How do the commands talk to the user? Every function returns the exit code that follows. */
#ifndef EMU_CLI_PRINT_H
#define EMU_CLI_PRINT_H

#include "base/text.h"
#include "cli/command.h"
#include "report/json_output.h"

/* Write the text to standard output and finish it. */
int emu_print_text(struct emu_text *text);

/* Flush standard output. A full disk or a reader that went away is a message and exit code 3. */
int emu_print_flush(void);

/* "meshemu mesh: error: ..." and how to get help, on standard error. */
int emu_print_usage_error(const struct emu_command *command, const char *format, ...)
    EMU_PRINTF(2, 3);

int emu_print_unknown_command(const char *name);

/* Open where the report of --json goes, before anything starts; path NULL: nowhere. */
int emu_print_open_json(const struct emu_command *command, const char *path,
                        struct emu_json_output *output);

/* --json and --record of one command: a usage error where both go to one place. */
int emu_print_two_outputs(const struct emu_command *command, const char *json, const char *record);

/* The system refused: one line on standard error. */
int emu_print_refusal(const struct emu_command *command, const char *why);

int emu_print_no_memory(const struct emu_command *command);

#endif
