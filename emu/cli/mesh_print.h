/* How does a mesh look: to a program (JSON), and to a person (picture, table, groups)?
 *
 * Everything is written as it is computed; with --rank nothing depends on the size of the mesh but
 * the groups that are printed. Writers stop at the first failed write.
 */
#ifndef EMU_CLI_MESH_PRINT_H
#define EMU_CLI_MESH_PRINT_H

#include "cli/mesh_request.h"

#include <stdint.h>
#include <stdio.h>

/* The whole report. False: a write failed. */
bool emu_mesh_print_json(const struct emu_mesh_request *request, FILE *out);

/* rows: no list gets more rows (and no row more members) than this; 0: no limit.
 * columns: of the terminal, for the picture. */
void emu_mesh_print_text(const struct emu_mesh_request *request, FILE *out, uint32_t rows,
                         uint32_t columns);

/* The ranks in a grid: the last axis across, the one before down, all others as blocks; axes of
 * size 1 are left out. Nothing where the mesh has one rank, too many or too wide a grid. */
void emu_mesh_print_picture(const struct emu_mesh *mesh, FILE *out, uint32_t columns);

#endif
