/* What do mesh texts and axis lists have in common? Items between commas, and messages that name
 * the place. Shared by the files of this folder. */
#ifndef EMU_MESH_NOTATION_H
#define EMU_MESH_NOTATION_H

#include <meshemu/mesh.h>

/* One item of a list: blanks around it are cut off. */
struct emu_item {
    const char *start;
    size_t size;
};

struct emu_item emu_item_trim(const char *start, size_t size);

bool emu_item_equals(struct emu_item item, const char *word);

/* Bytes of the item to show with "%.*s". */
int emu_item_shown(struct emu_item item);

/* The item that begins at *at; *at moves behind its comma, or to NULL after the last item. */
struct emu_item emu_item_next(const char **at);

/* Write the message, unprintable bytes replaced by '?', unless error is NULL. */
void emu_mesh_complain(struct emu_mesh_error *error, uint64_t column, const char *format, ...)
    EMU_PRINTF(3, 4);

#endif
