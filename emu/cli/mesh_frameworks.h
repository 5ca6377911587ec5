/* Which ranks does the same set of axes get in other frameworks? */
#ifndef EMU_CLI_MESH_FRAMEWORKS_H
#define EMU_CLI_MESH_FRAMEWORKS_H

#include "cli/mesh_request.h"

/* meshemu mesh --frameworks AXES: the order of each framework side by side, the groups that differ,
 * and the axes string that gives each here. What cannot be answered is printed. Returns an exit
 * code. */
int emu_mesh_frameworks_run(const struct emu_arguments *arguments,
                            const struct emu_mesh_request *request);

#endif
