/* Where does the next buffer of a trainer come from? From one arena, in the order of one list; or,
 * while measuring, from nowhere, and then only bytes are counted. */
#ifndef EMU_TRAIN_CARVE_H
#define EMU_TRAIN_CARVE_H

#include "base/arena.h"

#include <stdbool.h>
#include <stdint.h>

struct emu_carver {
    struct emu_arena *arena; /* NULL: only count */
    uint64_t element;        /* bytes of one element */
    uint64_t bytes;          /* counted so far, each buffer rounded up */
    bool failed;             /* the arena was used up or a size did not fit */
};

/* rows * columns elements; NULL while measuring and where it failed. */
void *emu_carve(struct emu_carver *carver, enum emu_category category, uint64_t rows,
                uint64_t columns);

/* Plain bytes. */
void *emu_carve_bytes(struct emu_carver *carver, enum emu_category category, uint64_t bytes);

#endif
