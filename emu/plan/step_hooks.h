/* Where may a training step do otherwise than its plan says?
 *
 * The step asks at each of these places; without hooks the answer is always no. What it then does
 * is an honest mistake: values and coefficients go through the same calls as ever, so that every
 * check sees what it would see in a program with that mistake, and nothing of who caused it.
 * A question may be asked more than once; the same place gets the same answer.
 */
#ifndef EMU_PLAN_STEP_HOOKS_H
#define EMU_PLAN_STEP_HOOKS_H

#include <stdbool.h>
#include <stdint.h>

enum emu_deviation {
    /* One reduction of one gradient; all ranks of the group are asked and answer alike. */
    EMU_DEVIATE_SKIP_REDUCE,
    EMU_DEVIATE_DOUBLE_REDUCE,
    EMU_DEVIATE_REDUCE_WORLD,
    EMU_DEVIATE_REDUCE_PARAMETER,
    EMU_DEVIATE_REDUCE_PART, /* *number: the family over which it is reduced instead */
    EMU_DEVIATE_SKIP_TIED,   /* asked where the ends of a tied table are summed */
    EMU_DEVIATE_DOUBLE_TIED, /* likewise */
    EMU_DEVIATE_SKIP_SLICED, /* asked where gradients of slices of rows are summed over tp */
    /* Factors of a step. */
    EMU_DEVIATE_DIVISOR,           /* *number: divide by this in place of scale_grad */
    EMU_DEVIATE_MEAN_OF_MEANS,     /* each source by its own tokens, then all by the sources */
    EMU_DEVIATE_SLICE_DENOMINATOR, /* each cp slice by its own tokens, then all by cp */
    EMU_DEVIATE_SKIP_SCALE,        /* scale_grad is left out */
    /* The norm; all ranks are asked and answer alike. */
    EMU_DEVIATE_SKIP_NORM_SUM, /* *number: the family over which its squares are not summed */
    EMU_DEVIATE_AVERAGE_NORM,  /* *number: the family over which they are averaged */
    EMU_DEVIATE_COUNT_PADDING, /* chunks are squared with the padding behind them */
    /* One microbatch. */
    EMU_DEVIATE_DROP_MICROBATCH,
    EMU_DEVIATE_REPEAT_MICROBATCH,
    EMU_DEVIATE_READ,              /* *number: the source whose examples are read */
    EMU_DEVIATE_SWAP_MICROBATCHES, /* the first two change places, not their messages */
    EMU_DEVIATE_HALO,              /* of rank `about`: from another neighbour */
    /* One tensor, before the first step. */
    EMU_DEVIATE_SEED,
    EMU_DEVIATE_SAME_SEED,      /* the elements of tp 0 are drawn into this rank's block */
    EMU_DEVIATE_SHARD,          /* *number: the tp coordinate whose block is loaded */
    EMU_DEVIATE_HOLD_WHOLE,     /* in place of a shard */
    EMU_DEVIATE_SKIP_BROADCAST, /* the initial one; all copies are asked and answer alike */
    EMU_DEVIATE_CHUNK,          /* *number: the member of the shard group whose chunk is taken */
    /* The rank. */
    EMU_DEVIATE_TRANSPOSED, /* dp and tp are taken for each other */
    EMU_DEVIATE_SKIP_UPDATE,
    EMU_DEVIATE_SKIP_GATHER /* one updated parameter is not gathered from its chunks */
};

/* What is not known at a place is 0. */
struct emu_deviation_place {
    uint32_t rank;
    uint64_t step; /* from 1; 0: before the first */
    uint32_t tensor;
    uint32_t micro;
    uint64_t local_tokens; /* DIVISOR: valid, of this rank */
    uint32_t about;        /* HALO: the rank that needs it; who gives it is asked too */
};

struct emu_step_hooks {
    bool (*deviates)(void *user, enum emu_deviation kind, const struct emu_deviation_place *place,
                     uint64_t *number);
    void *user;
};

#endif
