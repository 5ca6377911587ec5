/* Where does --json go, and is a reader ever shown half a report?
 *
 * "-" is standard output. A file appears whole or not at all: it is written beside its place and
 * renamed. What exists and is no regular file (a pipe, /dev/null) is written directly.
 * Until it is whole the file has no name, so that nothing is left whatever ends the program. Where
 * a file system has no such files it has a name, and a signal that ends the program (INT, TERM,
 * HUP, where they had their default) removes it; that holds for one file at a time. Messages are
 * one line without the line break, for the caller to print.
 */
#ifndef EMU_REPORT_JSON_OUTPUT_H
#define EMU_REPORT_JSON_OUTPUT_H

#include "base/text.h"
#include "report/json_writer.h"

#include <meshemu/status.h>

#include <stdio.h>

struct emu_json_output {
    FILE *stream;    /* write here; owned unless it is stdout */
    char *path;      /* the file's final name; NULL: the stream is written directly. Owned */
    char *temporary; /* its name until then; NULL: it has none. Owned */
};

/* EMU_ESYSTEM with the reason in *error where it cannot be opened. EMU_ENOMEM. */
EMU_MUST_CHECK enum emu_status emu_json_output_open(struct emu_json_output *output,
                                                    const char *path, struct emu_text *error);

/* Close and put the file in its place. EMU_ESYSTEM where a write failed: nothing is left then.
 * Either way the output is finished. */
EMU_MUST_CHECK enum emu_status emu_json_output_commit(struct emu_json_output *output,
                                                      struct emu_text *error);

/* The same after the last value of a document. */
EMU_MUST_CHECK enum emu_status emu_json_output_end(struct emu_json_output *output,
                                                   struct emu_json *json, struct emu_text *error);

/* Close and leave nothing behind. Accepts a zeroed output. */
void emu_json_output_discard(struct emu_json_output *output);

#endif
