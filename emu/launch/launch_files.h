/* Which files does a program of one's own leave, by its environment?
 *
 * MESHEMU_JSON=FILE    the report with its findings, as `meshemu run --json`
 * MESHEMU_RECORD=FILE  the last calls of every rank, as `meshemu run --record`
 * "-" is standard output; unset or empty: none. Both are opened before anything starts, so
 * that a place that cannot be written is refused at once; what a file held before stays until then.
 */
#ifndef EMU_LAUNCH_LAUNCH_FILES_H
#define EMU_LAUNCH_LAUNCH_FILES_H

#include "report/json_output.h"
#include "report/launch_json.h"

struct emu_launch_files {
    struct emu_json_output json;   /* stream NULL: not asked for */
    struct emu_json_output record; /* likewise */
    bool on_stdout;                /* ranks' lines go to standard error */
};

/* EMU_ESYSTEM, EMU_ENOMEM: a message is on stderr, nothing is left. */
EMU_MUST_CHECK enum emu_status emu_launch_files_open(struct emu_launch_files *files);

/* Write what was asked for; the files are finished. Errors as above. */
EMU_MUST_CHECK enum emu_status emu_launch_files_write(struct emu_launch_files *files,
                                                      const struct emu_launch_report *report);

/* Leave nothing behind. Accepts a zeroed one. */
void emu_launch_files_discard(struct emu_launch_files *files);

#endif
