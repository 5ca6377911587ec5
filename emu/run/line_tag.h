/* How does the output of one rank become lines that say whose they are?
 *
 * "text\n" becomes "[2] text\n". Bytes are passed on as they are, NUL and invalid UTF-8 too. A line
 * longer than EMU_LINE_ROOM is passed on in pieces, each a tagged line of its own, so that a rank
 * that never writes a newline costs a bounded amount of memory and is still seen. What is left
 * without a newline at the end gets one.
 */
#ifndef EMU_RUN_LINE_TAG_H
#define EMU_RUN_LINE_TAG_H

#include "base/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define EMU_LINE_ROOM 4096

struct emu_line_tag {
    char tag[40];
    size_t used;
    char line[EMU_LINE_ROOM]; /* the line so far, without its newline */
};

void emu_line_tag_init(struct emu_line_tag *tag, uint32_t rank, bool colour);

/* Append to out whatever is complete now. */
void emu_line_tag_feed(struct emu_line_tag *tag, const char *bytes, size_t size,
                       struct emu_text *out);

/* Append the unfinished line, if any. */
void emu_line_tag_end(struct emu_line_tag *tag, struct emu_text *out);

#endif
