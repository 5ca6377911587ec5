#include "train/carve.h"

#include "base/checked.h"

#include <stddef.h>

void *emu_carve_bytes(struct emu_carver *carver, enum emu_category category, uint64_t bytes)
{
    uint64_t rounded;
    if (!emu_round_up_fits(bytes, EMU_ARENA_ALIGN, &rounded) ||
        !emu_add_fits(carver->bytes, rounded, &carver->bytes)) {
        carver->failed = true;
        return NULL;
    }
    if (!carver->arena)
        return NULL;
    void *block = emu_arena_alloc(carver->arena, category, bytes);
    carver->failed = carver->failed || !block;
    return block;
}

void *emu_carve(struct emu_carver *carver, enum emu_category category, uint64_t rows,
                uint64_t columns)
{
    uint64_t bytes;
    if (!emu_mul_fits(rows, columns, &bytes) || !emu_mul_fits(bytes, carver->element, &bytes)) {
        carver->failed = true;
        return NULL;
    }
    return emu_carve_bytes(carver, category, bytes);
}
