/* How do a mesh, its coordinates and its processes look in JSON reports? Alike in every command. */
#ifndef EMU_REPORT_MESH_PARTS_JSON_H
#define EMU_REPORT_MESH_PARTS_JSON_H

#include "check/outcome.h"
#include "report/json_writer.h"

#include <meshemu/mesh.h>

/* "axes": [{"name": "dp", "size": 2}, ...], "world": 4 into the object that is open. */
void emu_mesh_axes_to_json(const struct emu_mesh *mesh, struct emu_json *json);

/* "mesh": {"axes": ..., "world": ...} into the object that is open. */
void emu_mesh_to_json(const struct emu_mesh *mesh, struct emu_json *json);

/* {"dp": 0, "tp": 1}; null for a rank outside the mesh. */
void emu_coordinate_to_json(const struct emu_mesh *mesh, uint32_t rank, struct emu_json *json);

/* "ranks": [{"rank", "pid", "coordinate"}, ...], "time": {...} into the object that is open; pids
 * are null where no process was started. */
void emu_job_to_json(const struct emu_job_result *job, const struct emu_mesh *mesh,
                     struct emu_json *json);

#endif
