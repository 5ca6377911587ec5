/* Which gradients do the ranks hold after a step, whole and unsharded, and who holds which?
 *
 * For each parameter every distinct gradient is one copy: value and coefficients, with the ranks
 * that hold it. A sharded parameter is put together from the tp ranks of one replica. Copies are
 * in the order of their lowest rank.
 */
#ifndef EMU_CHECK_GRADIENT_COPIES_H
#define EMU_CHECK_GRADIENT_COPIES_H

#include "check/audit.h"

struct emu_gradient_copy {
    uint32_t *ranks; /* ascending; owned, as all here */
    size_t rank_count;
    double *value; /* rows * columns of the logical tensor, row-major */
    uint64_t
        *coefficients; /* one a lane (emu_tensor_lanes), in the field; NULL: no ledger was kept */
};

struct emu_gradient_view {
    struct emu_gradient_copy *copies;
    size_t copy_count;
};

/* views: one a tensor of the plan, for emu_gradients_finish. EMU_ENOMEM. */
EMU_MUST_CHECK enum emu_status emu_gradients_collect(const struct emu_evidence *evidence,
                                                     struct emu_gradient_view **views);

/* Accepts NULL. */
void emu_gradients_finish(struct emu_gradient_view *views, uint32_t tensors);

#endif
