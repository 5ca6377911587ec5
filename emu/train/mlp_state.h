/* Which buffers does a stage of the byte-level language model need? */
#ifndef EMU_TRAIN_MLP_STATE_H
#define EMU_TRAIN_MLP_STATE_H

#include "train/halo.h"
#include "train/model_state.h"

struct emu_mlp_layer {
    struct emu_mlp mlp;
    char label_up[EMU_TENSOR_NAME_MAX], label_down[EMU_TENSOR_NAME_MAX];
    char label_up_gather[EMU_TENSOR_NAME_MAX], label_down_gather[EMU_TENSOR_NAME_MAX];
};

/* What one microbatch keeps from its forward to its backward. held: rows of the stream that this
 * rank holds, all of them without sequence parallelism (nn/row_slices.h). */
struct emu_mlp_slot {
    uint64_t sequences;
    uint64_t rows;                 /* sequences * own positions */
    uint8_t *ids, *target, *valid; /* (rows, context), (rows), (rows) */
    void **input;                  /* one a layer of the stage: (held, width); heap array */
    struct emu_mlp_saved *saved;   /* one a layer; heap array */
    void *stream;                  /* (held, embed): what the last layer of the stage gives */
    void *dstream;        /* (held, embed): its gradient, at last that of the stage's input */
    struct emu_halo halo; /* first stage, cp > 1 */
    struct emu_request *sent[2]; /* forward and backward messages under way, or NULL */
};

struct emu_model_state {
    struct emu_slice own;         /* layers of this stage */
    bool first, last;             /* of the pipeline */
    uint32_t previous, following; /* ranks of the neighbour stages */
    struct emu_mlp_layer *layers; /* own.count; heap */
    struct emu_mlp_slot *slots;   /* heap */
    uint32_t slot_count;
    struct emu_embedding embedding;
    struct emu_head head;
    void *dinput; /* (held, widest input) */
    void *logits, *token_loss, *scratch;
};

/* The parts of emu_model_ops that deal with buffers. */
enum emu_status emu_mlp_prepare(struct emu_trainer *trainer);
void emu_mlp_carve(struct emu_trainer *trainer, struct emu_carver *carver);
void emu_mlp_wire(struct emu_trainer *trainer);
void emu_mlp_finish(struct emu_trainer *trainer);

static inline struct emu_mlp_slot *emu_mlp_slot_of(const struct emu_trainer *trainer,
                                                   uint32_t micro)
{
    return &trainer->model->slots[micro % trainer->model->slot_count];
}

#endif
