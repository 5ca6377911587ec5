/* Where do the bytes of a rank's tensors come from, and how many does each category really hold?
 *
 * A bump allocator on memory of the caller's. Every block is 64-byte aligned. Requested and rounded
 * bytes are counted apart for each category; nothing is freed alone.
 */
#ifndef EMU_BASE_ARENA_H
#define EMU_BASE_ARENA_H

#include <stdint.h>

#define EMU_ARENA_ALIGN 64

#define EMU_CATEGORY_LIST(X)                                                                       \
    X(EMU_WEIGHT, "weight")                                                                        \
    X(EMU_GRADIENT, "gradient")                                                                    \
    X(EMU_MASTER, "master")                                                                        \
    X(EMU_MOMENTS, "moments")                                                                      \
    X(EMU_ACTIVATIONS, "activations")                                                              \
    X(EMU_BUFFERS, "buffers")

enum emu_category {
#define EMU_CATEGORY_ENUMERATOR(name, text) name,
    EMU_CATEGORY_LIST(EMU_CATEGORY_ENUMERATOR)
#undef EMU_CATEGORY_ENUMERATOR
        EMU_CATEGORY_COUNT
};

struct emu_arena {
    unsigned char *base; /* borrowed, 64-byte aligned */
    uint64_t room;
    uint64_t used;
    uint64_t requested[EMU_CATEGORY_COUNT]; /* bytes asked for */
    uint64_t rounded[EMU_CATEGORY_COUNT];   /* bytes taken */
};

void emu_arena_init(struct emu_arena *arena, void *memory, uint64_t bytes);

/* NULL where the room is used up. The bytes are as the memory was (zero in a fresh segment). */
void *emu_arena_alloc(struct emu_arena *arena, enum emu_category category, uint64_t bytes);

const char *emu_category_name(enum emu_category category);

#endif
