/* Was anything rounded, and where first?
 *
 * The exact kernels are the f64 kernels, each followed by a look at the FPU's sticky inexact flag.
 * While the watch is on, the first kernel (or collective) after which the flag stands is noted. A
 * watch that ends clean proves that every result in between is the exact one, so that any other
 * order of the same sums that ends clean has the same bits.
 *
 * The flag belongs to the thread, and so does the watch. The kernels lie in another translation
 * unit: the compiler must not move arithmetic across the look at the flag.
 */
#ifndef EMU_NN_KERNEL_EXACT_H
#define EMU_NN_KERNEL_EXACT_H

#include "nn/kernel.h"

#include <stdbool.h>

struct emu_rounding {
    bool rounded;
    char kernel[24]; /* "matmul_nt", "all_reduce", ... */
    char where[64];  /* what the caller last said it was doing */
};

/* f64 kernels that look at the flag. */
const struct emu_kernels *emu_kernels_exact(void);

/* Clear the flag and begin; stop looking, and say what was seen since. */
void emu_rounding_begin(void);
struct emu_rounding emu_rounding_end(void);

/* Name what comes next ("source dp=0", "embed.weight"); cheap, kept while the watch is on. */
void emu_rounding_at(const char *where);

/* Look at the flag after something that is no kernel. */
void emu_rounding_look(const char *what);

#endif
