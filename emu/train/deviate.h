/* Does this step do otherwise than the plan says, here? See plan/step_hooks.h. */
#ifndef EMU_TRAIN_DEVIATE_H
#define EMU_TRAIN_DEVIATE_H

#include "plan/schedule.h"
#include "train/trainer.h"

/* tensor, micro: 0 where the place has none. number: may be NULL. */
bool emu_deviates(const struct emu_trainer *trainer, enum emu_deviation kind, uint32_t tensor,
                  uint32_t micro, uint64_t *number);

/* The axes and the family over which reduction `index` of the recipe acts on a tensor. */
const struct emu_axes *emu_trainer_axes(const struct emu_trainer *trainer, uint32_t tensor,
                                        uint32_t index, uint32_t *family);

/* Is that reduction left out, or made twice? */
bool emu_trainer_leaves_out(const struct emu_trainer *trainer, uint32_t tensor, uint32_t index,
                            uint32_t micro);
bool emu_trainer_repeats(const struct emu_trainer *trainer, uint32_t tensor, uint32_t index,
                         uint32_t micro);

/* What the rank does next: emu_schedule_action. */
struct emu_action emu_trainer_action(const struct emu_trainer *trainer, uint32_t i);

/* The place of a microbatch in that order: what messages about it are tagged with. */
uint32_t emu_trainer_turn(const struct emu_trainer *trainer, uint32_t micro);

/* Does `rank` (this one or who gives to it) take its halo from another neighbour? */
bool emu_trainer_halo_strays(const struct emu_trainer *trainer, uint32_t rank);

/* The source whose examples this rank reads for its microbatch: its own. */
uint32_t emu_trainer_source(const struct emu_trainer *trainer, uint32_t micro);

#endif
