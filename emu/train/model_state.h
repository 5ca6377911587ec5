/* How does one source run through the model of the config? One vtable for each kind of model.
 *
 * Several sources may be between their forward and their backward at once (pipeline): each has a
 * slot of buffers. Slots are used in turn; plan/schedule.h says how many there are.
 */
#ifndef EMU_TRAIN_MODEL_STATE_H
#define EMU_TRAIN_MODEL_STATE_H

#include "train/carve.h"
#include "train/trainer.h"

struct emu_model_ops {
    /* Heap parts, before carving. EMU_ENOMEM. */
    enum emu_status (*prepare)(struct emu_trainer *trainer);
    /* Take every buffer; while measuring all pointers become NULL. */
    void (*carve)(struct emu_trainer *trainer, struct emu_carver *carver);
    /* Point layers at the parameters, once all buffers lie where they stay. */
    void (*wire)(struct emu_trainer *trainer);
    /* Valid tokens of a source in the step after trainer->step. */
    uint64_t (*count)(const struct emu_trainer *trainer, uint32_t source);
    /* Read microbatch `micro` of this rank into its slot, mix its bytes into trainer->batch_hash,
     * run it forward. The status of the collectives and messages. */
    enum emu_status (*forward)(struct emu_trainer *trainer, uint32_t micro);
    /* Run it backward: adds the summed loss of its valid tokens to trainer->source_loss (last
     * stage) and its gradient to every parameter's `fresh`. */
    enum emu_status (*backward)(struct emu_trainer *trainer, uint32_t micro);
    /* Wait for messages that are still under way. */
    enum emu_status (*settle)(struct emu_trainer *trainer);
    void (*finish)(struct emu_trainer *trainer);
};

const struct emu_model_ops *emu_model_ops_of(enum emu_model_kind kind);

#endif
