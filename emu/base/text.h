/* How is a text of unknown length put together? A growable, always NUL-terminated string.
 *
 * Running out of memory sets `failed`, keeps what is there and makes every later append a no-op:
 * check once at the end. Zero-initialise; emu_text_finish accepts a zeroed and a failed text.
 */
#ifndef EMU_BASE_TEXT_H
#define EMU_BASE_TEXT_H

#include <meshemu/status.h>

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

struct emu_text {
    char *data; /* NULL or NUL-terminated; owned */
    size_t size;
    size_t room;
    bool failed;
};

void emu_text_add(struct emu_text *text, const char *bytes, size_t size);
void emu_text_puts(struct emu_text *text, const char *string);
void emu_text_putc(struct emu_text *text, char c);
void emu_text_printf(struct emu_text *text, const char *format, ...) EMU_PRINTF(2, 3);
void emu_text_vprintf(struct emu_text *text, const char *format, va_list arguments);

/* The text so far, "" where there is none; valid until the next append. */
const char *emu_text_get(const struct emu_text *text);

/* Hand the string over to the caller (free()); NULL where memory ran out. The text is empty after.
 */
char *emu_text_take(struct emu_text *text);

void emu_text_finish(struct emu_text *text);

/* printf into a fresh string for the caller to free(); NULL where memory ran out. */
char *emu_format(const char *format, ...) EMU_PRINTF(1, 2);

#endif
