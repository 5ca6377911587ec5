/* Where in a text is that, and how is the place shown to a person?
 *
 * Offsets count bytes from 0; lines and columns count from 1, columns in characters (code points).
 * A line ends at '\n'. What is shown never holds control characters, direction overrides or broken
 * UTF-8: each becomes '?', so that a caret stays under its character and a terminal obeys nobody's
 * file.
 */
#ifndef EMU_CONFIG_SOURCE_H
#define EMU_CONFIG_SOURCE_H

#include "base/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define EMU_SOURCE_MAX_BYTES ((size_t)1024 * 1024)

struct emu_source {
    const char *name; /* of the file, or "--set a.b=c"; borrowed */
    const char *text; /* borrowed; not NUL-terminated */
    size_t size;
    uint32_t order; /* sources with a lower number are reported first */
    bool option;    /* from the command line: it has a name, but no lines to show */
};

struct emu_place {
    uint32_t line;
    uint32_t column;
};

/* Line and column of a byte offset (an offset past the end is the end). */
struct emu_place emu_source_place(const struct emu_source *source, size_t offset);

/* Append "NAME:LINE:COLUMN" or, for an option, the name. */
void emu_source_add_place(const struct emu_source *source, size_t offset, struct emu_text *out);

/* Append the line of the offset and, below it, a caret and tildes under `length` bytes. A long line
 * is cut around the caret. Nothing for an option or an empty line. */
void emu_source_add_line(const struct emu_source *source, size_t offset, size_t length,
                         struct emu_text *out);

/* Append text that somebody else wrote so that it can be printed on one line. */
void emu_source_add_clean(struct emu_text *out, const char *bytes, size_t size);

/* Length of the valid UTF-8 sequence at the start of size > 0 bytes, 0 where there is none.
 * *character is its code point. */
size_t emu_utf8_next(const char *bytes, size_t size, uint32_t *character);

#endif
