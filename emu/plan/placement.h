/* Where does a value live on the mesh? For each axis: a copy on every rank (replicate), a part on
 * every rank (shard along one of its dimensions by the chunk rule), or a pending sum (partial). */
#ifndef EMU_PLAN_PLACEMENT_H
#define EMU_PLAN_PLACEMENT_H

#include <meshemu/mesh.h>

#include <stdint.h>

enum emu_placement_kind { EMU_REPLICATE, EMU_SHARD, EMU_PARTIAL };

struct emu_placement {
    enum emu_placement_kind kind;
    uint8_t dimension; /* of a shard: 0 rows, 1 columns */
};

#endif
