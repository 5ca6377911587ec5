#include "check/text_table.h"

#include <stdlib.h>
#include <string.h>

#define COLUMNS_MAX 32

void emu_text_table_init(struct emu_text_table *table, size_t columns)
{
    *table = (struct emu_text_table){.columns = columns < COLUMNS_MAX ? columns : COLUMNS_MAX};
}

void emu_text_table_finish(struct emu_text_table *table)
{
    for (size_t i = 0; i < table->count; i++)
        free(table->cells[i]);
    free(table->cells);
    *table = (struct emu_text_table){0};
}

static bool is_control(char c)
{
    return (unsigned char)c < 0x20 || c == 0x7f;
}

void emu_text_visible(struct emu_text *out, const char *string)
{
    for (; *string; string++)
        emu_text_putc(out, is_control(*string) ? '?' : *string);
}

/* Take the cell over, NULL stands for memory that ran out. */
static void append(struct emu_text_table *table, char *cell)
{
    if (table->count == table->room) {
        size_t room = table->room * 2 + 4 * table->columns;
        char **cells = realloc(table->cells, room * sizeof *cells);
        if (cells) {
            table->cells = cells;
            table->room = room;
        }
    }
    if (!cell || table->failed || table->count == table->room) {
        table->failed = true;
        free(cell);
        return;
    }
    table->cells[table->count++] = cell;
}

void emu_text_table_cell(struct emu_text_table *table, const char *format, ...)
{
    struct emu_text raw = {0};
    va_list arguments;
    va_start(arguments, format);
    emu_text_vprintf(&raw, format, arguments);
    va_end(arguments);
    struct emu_text shown = {.failed = raw.failed};
    emu_text_visible(&shown, emu_text_get(&raw));
    emu_text_finish(&raw);
    append(table, emu_text_take(&shown));
}

/* Characters, not bytes: continuation bytes of UTF-8 take no room. */
static size_t width_of(const char *cell)
{
    size_t width = 0;
    for (; *cell; cell++)
        width += ((unsigned char)*cell & 0xc0) != 0x80;
    return width;
}

static bool is_number(const char *cell)
{
    const char *end = cell + strcspn(cell, " ");
    return *end == '\0' && (strspn(cell, "+-.") < strlen(cell)) &&
           strspn(cell, "+-.0123456789eE") == strlen(cell) && strpbrk(cell, "0123456789");
}

struct column {
    size_t width;
    bool shown; /* some cell below the heading holds text */
    bool right; /* all cells below the heading that hold text are numbers */
};

static void measure(const struct emu_text_table *table, struct column columns[COLUMNS_MAX])
{
    for (size_t i = 0; i < table->count; i++) {
        const char *cell = table->cells[i];
        struct column *column = &columns[i % table->columns];
        size_t width = width_of(cell);
        if (i < table->columns)
            *column = (struct column){.width = width, .right = true};
        if (width > column->width)
            column->width = width;
        if (i >= table->columns && width > 0) {
            column->shown = true;
            column->right = column->right && is_number(cell);
        }
    }
}

static void pad(struct emu_text *out, size_t count)
{
    while (count-- > 0)
        emu_text_putc(out, ' ');
}

static void print_row(char *const *cells, const struct emu_text_table *table,
                      const struct column columns[COLUMNS_MAX], struct emu_text *out)
{
    size_t due = 0; /* blanks that the next text needs before it */
    for (size_t i = 0; i < table->columns; i++) {
        if (!columns[i].shown)
            continue;
        size_t space = columns[i].width - width_of(cells[i]);
        if (*cells[i]) {
            pad(out, due + (columns[i].right ? space : 0));
            emu_text_puts(out, cells[i]);
            due = columns[i].right ? 0 : space;
        } else {
            due += space;
        }
        due += 2;
    }
    emu_text_putc(out, '\n');
}

void emu_text_table_print(const struct emu_text_table *table, const char *indent,
                          struct emu_text *out)
{
    if (table->failed || table->count == 0)
        return;
    struct column columns[COLUMNS_MAX];
    measure(table, columns);
    for (size_t at = 0; at + table->columns <= table->count; at += table->columns) {
        emu_text_puts(out, indent);
        print_row(table->cells + at, table, columns, out);
    }
}
