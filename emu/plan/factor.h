/* What number is a scale factor of the recipe, exactly? */
#ifndef EMU_PLAN_FACTOR_H
#define EMU_PLAN_FACTOR_H

#include "config/expression.h"
#include "ledger/rational.h"

#include <meshemu/mesh.h>

/* What the names of an expression mean at one rank and, where it matters, in one microbatch. */
struct emu_factor_values {
    const struct emu_mesh *mesh;
    uint64_t tokens;       /* valid, whole step and mesh */
    uint64_t local_tokens; /* valid, this rank, whole step */
    uint64_t micro_tokens; /* valid, this rank, this microbatch */
    uint64_t sequences;    /* of the step, whole mesh */
    uint64_t microbatches;
};

/* EMU_EINVAL: division by zero; EMU_ERANGE: a value on the way does not fit in 64 bits. */
EMU_MUST_CHECK enum emu_status emu_factor_evaluate(const struct emu_expression *expression,
                                                   const struct emu_factor_values *values,
                                                   struct emu_rational *out);

#endif
