/* What does a recipe compute, exactly, and what is wrong with it? The answer that the product is
 * measured against: written from the contract alone, in exact fractions, without any of its code.
 *
 * The reading of the contract:
 *  1. A source is an owner of tokens: (dp, cp, microbatch). A gradient starts with its own source
 *     alone, times scale_loss, divided by the valid tokens for a mean (of none: 0/0).
 *  2. Reductions of a microbatch, of the first or of the last one act on the fresh gradient, in the
 *     order of the list, before it is accumulated; those of the step afterwards.
 *  3. accumulate: the sum, the sum divided by the number of microbatches, or the last one alone.
 *  4. avg is the sum divided by the members; `scale` multiplies the result; scale_grad is last.
 *  5. Right: on every rank every source with valid tokens has the coefficient 1/N. How it got there
 *     does not matter.
 *  6. The cause of one wrong factor is a sum that met several copies of a source. Where a factor 0
 *     came before it, the copies were empty: both readings of such a sum are allowed.
 */
#ifndef TESTS_PROPERTY_REFERENCE_H
#define TESTS_PROPERTY_REFERENCE_H

#include "scenario.h"

enum fault {
    FAULT_NONE,
    FAULT_NONFINITE,
    FAULT_SHARD_TILING,
    FAULT_MISSING_REDUCTION,  /* a source is inside some ranks' gradient, not inside others' */
    FAULT_COPIES_SCALED,      /* the copies differ, but hold the same sources */
    FAULT_LOST_MICROBATCH,    /* all sources of a microbatch have coefficient 0 */
    FAULT_DOUBLE_REDUCTION,   /* one wrong factor, and dp or cp was summed again */
    FAULT_REDUCED_REPLICATED, /* one wrong factor, and copies were summed */
    FAULT_WRONG_SCALE,        /* one wrong factor */
    FAULT_TOKEN_WEIGHT,       /* different factors */
    FAULT_COUNT
};

struct reference {
    bool lost; /* a number did not fit: the case is to be drawn again */
    enum fault fault;
    enum fault by_path;    /* the same where a copy that was multiplied by 0 counts as one */
    struct fraction ratio; /* of what is to what should be, where it is one for all */
    bool uniform;
    bool dyadic; /* nothing was rounded before scale_grad: every factor is a power of two's */
    struct fraction coefficient[RANKS_MOST][SOURCES_MOST]; /* by place, row-major */
    /* The same with every term taken positive: what roundings are measured by. */
    double weight[RANKS_MOST][SOURCES_MOST];
};

/* For the parameter of this name; sharded: over tp. */
void reference_run(const struct scenario *scenario, const char *parameter, bool sharded,
                   struct reference *out);

/* sum of coefficient * source sum at a place, for one feature; and what it should be. */
struct fraction reference_value(const struct scenario *scenario, const struct reference *reference,
                                uint32_t place, uint32_t feature);
struct fraction reference_wanted(const struct scenario *scenario, uint32_t feature);

/* The class of the coefficients in *out; notes what is uniform. summed_again: axes over which
 * copies were summed, as bits. */
enum fault reference_classify(const struct scenario *scenario, uint32_t summed_again,
                              struct reference *out);

const char *fault_name(enum fault fault);

#endif
