#include "base/text.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Make room for `more` bytes and the NUL. */
static bool reserve(struct emu_text *text, size_t more)
{
    if (text->failed)
        return false;
    if (more < text->room - text->size)
        return true;
    size_t room = text->room ? text->room : 64;
    while (room - text->size <= more) {
        if (room > SIZE_MAX / 2) {
            text->failed = true;
            return false;
        }
        room *= 2;
    }
    char *data = realloc(text->data, room);
    if (!data) {
        text->failed = true;
        return false;
    }
    text->data = data;
    text->room = room;
    return true;
}

void emu_text_add(struct emu_text *text, const char *bytes, size_t size)
{
    if (!reserve(text, size))
        return;
    if (size)
        memcpy(text->data + text->size, bytes, size);
    text->size += size;
    text->data[text->size] = '\0';
}

void emu_text_puts(struct emu_text *text, const char *string)
{
    emu_text_add(text, string, strlen(string));
}

void emu_text_putc(struct emu_text *text, char c)
{
    emu_text_add(text, &c, 1);
}

void emu_text_vprintf(struct emu_text *text, const char *format, va_list arguments)
{
    va_list again;
    va_copy(again, arguments);
    int size = vsnprintf(NULL, 0, format, again);
    va_end(again);
    if (size < 0) {
        text->failed = true;
        return;
    }
    if (!reserve(text, (size_t)size))
        return;
    vsnprintf(text->data + text->size, (size_t)size + 1, format, arguments);
    text->size += (size_t)size;
}

void emu_text_printf(struct emu_text *text, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    emu_text_vprintf(text, format, arguments);
    va_end(arguments);
}

const char *emu_text_get(const struct emu_text *text)
{
    return text->data ? text->data : "";
}

char *emu_text_take(struct emu_text *text)
{
    if (!text->data)
        emu_text_add(text, "", 0);
    char *data = text->failed ? NULL : text->data;
    if (text->failed)
        free(text->data);
    *text = (struct emu_text){0};
    return data;
}

void emu_text_finish(struct emu_text *text)
{
    free(text->data);
    *text = (struct emu_text){0};
}

char *emu_format(const char *format, ...)
{
    struct emu_text text = {0};
    va_list arguments;
    va_start(arguments, format);
    emu_text_vprintf(&text, format, arguments);
    va_end(arguments);
    return emu_text_take(&text);
}
