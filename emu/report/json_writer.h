/* How does a report of any length become JSON without being held in memory?
 *
 * A writer puts values one after the other into a text or a stream; it sets commas, line breaks and
 * indentation. What is nested deeper than `line_depth` stays on one line. Nothing is checked but
 * nesting (asserted): keys must be unique, a key is followed by one value.
 *
 * Errors are remembered: after the first failed write nothing more is written and
 * emu_json_finish says false. Loops over many values look at `failed` to stop early.
 * Strings that are no UTF-8 are repaired (U+FFFD); numbers that are not finite become null.
 */
#ifndef EMU_REPORT_JSON_WRITER_H
#define EMU_REPORT_JSON_WRITER_H

#include "base/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define EMU_JSON_MAX_DEPTH 64
#define EMU_JSON_SCHEMA 1

struct emu_json {
    struct emu_text *text; /* borrowed; NULL where `file` is written */
    FILE *file;            /* borrowed; NULL likewise */
    uint32_t line_depth;   /* values down to this depth get lines of their own; 2 at first */
    uint32_t depth;        /* open objects and arrays */
    uint64_t filled;       /* bit d: the one at depth d has a value already */
    bool after_key;
    bool failed;
};

void emu_json_init_text(struct emu_json *json, struct emu_text *text);
void emu_json_init_file(struct emu_json *json, FILE *file);

/* Open the object of a report: "meshemu", "schema" and "command" come first. */
void emu_json_report_begin(struct emu_json *json, const char *command);

void emu_json_object_begin(struct emu_json *json);
void emu_json_object_end(struct emu_json *json);
void emu_json_array_begin(struct emu_json *json);
void emu_json_array_end(struct emu_json *json);
void emu_json_key(struct emu_json *json, const char *key);

/* NULL is written as null. */
void emu_json_string(struct emu_json *json, const char *value);
void emu_json_u64(struct emu_json *json, uint64_t value);
void emu_json_i64(struct emu_json *json, int64_t value);
void emu_json_f64(struct emu_json *json, double value);
void emu_json_bool(struct emu_json *json, bool value);
void emu_json_null(struct emu_json *json);

/* One complete value that is JSON already. */
void emu_json_raw(struct emu_json *json, const char *value);

/* A key and its value. */
void emu_json_put_string(struct emu_json *json, const char *key, const char *value);
void emu_json_put_u64(struct emu_json *json, const char *key, uint64_t value);
void emu_json_put_budget(struct emu_json *json, const char *key, uint64_t ns); /* 0, none: null */
void emu_json_put_i64(struct emu_json *json, const char *key, int64_t value);
void emu_json_put_f64(struct emu_json *json, const char *key, double value);
void emu_json_put_bool(struct emu_json *json, const char *key, bool value);

/* End the document with a line break. True: all was written (a stream is not flushed). */
EMU_MUST_CHECK bool emu_json_finish(struct emu_json *json);

#endif
