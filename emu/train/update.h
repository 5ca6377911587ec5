/* How do the gradients of a step change the weights? Clipping, the optimizer, and, where its state
 * is divided, the exchange of the updated chunks. Part of emu_trainer_step. */
#ifndef EMU_TRAIN_UPDATE_H
#define EMU_TRAIN_UPDATE_H

#include "train/trainer.h"

/* Every rank updates the chunk of each parameter that it owns (all of it where nothing is divided),
 * then the shard group gathers the weights. The status of the collectives. */
EMU_MUST_CHECK enum emu_status emu_trainer_update(struct emu_trainer *trainer);

#endif
