#include "config/source.h"

#include <string.h>

/* What of a long line is shown: columns before and after the caret. */
#define SHOWN_BEFORE 60
#define SHOWN_AFTER 40

size_t emu_utf8_next(const char *bytes, size_t size, uint32_t *character)
{
    const unsigned char *b = (const unsigned char *)bytes;
    static const uint32_t least[5] = {0, 0, 0x80, 0x800, 0x10000};
    if (b[0] < 0x80) {
        *character = b[0];
        return 1;
    }
    size_t length = b[0] >= 0xf0 ? 4 : b[0] >= 0xe0 ? 3 : 2;
    if (b[0] < 0xc2 || b[0] > 0xf4 || length > size)
        return 0;
    uint32_t value = b[0] & (0x7fU >> length);
    for (size_t i = 1; i < length; i++) {
        if ((b[i] & 0xc0) != 0x80)
            return 0;
        value = value << 6 | (b[i] & 0x3fU);
    }
    if (value < least[length] || value > 0x10ffff || (value >= 0xd800 && value <= 0xdfff))
        return 0;
    *character = value;
    return length;
}

struct emu_place emu_source_place(const struct emu_source *source, size_t offset)
{
    struct emu_place place = {1, 1};
    size_t end = offset < source->size ? offset : source->size;
    for (size_t i = 0; i < end; i++) {
        if (source->text[i] == '\n') {
            place.line++;
            place.column = 1;
        } else if (((unsigned char)source->text[i] & 0xc0) != 0x80) {
            place.column++;
        }
    }
    return place;
}

/* Characters that would move the cursor, change colours or turn the text around. */
static bool unsafe(uint32_t c)
{
    return c < 0x20 || (c >= 0x7f && c < 0xa0) || (c >= 0x200b && c <= 0x200f) ||
           (c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069) || c == 0xfeff;
}

/* Append one character of the text, made safe; returns the bytes it took. */
static size_t add_character(struct emu_text *out, const char *bytes, size_t size)
{
    uint32_t character;
    size_t length = emu_utf8_next(bytes, size, &character);
    if (*bytes == '\t')
        emu_text_putc(out, ' ');
    else if (!length || unsafe(character))
        emu_text_putc(out, '?');
    else
        emu_text_add(out, bytes, length);
    return length ? length : 1;
}

void emu_source_add_clean(struct emu_text *out, const char *bytes, size_t size)
{
    for (size_t i = 0; i < size;)
        i += add_character(out, bytes + i, size - i);
}

void emu_source_add_place(const struct emu_source *source, size_t offset, struct emu_text *out)
{
    emu_source_add_clean(out, source->name, strlen(source->name));
    if (source->option)
        return;
    struct emu_place place = emu_source_place(source, offset);
    emu_text_printf(out, ":%u:%u", place.line, place.column);
}

static bool is_continuation(const struct emu_source *source, size_t at)
{
    return ((unsigned char)source->text[at] & 0xc0) == 0x80;
}

/* The start of the part of the line that is shown: at most SHOWN_BEFORE characters before. */
static size_t shown_from(const struct emu_source *source, size_t offset, bool *cut)
{
    size_t at = offset;
    size_t bytes = 0;
    while (at > 0 && source->text[at - 1] != '\n' && bytes < SHOWN_BEFORE) {
        at--;
        bytes++;
    }
    while (at < offset && is_continuation(source, at))
        at++;
    *cut = at > 0 && source->text[at - 1] != '\n';
    return at;
}

static size_t shown_to(const struct emu_source *source, size_t offset, bool *cut)
{
    size_t at = offset;
    while (at < source->size && source->text[at] != '\n' && at - offset < SHOWN_AFTER)
        at++;
    while (at < source->size && at > offset && is_continuation(source, at))
        at--;
    *cut = at < source->size && source->text[at] != '\n';
    if (!*cut && at > offset && source->text[at - 1] == '\r')
        at--;
    return at;
}

static size_t add_blanks(struct emu_text *out, const struct emu_source *source, size_t from,
                         size_t to)
{
    struct emu_text shown = {0};
    size_t width = 0;
    for (size_t i = from; i < to; width++)
        i += add_character(&shown, source->text + i, source->size - i);
    emu_text_finish(&shown);
    for (size_t i = 0; i < width; i++)
        emu_text_putc(out, ' ');
    return width;
}

void emu_source_add_line(const struct emu_source *source, size_t offset, size_t length,
                         struct emu_text *out)
{
    size_t at = offset < source->size ? offset : source->size;
    bool cut_before;
    bool cut_after;
    size_t from = shown_from(source, at, &cut_before);
    size_t to = shown_to(source, at, &cut_after);
    if (source->option || from == to)
        return;
    emu_text_printf(out, "%5u | %s", emu_source_place(source, at).line, cut_before ? "..." : "");
    emu_source_add_clean(out, source->text + from, to - from);
    emu_text_puts(out, cut_after ? "...\n" : "\n");
    emu_text_puts(out, cut_before ? "      |    " : "      | ");
    add_blanks(out, source, from, at);
    emu_text_putc(out, '^');
    for (size_t i = at + 1; i < to && i < at + length; i++) {
        if (!is_continuation(source, i))
            emu_text_putc(out, '~');
    }
    emu_text_putc(out, '\n');
}
