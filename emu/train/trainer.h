/* What does one rank do in a training step?
 *
 * A trainer holds one rank's share of the model: weights, gradients and optimizer state of its
 * blocks, and the buffers of a step, all carved from one piece of the rank's arena by one list.
 * A step runs forward and backward for each of the rank's sources (microbatches) into a fresh
 * gradient, combines the fresh gradients as the recipe says, and updates. The same code runs on
 * every mesh, and on the mesh of one that is the oracle.
 */
#ifndef EMU_TRAIN_TRAINER_H
#define EMU_TRAIN_TRAINER_H

#include "base/arena.h"
#include "base/bounded.h"
#include "comm/rank.h"
#include "ledger/value.h"
#include "nn/kernel_exact.h"
#include "nn/layer.h"
#include "plan/plan.h"
#include "plan/record.h"
#include "plan/step_hooks.h"
#include "train/corpus.h"

#include <meshemu/comm.h>

struct emu_model_state;

/* One parameter as this rank holds it: blocks of rows x columns elements, row-major. */
struct emu_parameter {
    bool held; /* false: on another stage, and then nothing is allocated here */
    struct emu_block block;
    uint64_t elements; /* of the block, without padding */
    uint64_t room;     /* elements allocated */
    void *weight;
    void *gradient; /* accumulated; after a step: what the recipe made of it */
    void *fresh;    /* of the microbatch at hand; the gradient itself where there is only one */
    void *moment[2];
    /* Optimizer sharding: this rank's chunk of the block, [0, elements) where nothing is divided.
     */
    struct emu_slice chunk;
    void *weight_chunk;   /* zero3: what this rank owns of the weights; NULL: part of weight */
    void *gradient_chunk; /* zero2, zero3: what it keeps of the gradient; NULL: part of gradient */
    bool scattered;       /* the gradient of this step lives in gradient_chunk */
    struct emu_value value;       /* the ledger of `gradient` */
    struct emu_value fresh_value; /* of `fresh`; shares the coefficients where fresh is gradient */
};

struct emu_trainer {
    const struct emu_plan *plan;        /* borrowed */
    const struct emu_corpus *corpus;    /* borrowed; NULL with inline tokens */
    struct emu_rank *rank;              /* borrowed */
    const struct emu_step_hooks *hooks; /* borrowed; NULL: the step does what the plan says */
    struct emu_nn nn;
    uint32_t token_group;   /* ranks that see other tokens; EMU_GROUP_SELF where there are none */
    uint32_t source_offset; /* source of this rank's microbatch 0 */
    uint32_t loss_group;    /* token group and all stages */
    uint32_t shard_group;   /* who divide the optimizer's state; EMU_GROUP_SELF */
    uint32_t dp_index, cp_index, tp_index, stage, shard_index;
    struct emu_axes all_axes; /* of the mesh */
    unsigned char *base;      /* of the block that everything was carved from */
    struct emu_arena arena;
    struct emu_parameter *parameters; /* one a tensor of the plan; heap, owned */
    bool ledger;                      /* coefficients are kept */
    uint64_t *source_tokens;          /* valid tokens of each of this rank's microbatches */
    struct emu_rounding rounding;     /* of the last step, in exact arithmetic */
    struct emu_trouble trouble;
    uint32_t event_count;
    struct emu_record_event events[EMU_RECORD_EVENTS];
    struct emu_model_state *model; /* buffers of forward and backward; heap, owned */
    void *tensor_squares;          /* one a tensor */
    void *loss, *source_loss, *squares, *norm, *factor; /* one element each */
    double local_loss;    /* sum over this rank's valid tokens in the last step */
    uint64_t step;        /* of the last step, 0 before the first */
    uint64_t rank_step;   /* of the step at hand */
    uint32_t dp_read;     /* dp coordinate whose examples were read in it */
    uint64_t tokens;      /* valid, of this rank, in that step */
    uint64_t step_tokens; /* valid, of the whole step */
    /* Valid tokens of this cp slice on all dp ranks, where a step divides by them; UINT64_MAX. */
    uint64_t slice_tokens;
    struct emu_hash batch_hash;
    struct emu_traffic before; /* what had been sent when the last step began */
};

/* What a rank's share of the model and of a sequence depends on. */
struct emu_share {
    uint32_t tp_index, cp_index, stage, shard_index;
};

/* Bytes of the arena that the ranks with this share need. EMU_ERANGE. */
EMU_MUST_CHECK enum emu_status emu_trainer_bytes(const struct emu_plan *plan,
                                                 struct emu_share share, uint64_t *bytes);

/* Carve and draw the parameters; EMU_ENOMEM where the arena or the heap is too small. The status of
 * the broadcasts, where the plan has them (plan/initial.h). */
EMU_MUST_CHECK enum emu_status emu_trainer_create(const struct emu_plan *plan,
                                                  const struct emu_corpus *corpus,
                                                  struct emu_rank *rank,
                                                  struct emu_trainer **trainer);
/* Likewise, doing otherwise where the hooks say so; they are borrowed. */
EMU_MUST_CHECK enum emu_status emu_trainer_create_hooked(const struct emu_plan *plan,
                                                         const struct emu_corpus *corpus,
                                                         struct emu_rank *rank,
                                                         const struct emu_step_hooks *hooks,
                                                         struct emu_trainer **trainer);
void emu_trainer_destroy(struct emu_trainer *trainer);

/* The rank `by` stages further on, all else equal; this rank where there is none. */
uint32_t emu_trainer_neighbour(const struct emu_trainer *trainer, int by);

/* Run step trainer->step + 1 as the recipe says. The status of the collectives. A factor that
 * cannot be computed makes NaN where it stands; a reduction that must not be made ends the step
 * there, on all ranks alike, before a byte moves. trainer->trouble says so. */
EMU_MUST_CHECK enum emu_status emu_trainer_step(struct emu_trainer *trainer);

/* Results of the last step: mean loss over all valid tokens, and the norm before clipping. */
struct emu_bounded emu_trainer_loss(const struct emu_trainer *trainer);
struct emu_bounded emu_trainer_norm(const struct emu_trainer *trainer);

/* Write down the state after the last step (or, before the first, the parameters just drawn).
 * arena_base: start of the rank's arena, to which offsets refer. */
void emu_trainer_record(const struct emu_trainer *trainer, const unsigned char *arena_base,
                        struct emu_step_record *record);

#endif
