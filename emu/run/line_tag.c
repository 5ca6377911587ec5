#include "run/line_tag.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

void emu_line_tag_init(struct emu_line_tag *tag, uint32_t rank, bool colour)
{
    tag->used = 0;
    if (colour) /* red to cyan, by rank */
        snprintf(tag->tag, sizeof tag->tag, "\033[3%" PRIu32 "m[%" PRIu32 "]\033[0m ", 1 + rank % 6,
                 rank);
    else
        snprintf(tag->tag, sizeof tag->tag, "[%" PRIu32 "] ", rank);
}

static void flush_line(struct emu_line_tag *tag, struct emu_text *out)
{
    emu_text_puts(out, tag->tag);
    emu_text_add(out, tag->line, tag->used);
    emu_text_putc(out, '\n');
    tag->used = 0;
}

void emu_line_tag_feed(struct emu_line_tag *tag, const char *bytes, size_t size,
                       struct emu_text *out)
{
    while (size > 0) {
        const char *newline = memchr(bytes, '\n', size);
        size_t line = newline ? (size_t)(newline - bytes) : size;
        size_t room = sizeof tag->line - tag->used;
        size_t take = line < room ? line : room;
        memcpy(tag->line + tag->used, bytes, take);
        tag->used += take;
        bytes += take;
        size -= take;
        if (newline && take == line) {
            flush_line(tag, out);
            bytes++;
            size--;
        } else if (tag->used == sizeof tag->line && size > 0) {
            flush_line(tag, out);
        }
    }
}

void emu_line_tag_end(struct emu_line_tag *tag, struct emu_text *out)
{
    if (tag->used > 0)
        flush_line(tag, out);
}
