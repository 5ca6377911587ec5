/* The choice of a table by dtype. */
#include "nn/kernel_tables.h"

#include <math.h>
#include <stddef.h>

const struct emu_kernels *emu_kernels_of(enum emu_dtype dtype)
{
    switch (dtype) {
    case EMU_F64:
        return &emu_kernels_f64;
    case EMU_F32:
        return &emu_kernels_f32;
    case EMU_BOUND64:
        return &emu_kernels_bound64;
    case EMU_BOUND32:
        return &emu_kernels_bound32;
    default:
        return NULL;
    }
}

struct emu_adamw_constants emu_adamw_constants_of(const struct emu_adamw *params)
{
    return (struct emu_adamw_constants){
        .lr = params->lr,
        .beta1 = params->beta1,
        .rest1 = 1.0 - params->beta1,
        .beta2 = params->beta2,
        .rest2 = 1.0 - params->beta2,
        .epsilon = params->epsilon,
        .decay = params->weight_decay,
        .correct1 = 1.0 - pow(params->beta1, (double)params->step),
        .correct2 = 1.0 - pow(params->beta2, (double)params->step),
    };
}
