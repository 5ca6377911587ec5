/* Which tables exist, and which constants of an update do they share?
 *
 * The bodies of the kernels are templates: plain_*.inc.h for plain numbers, bound_*.inc.h for pairs
 * (value, bound). kernel_f64.c, kernel_f32.c, kernel_bound64.c and kernel_bound32.c name the type
 * REAL and include them. All functions there are static; kernel_table.inc.h gathers them. Each file
 * is compiled once for each variant of the processor (base/cpu_variant.h), and every variant gives
 * the same bits, but for the sign and payload of a NaN.
 */
#ifndef EMU_NN_KERNEL_TABLES_H
#define EMU_NN_KERNEL_TABLES_H

#include "base/cpu_variant.h"
#include "nn/kernel.h"

EMU_VARIANTS_DECLARE(const struct emu_kernels, emu_kernels_f64);
EMU_VARIANTS_DECLARE(const struct emu_kernels, emu_kernels_f32);
EMU_VARIANTS_DECLARE(const struct emu_kernels, emu_kernels_bound64);
EMU_VARIANTS_DECLARE(const struct emu_kernels, emu_kernels_bound32);

/* Constant under the square root of RMSNorm. */
#define EMU_RMS_EPSILON 1e-5

/* 1/sqrt(2) and 1/sqrt(2 pi), to double precision. */
#define EMU_HALF_SQRT2 0.70710678118654752440
#define EMU_NORMAL_DENSITY0 0.39894228040143267794

/* AdamW's constants, computed once in double precision and then rounded to the type of the run:
 * every rank and the oracle round them alike, so they are exact inputs of the formula. */
struct emu_adamw_constants {
    double lr, beta1, rest1, beta2, rest2, epsilon, decay; /* rest = 1 - beta */
    double correct1, correct2;                             /* 1 - beta^step */
};
struct emu_adamw_constants emu_adamw_constants_of(const struct emu_adamw *params);

#endif
