/* What do this rank's parameters hold before the first step? */
#ifndef EMU_TRAIN_INITIAL_STATE_H
#define EMU_TRAIN_INITIAL_STATE_H

#include "train/trainer.h"

/* Draw the parameters, or wait for those that the first copy draws, as the plan says. The status of
 * the broadcasts. */
EMU_MUST_CHECK enum emu_status emu_trainer_initialise(struct emu_trainer *trainer);

#endif
