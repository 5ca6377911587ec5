#include "config/store.h"

#include <stdalign.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK_BYTES ((size_t)16 * 1024)

struct emu_store_block {
    struct emu_store_block *older;
    size_t used;
    size_t room;
    alignas(max_align_t) unsigned char bytes[];
};

static struct emu_store_block *grow(struct emu_store *store, size_t bytes)
{
    size_t room = bytes > BLOCK_BYTES ? bytes : BLOCK_BYTES;
    struct emu_store_block *block = NULL;
    if (room <= SIZE_MAX - sizeof *block)
        block = calloc(1, sizeof *block + room);
    if (!block) {
        store->failed = true;
        return NULL;
    }
    block->room = room;
    block->older = store->blocks;
    store->blocks = block;
    return block;
}

void *emu_store_alloc(struct emu_store *store, size_t count, size_t size)
{
    size_t bytes;
    const size_t align = alignof(max_align_t);
    if (__builtin_mul_overflow(count, size, &bytes) ||
        __builtin_add_overflow(bytes, align - 1, &bytes)) {
        store->failed = true;
        return NULL;
    }
    bytes &= ~(align - 1);
    struct emu_store_block *block = store->blocks;
    if (!block || block->room - block->used < bytes)
        block = grow(store, bytes);
    if (!block)
        return NULL;
    void *place = block->bytes + block->used;
    block->used += bytes;
    return place;
}

char *emu_store_copy(struct emu_store *store, const char *bytes, size_t size)
{
    char *copy = emu_store_alloc(store, size + 1, 1);
    if (copy && size)
        memcpy(copy, bytes, size);
    return copy;
}

void emu_store_finish(struct emu_store *store)
{
    while (store->blocks) {
        struct emu_store_block *older = store->blocks->older;
        free(store->blocks);
        store->blocks = older;
    }
    store->failed = false;
}
