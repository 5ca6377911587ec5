/* Which commands and options exist? One table, from which the parser, --help, the man page and the
 * shell completion are made. */
#ifndef EMU_CLI_COMMAND_H
#define EMU_CLI_COMMAND_H

#include "cli/command_line.h"

#include <stdbool.h>
#include <stddef.h>

struct emu_option {
    const char *name;     /* without the dashes */
    const char *argument; /* how help calls it ("FILE|-"); NULL: a flag */
    const char *help;     /* one line, no full stop */
    bool repeats;         /* may be given more than once */
};

struct emu_command {
    const char *name;    /* "" for the program itself */
    const char *operand; /* "AXES|CONFIG"; NULL: none is taken; "OP...": any number;
                             else at most one */
    const char *summary; /* one line, no full stop */
    const char *details; /* paragraphs for help and man page, lines of at most 78 bytes */
    const struct emu_option *options;
    size_t option_count;
    int (*run)(const struct emu_arguments *arguments); /* returns the exit code */
};

/* In the order in which help lists them. */
extern const struct emu_command *const emu_commands[];
extern const size_t emu_command_count;

/* What stands before a command: --version, --help, ... */
extern const struct emu_command emu_program;

/* NULL where there is none. */
const struct emu_command *emu_command_find(const char *name);
const char *emu_command_suggest(const char *name);

#endif
