/* meshemu faults CONFIG: would the checks have told? See run/campaign.h. */
#ifndef EMU_CLI_FAULTS_COMMAND_H
#define EMU_CLI_FAULTS_COMMAND_H

#include "cli/command.h"

extern const struct emu_command emu_faults_command;

#endif
