#include "mesh/notation.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* At most this many bytes of the user's text are shown in a message. */
#define SHOWN_MAX 40

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

struct emu_item emu_item_trim(const char *start, size_t size)
{
    while (size > 0 && is_blank(*start)) {
        start++;
        size--;
    }
    while (size > 0 && is_blank(start[size - 1]))
        size--;
    return (struct emu_item){start, size};
}

struct emu_item emu_item_next(const char **at)
{
    const char *start = *at;
    size_t size = strcspn(start, ",");
    *at = start[size] ? start + size + 1 : NULL;
    return emu_item_trim(start, size);
}

bool emu_item_equals(struct emu_item item, const char *word)
{
    return item.size == strlen(word) && memcmp(item.start, word, item.size) == 0;
}

int emu_item_shown(struct emu_item item)
{
    return item.size > SHOWN_MAX ? SHOWN_MAX : (int)item.size;
}

void emu_mesh_complain(struct emu_mesh_error *error, uint64_t column, const char *format, ...)
{
    if (!error)
        return;
    error->column = column > UINT32_MAX ? UINT32_MAX : (uint32_t)column;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error->message, sizeof error->message, format, arguments);
    va_end(arguments);
    for (char *c = error->message; *c; c++)
        if ((unsigned char)*c < ' ' || *c == 0x7f)
            *c = '?';
}
