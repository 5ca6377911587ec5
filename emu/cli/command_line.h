/* What did the user write after a command?
 *
 * Options are read with getopt_long against the command's table, but only by their full names:
 * getopt_long would take a prefix, which changes its meaning when an option is added. Options and
 * operands may be mixed; `--` ends the options.
 */
#ifndef EMU_CLI_COMMAND_LINE_H
#define EMU_CLI_COMMAND_LINE_H

#include "base/text.h"

#include <meshemu/status.h>

#include <stdbool.h>
#include <stddef.h>

struct emu_command;
struct emu_option;

struct emu_given {
    const struct emu_option *option;
    const char *value; /* NULL: a flag */
};

struct emu_arguments {
    const struct emu_command *command;
    struct emu_given *given; /* in the order given; owned */
    size_t given_count;
    const char *operand; /* the first; NULL: none. Borrowed from argv, like all values */
    char **operands;     /* all of them, borrowed */
    size_t operand_count;
    char *replay; /* the whole command line, quoted for a shell. Owned */
};

/* Read argv[1] to argv[argc - 1]; argv[0] is the command's name. argv is permuted, the operand
 * behind the options.
 * returns  EMU_OK, EMU_EPARSE with one line in *error, EMU_ENOMEM */
EMU_MUST_CHECK enum emu_status emu_arguments_read(const struct emu_command *command, int argc,
                                                  char **argv, struct emu_text *error,
                                                  struct emu_arguments *arguments);
void emu_arguments_finish(struct emu_arguments *arguments);

bool emu_arguments_has(const struct emu_arguments *arguments, const char *option);

/* The value given for the option, NULL where it was not given. */
const char *emu_arguments_value(const struct emu_arguments *arguments, const char *option);

#endif
