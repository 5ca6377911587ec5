/* meshemu script: run the communication program in a file, once or many times. */
#ifndef EMU_CLI_SCRIPT_COMMAND_H
#define EMU_CLI_SCRIPT_COMMAND_H

#include "cli/command_line.h"

int emu_script_command_run(const struct emu_arguments *arguments);

#endif
