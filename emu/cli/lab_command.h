/* meshemu lab: the reliability lab, one step from the command line or a prompt. */
#ifndef EMU_CLI_LAB_COMMAND_H
#define EMU_CLI_LAB_COMMAND_H

#include "cli/command.h"

extern const struct emu_command emu_lab_command;

#endif
