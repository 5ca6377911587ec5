/* meshemu cost: the orders of the axes on given nodes, best first. */
#ifndef EMU_CLI_COST_COMMAND_H
#define EMU_CLI_COST_COMMAND_H

#include "cli/command.h"

extern const struct emu_command emu_cost_command;

#endif
