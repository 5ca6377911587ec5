/* How do rows of short texts line up under their headings?
 *
 * Cells are added row by row, the first row is the heading. A column in which every cell below the
 * heading is empty is left out; one that holds nothing but numbers is aligned to the right. Control
 * characters become '?', so that a cell never breaks its row or a terminal. Width counts UTF-8
 * characters. Memory that runs out sets `failed`; printing is then a no-op.
 */
#ifndef EMU_CHECK_TEXT_TABLE_H
#define EMU_CHECK_TEXT_TABLE_H

#include "base/text.h"

struct emu_text_table {
    size_t columns; /* > 0 */
    size_t count;   /* cells, row-major */
    size_t room;
    char **cells; /* owned */
    bool failed;
};

void emu_text_table_init(struct emu_text_table *table, size_t columns);
void emu_text_table_finish(struct emu_text_table *table);

/* The next cell, row-major. */
void emu_text_table_cell(struct emu_text_table *table, const char *format, ...) EMU_PRINTF(2, 3);

/* Complete rows, each behind `indent`, two blanks between columns, no blanks at the end. */
void emu_text_table_print(const struct emu_text_table *table, const char *indent,
                          struct emu_text *out);

/* Append with control characters (newlines too) replaced by '?'. */
void emu_text_visible(struct emu_text *out, const char *string);

#endif
