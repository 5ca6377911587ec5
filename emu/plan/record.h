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

#include <stdbool.h>
#include <stdint.h>

struct emu_tensor_record {
    uint64_t weight, gradient,
        moment[2]; /* offsets into the rank's arena; moment: UINT64_MAX none */
    uint64_t first_row, rows, first_column, columns; /* the block that this rank really holds */
    struct emu_hash weight_hash, gradient_hash, moment_hash[2]; /* of the local elements */
    bool finite; /* no NaN or infinity in weight and gradient */
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
    uint64_t compute_ns, wait_ns;                                        /* of this step */
    uint32_t tensor_count;
    struct emu_tensor_record tensors[];
};

static inline uint64_t emu_step_record_bytes(uint32_t tensor_count)
{
    return sizeof(struct emu_step_record) + tensor_count * sizeof(struct emu_tensor_record);
}

#endif
