/* Does this step do otherwise than the plan says, here? See plan/step_hooks.h. */
#ifndef EMU_TRAIN_DEVIATE_H
#define EMU_TRAIN_DEVIATE_H

#include "train/trainer.h"

/* tensor, micro: 0 where the place has none. number: may be NULL. */
bool emu_deviates(const struct emu_trainer *trainer, enum emu_deviation kind, uint32_t tensor,
                  uint32_t micro, uint64_t *number);

/* The source whose examples this rank reads for its microbatch: its own. */
uint32_t emu_trainer_source(const struct emu_trainer *trainer, uint32_t micro);

#endif
