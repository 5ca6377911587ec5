/* What would the gradient be with these coefficients? The other side of the ledger's claim that
 * value = sum of coefficient * source sum. */
#ifndef EMU_TRAIN_WEIGH_H
#define EMU_TRAIN_WEIGH_H

#include "ledger/rational.h"
#include "train/trainer.h"

/* Run every source of the step after trainer->step from the present weights and leave, in each
 * parameter's gradient, the sum of weights[tensor * sources + source] times the source's gradient.
 * No reduction, no update. terms: bound on the roundings of any order and scaling of the mesh, at
 * least the number of sources. For a trainer on a mesh of one. */
EMU_MUST_CHECK enum emu_status
emu_trainer_weigh(struct emu_trainer *trainer, const struct emu_rational *weights, uint64_t terms);

#endif
