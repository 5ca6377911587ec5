/* meshemu mesh: which ranks does a mesh have, where does each stand, who shares its groups? */
#ifndef EMU_CLI_MESH_COMMAND_H
#define EMU_CLI_MESH_COMMAND_H

#include "cli/command_line.h"

int emu_mesh_command_run(const struct emu_arguments *arguments);

#endif
