/* How does one microbatch run through the model? Parts of emu_trainer_step. */
#ifndef EMU_TRAIN_PASS_H
#define EMU_TRAIN_PASS_H

#include "train/trainer.h"

/* Fill the batch with the sequences of microbatch `micro` of the coming step; counts its valid
 * tokens into *tokens and mixes its bytes into *hash. */
void emu_pass_load(struct emu_trainer *trainer, uint32_t micro, uint64_t *tokens,
                   struct emu_hash *hash);

/* Forward, loss and backward of the loaded microbatch: adds to trainer->loss and all gradients. */
EMU_MUST_CHECK enum emu_status emu_pass_run(struct emu_trainer *trainer);

#endif
