/* How do the fresh gradients of the microbatches become the gradient of the step? As the recipe
 * says, value and ledger side by side. Parts of emu_trainer_step. */
#ifndef EMU_TRAIN_COMBINE_H
#define EMU_TRAIN_COMBINE_H

#include "train/trainer.h"

/* Zero the gradients, the ledgers, the events and the trouble. */
void emu_combine_begin(struct emu_trainer *trainer);

/* Before the source runs: zero the fresh gradients, each knowing its own source. */
void emu_combine_open(struct emu_trainer *trainer, uint32_t micro);

/* After it ran: scale, reduce what is due in this microbatch, accumulate. */
EMU_MUST_CHECK enum emu_status emu_combine_close(struct emu_trainer *trainer, uint32_t micro);

/* After all: the reductions of the step. */
EMU_MUST_CHECK enum emu_status emu_combine_reduce(struct emu_trainer *trainer);

/* The last factor. */
void emu_combine_finish(struct emu_trainer *trainer);

/* May the step go on? false after a reduction that must not be made. */
bool emu_combine_goes_on(const struct emu_trainer *trainer);

#endif
