/* meshemu account: the books of a config, without starting a process. */
#ifndef EMU_CLI_ACCOUNT_COMMAND_H
#define EMU_CLI_ACCOUNT_COMMAND_H

#include "cli/command.h"

extern const struct emu_command emu_account_command;

#endif
