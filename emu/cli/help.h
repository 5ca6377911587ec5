/* What can the user do? Texts made from the table of commands. */
#ifndef EMU_CLI_HELP_H
#define EMU_CLI_HELP_H

#include "base/text.h"
#include "cli/command.h"

/* "meshemu mesh [OPTION...] AXES|CONFIG" */
void emu_help_usage(const struct emu_command *command, struct emu_text *out);

/* Usage, what the command does, its options. For emu_program: all commands, exit codes
 * and variables of the environment. */
void emu_help_text(const struct emu_command *command, struct emu_text *out);

/* A script for bash, to be sourced. */
void emu_completion_bash(struct emu_text *out);

/* The manual page in roff, section 1. */
void emu_man_page(struct emu_text *out);

/* meshemu help COMMAND, and meshemu --help|--version|--completion|--man. */
int emu_help_run(const struct emu_arguments *arguments);
int emu_help_program_run(const struct emu_arguments *arguments);

#endif
