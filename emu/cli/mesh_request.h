/* What was asked of `meshemu mesh`, once everything in it was found to be right? */
#ifndef EMU_CLI_MESH_REQUEST_H
#define EMU_CLI_MESH_REQUEST_H

#include "cli/command_line.h"
#include "config/config.h"

#include <meshemu/mesh.h>

#include <stdbool.h>
#include <stdint.h>

struct emu_mesh_request {
    const struct emu_mesh *mesh; /* parsed, or the config's */
    struct emu_mesh parsed;
    struct emu_config *config; /* owned; NULL where axes were given */
    const char *over_text;     /* NULL: no --over */
    struct emu_axes over;
    bool has_rank;
    uint32_t rank;
};

/* Read the arguments; what is wrong is printed. Returns an exit code; 0: *request is to be
 * finished.
 */
int emu_mesh_request_read(const struct emu_arguments *arguments, struct emu_mesh_request *request);
void emu_mesh_request_finish(struct emu_mesh_request *request);

#endif
