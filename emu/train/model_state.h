/* How does one source run through the model of the config? One vtable for each kind of model. */
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
    /* Read the source's tokens into the batch buffers and mix them into *hash. */
    void (*load)(struct emu_trainer *trainer, uint32_t source, struct emu_hash *hash);
    /* Forward and backward of what was loaded: adds the summed loss of its valid tokens to
     * trainer->loss and its gradient to every parameter's `fresh`. The status of the collectives.
     */
    enum emu_status (*run)(struct emu_trainer *trainer);
    void (*finish)(struct emu_trainer *trainer);
};

const struct emu_model_ops *emu_model_ops_of(enum emu_model_kind kind);

#endif
