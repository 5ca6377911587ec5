/* The choice of a table by dtype. */
#include "nn/kernel_tables.h"

#include <math.h>
#include <stddef.h>

const struct emu_kernels *emu_kernels_for(enum emu_dtype dtype, enum emu_cpu_variant variant)
{
    static const struct emu_kernels *const f64[] = EMU_VARIANTS_OF(emu_kernels_f64);
    static const struct emu_kernels *const f32[] = EMU_VARIANTS_OF(emu_kernels_f32);
    static const struct emu_kernels *const bound64[] = EMU_VARIANTS_OF(emu_kernels_bound64);
    static const struct emu_kernels *const bound32[] = EMU_VARIANTS_OF(emu_kernels_bound32);
    switch (dtype) {
    case EMU_F64:
        return f64[variant];
    case EMU_F32:
        return f32[variant];
    case EMU_BOUND64:
        return bound64[variant];
    case EMU_BOUND32:
        return bound32[variant];
    default:
        return NULL;
    }
}

const struct emu_kernels *emu_kernels_of(enum emu_dtype dtype)
{
    return emu_kernels_for(dtype, emu_cpu_variant());
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
