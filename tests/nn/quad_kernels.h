/* The formulas of the kernels in quadruple precision (113 bits): as good as exact beside double and
 * float. Constants are rounded as in the type under test, since they are inputs of the formula. */
#ifndef TEST_NN_QUAD_KERNELS_H
#define TEST_NN_QUAD_KERNELS_H

#include "nn/kernel.h"

#define QUAD __float128

extern const struct emu_kernels quad_of_f64;
extern const struct emu_kernels quad_of_f32;

#endif
