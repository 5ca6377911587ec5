/* What does one rank do in a training step?
 *
 * A trainer holds one rank's share of the model: weights, gradients and optimizer state of its
 * blocks, and the buffers of a step, all carved from one piece of the rank's arena by one list.
 * A step draws the rank's sequences, runs forward and backward for each microbatch, reduces
 * gradients, loss and token count as the plan says, divides by the valid tokens of the whole step,
 * and updates. The same code runs on every mesh, and on the mesh of one that is the oracle.
 */
#ifndef EMU_TRAIN_TRAINER_H
#define EMU_TRAIN_TRAINER_H

#include "base/arena.h"
#include "base/bounded.h"
#include "nn/layer.h"
#include "plan/plan.h"
#include "plan/record.h"
#include "train/corpus.h"

#include <meshemu/comm.h>

/* One parameter as this rank holds it: blocks of rows x columns elements, row-major. */
struct emu_parameter {
    struct emu_block block;
    uint64_t elements; /* of the block, without padding */
    uint64_t room;     /* elements allocated */
    void *weight, *gradient, *moment[2];
};

/* Everything of one MLP block that is kept from forward to backward. */
struct emu_layer_state {
    struct emu_mlp mlp;
    struct emu_mlp_saved saved;
    void *input; /* (rows, width) */
    char label_up[EMU_NAME_MAX], label_down[EMU_NAME_MAX];
};

struct emu_batch {
    uint64_t rows;   /* tokens: sequences * positions */
    uint8_t *ids;    /* (rows, context) */
    uint8_t *target; /* (rows) */
    uint8_t *valid;  /* (rows) */
};

struct emu_trainer {
    const struct emu_plan *plan;     /* borrowed */
    const struct emu_corpus *corpus; /* borrowed */
    struct emu_rank *rank;           /* borrowed */
    struct emu_nn nn;
    uint32_t gradient_group; /* EMU_GROUP_SELF where nothing is partial */
    uint32_t dp_index, tp_index;
    unsigned char *base; /* of the block that everything was carved from */
    struct emu_arena arena;
    struct emu_parameter *parameters; /* one a tensor of the plan; heap, owned */
    struct emu_layer_state *layers;   /* heap, owned */
    struct emu_embedding embedding;
    struct emu_head head;
    struct emu_batch batch;
    void *stream, *dstream, *dinput; /* (rows, embed) twice, (rows, widest input) */
    void *logits, *token_loss, *scratch;
    void *loss, *squares, *norm, *factor; /* one element each */
    double local_loss;                    /* sum over this rank's valid tokens in the last step */
    uint64_t step;                        /* of the last step, 0 before the first */
    uint64_t tokens;                      /* valid, of this rank, in that step */
    uint64_t step_tokens;                 /* valid, of the whole step */
    struct emu_hash batch_hash;
};

/* Bytes of the arena that the rank at this tp coordinate needs. EMU_ERANGE. */
EMU_MUST_CHECK enum emu_status emu_trainer_bytes(const struct emu_plan *plan, uint32_t tp_index,
                                                 uint64_t *bytes);

/* Carve and draw the parameters; EMU_ENOMEM where the arena or the heap is too small. */
EMU_MUST_CHECK enum emu_status emu_trainer_create(const struct emu_plan *plan,
                                                  const struct emu_corpus *corpus,
                                                  struct emu_rank *rank,
                                                  struct emu_trainer **trainer);
void emu_trainer_destroy(struct emu_trainer *trainer);

/* Run step trainer->step + 1. The status of the collectives. */
EMU_MUST_CHECK enum emu_status emu_trainer_step(struct emu_trainer *trainer);

/* Results of the last step: mean loss over all valid tokens, and the norm before clipping. */
struct emu_bounded emu_trainer_loss(const struct emu_trainer *trainer);
struct emu_bounded emu_trainer_norm(const struct emu_trainer *trainer);

/* Write down the state after the last step (or, before the first, the parameters just drawn).
 * arena_base: start of the rank's arena, to which offsets refer. */
void emu_trainer_record(const struct emu_trainer *trainer, const unsigned char *arena_base,
                        struct emu_step_record *record);

#endif
