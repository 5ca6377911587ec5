/* What does each rank write down about itself after every step, for the checks to read?
 *
 * One record a rank, in the segment's record region, rewritten every step between two gates:
 * written by the rank alone, read by the auditor while the rank waits at the gate. Tensor rows lie
 * behind the header, in model order, one a tensor of the plan.
 */
#ifndef EMU_PLAN_RECORD_H
#define EMU_PLAN_RECORD_H

#include "base/arena.h"
#include "base/hash.h"
#include "mesh/roster.h"

#include <meshemu/mesh.h>

#include <stdbool.h>
#include <stdint.h>

struct emu_tensor_record {
    uint64_t weight, gradient,
        moment[2]; /* offsets into the rank's arena; moment: UINT64_MAX none */
    uint64_t first_row, rows, first_column, columns; /* the block that this rank really holds */
    /* Elements of the block (row-major) that gradient and moments hold here; all of them where the
     * optimizer is not sharded. weight is whole always: what the step uses. */
    struct emu_slice gradient_part, moment_part;
    struct emu_hash weight_hash, gradient_hash, moment_hash[2]; /* of the local elements */
    uint64_t ledger; /* offset into the arena: one coefficient a source, u64; UINT64_MAX: none */
    bool finite;     /* no NaN or infinity in weight and gradient */
};

/* What a reduction did that it need not have done, or could not do. */
struct emu_record_event {
    uint32_t tensor;
    uint32_t reduction; /* index in the recipe */
    uint32_t axis;      /* of the mesh */
    uint8_t kind;       /* enum emu_value_event */
    bool averaged;      /* a second average changes nothing */
};
#define EMU_RECORD_EVENTS 64

/* Why a rank could not go on as the recipe says. The first one stays. */
enum emu_trouble_kind {
    EMU_TROUBLE_NONE,
    EMU_TROUBLE_NO_TOKENS, /* a mean over no valid token: 0/0 */
    EMU_TROUBLE_DIVISION,  /* a factor divides by zero */
    EMU_TROUBLE_RANGE,     /* a factor does not fit in 64 bits */
    EMU_TROUBLE_SHARD /* a reduction over an axis that shards the parameter; nothing was moved */
};
enum emu_trouble_place {
    EMU_PLACE_LOSS,      /* loss: mean, or scale_loss */
    EMU_PLACE_REDUCTION, /* scale of a reduction, or the reduction itself */
    EMU_PLACE_GRAD       /* scale_grad */
};
struct emu_trouble {
    enum emu_trouble_kind kind;
    enum emu_trouble_place place;
    uint32_t source;    /* of the microbatch at hand */
    uint32_t tensor;    /* REDUCTION */
    uint32_t reduction; /* REDUCTION */
    uint32_t axis;      /* SHARD */
};

struct emu_step_record {
    uint64_t step;   /* 1, 2, ...; step 0: before the first, parameters just drawn */
    double loss_sum; /* over the valid tokens of this rank's dp coordinate, before the update */
    uint64_t tokens; /* valid tokens of this dp coordinate in this step */
    uint64_t step_tokens; /* what the reduction said: valid tokens of the whole step and mesh */
    double step_loss;     /* mean over all valid tokens of the mesh, as this rank computed it */
    double grad_norm;     /* global, before clipping, as this rank computed it */
    uint64_t first_sequence, sequences; /* what was read: global sequence numbers, contiguous */
    uint64_t text_sequences;            /* sequences in the file, for wrapping */
    struct emu_hash batch_hash;         /* of the bytes and masks of all microbatches, in order */
    uint64_t requested[EMU_CATEGORY_COUNT], rounded[EMU_CATEGORY_COUNT]; /* bytes of the arena */
    uint64_t family_bytes[EMU_ROSTER_MAX_FAMILIES]; /* sent in this step, at the stated cost */
    uint64_t message_bytes[EMU_MESH_MAX_AXES];
    struct emu_trouble trouble;
    uint32_t event_count; /* may exceed EMU_RECORD_EVENTS: the others are only counted */
    struct emu_record_event events[EMU_RECORD_EVENTS];
    bool inexact;            /* exact arithmetic: something was rounded before the last factor */
    char inexact_kernel[24]; /* where first */
    char inexact_where[64];
    uint64_t source_tokens; /* offset into the arena: valid tokens of each microbatch, u64 */
    uint64_t squares;       /* likewise: what the norm counted of each tensor, in the run's dtype */
    uint32_t tensor_count;
    struct emu_tensor_record tensors[];
};

static inline uint64_t emu_step_record_bytes(uint32_t tensor_count)
{
    return sizeof(struct emu_step_record) + tensor_count * sizeof(struct emu_tensor_record);
}

#endif
