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
    /* Factors of a step. */
    EMU_DEVIATE_DIVISOR,       /* *number: divide by this in place of scale_grad */
    EMU_DEVIATE_MEAN_OF_MEANS, /* each source by its own tokens, then all by the sources */
    /* One microbatch. */
    EMU_DEVIATE_DROP_MICROBATCH,
    EMU_DEVIATE_REPEAT_MICROBATCH,
    EMU_DEVIATE_READ, /* *number: the source whose examples are read */
    /* One tensor, before the first step. */
    EMU_DEVIATE_SEED,
    EMU_DEVIATE_SAME_SEED,      /* the elements of tp 0 are drawn into this rank's block */
    EMU_DEVIATE_SHARD,          /* *number: the tp coordinate whose block is loaded */
    EMU_DEVIATE_HOLD_WHOLE,     /* in place of a shard */
    EMU_DEVIATE_SKIP_BROADCAST, /* the initial one; all copies are asked and answer alike */
    /* The rank. */
    EMU_DEVIATE_TRANSPOSED, /* dp and tp are taken for each other */
    EMU_DEVIATE_SKIP_UPDATE
};

/* What is not known at a place is 0. */
struct emu_deviation_place {
    uint32_t rank;
    uint64_t step; /* from 1; 0: before the first */
    uint32_t tensor;
    uint32_t micro;
    uint64_t local_tokens; /* DIVISOR: valid, of this rank */
};

struct emu_step_hooks {
    bool (*deviates)(void *user, enum emu_deviation kind, const struct emu_deviation_place *place,
                     uint64_t *number);
    void *user;
};

#endif
