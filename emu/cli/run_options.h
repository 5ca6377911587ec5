/* meshemu run: from the command line to the options of the command. */
#ifndef EMU_CLI_RUN_OPTIONS_H
#define EMU_CLI_RUN_OPTIONS_H

#include "cli/command_line.h"

int emu_run_options_run(const struct emu_arguments *arguments);

#endif
