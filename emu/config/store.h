/* Who owns the many small pieces of one config? One store: everything is allocated in it and freed
 * at once with it.
 *
 * Running out of memory sets `failed` and yields NULL; check the flag once at the end of a piece of
 * work. Blocks are zeroed and aligned for any type.
 */
#ifndef EMU_CONFIG_STORE_H
#define EMU_CONFIG_STORE_H

#include <stdbool.h>
#include <stddef.h>

struct emu_store_block;

struct emu_store {
    struct emu_store_block *blocks; /* newest first; owned */
    bool failed;
};

/* Zero-initialise the store before the first call. `count` elements of `size` bytes. */
void *emu_store_alloc(struct emu_store *store, size_t count, size_t size);

/* A NUL-terminated copy of `size` bytes. */
char *emu_store_copy(struct emu_store *store, const char *bytes, size_t size);

/* Frees all blocks. Accepts a zeroed store. */
void emu_store_finish(struct emu_store *store);

#endif
