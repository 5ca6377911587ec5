/* meshemu bench: how fast are the collectives, and is what they give right? */
#ifndef EMU_CLI_BENCH_COMMAND_H
#define EMU_CLI_BENCH_COMMAND_H

#include "cli/command.h"

extern const struct emu_command emu_bench_command;

#endif
