/* What is the global norm of the gradient, each unique parameter once (or as recipe.norm says)?
 *
 * A sum of squares for each tensor, by the chunks of the optimizer's group, so that sharding
 * changes no bit; then over tensors; then over the ranks that hold other parts of the model.
 */
#ifndef EMU_TRAIN_NORM_H
#define EMU_TRAIN_NORM_H

#include "train/trainer.h"

/* Fills trainer->tensor_squares, squares, norm and the clip's factor. The status of the
 * collectives. */
EMU_MUST_CHECK enum emu_status emu_norm_measure(struct emu_trainer *trainer);

#endif
