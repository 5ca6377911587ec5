/* What did every rank call last? The flight recorders as JSON (--record).
 *
 *   { "meshemu", "schema", "command", "mesh": {"axes", "world"},
 *     "ranks": [{"rank", "coordinate", "exit_code" or "signal", "calls_begun",
 *                "calls": [{the call as in findings, "bytes", "state", "started_ns", "ended_ns"}]}]
 * }
 *
 * Calls are the last 256 of a rank, newest last. Times count from the start of the run. state is
 * "open" (begun and not ended), "done", or the status a call was answered with; ended_ns is null
 * where it is open. bytes: count times the size of an element.
 */
#ifndef EMU_REPORT_RECORD_JSON_H
#define EMU_REPORT_RECORD_JSON_H

#include "check/outcome.h"
#include "report/json_output.h"

#include <meshemu/mesh.h>

/* The whole document. result->records must be there. */
void emu_record_to_json(const struct emu_job_result *result, const struct emu_mesh *mesh,
                        const char *command, struct emu_json *json);

/* The same into an output, which is finished; nothing where it was not opened. EMU_ESYSTEM: *error
 * says why. */
EMU_MUST_CHECK enum emu_status emu_record_write(const struct emu_job_result *result,
                                                const struct emu_mesh *mesh, const char *command,
                                                struct emu_json_output *output,
                                                struct emu_text *error);

#endif
