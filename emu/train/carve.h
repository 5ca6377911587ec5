/* Which buffers does a trainer need, and in which order do they lie in the arena? The one list. */
#ifndef EMU_TRAIN_CARVE_H
#define EMU_TRAIN_CARVE_H

#include "train/trainer.h"

/* Where the next buffer comes from: with a trainer's arena, or, measuring, from nowhere. */
struct emu_carver {
    struct emu_arena *arena; /* NULL: only count */
    uint64_t bytes;          /* counted so far, each buffer rounded up */
    bool failed;             /* the arena was used up or a size did not fit */
};

/* Take every buffer of the trainer, whose plan, kernels, tp index, parameters and layers are set.
 * While measuring all pointers become NULL. */
void emu_trainer_carve(struct emu_trainer *trainer, struct emu_carver *carver);

/* Point the layers, embedding and head at the parameters. */
void emu_trainer_wire(struct emu_trainer *trainer);

#endif
