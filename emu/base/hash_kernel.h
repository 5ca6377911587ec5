/* The hash of base/hash.h, once for each variant of the processor: the algorithm takes its input in
 * stripes as wide as its vectors and gives the same result with all of them. */
#ifndef EMU_BASE_HASH_KERNEL_H
#define EMU_BASE_HASH_KERNEL_H

#include "base/cpu_variant.h"
#include "base/hash.h"

struct emu_hash_kernel {
    struct emu_hash (*of)(const void *bytes, size_t size);
};

EMU_VARIANTS_DECLARE(const struct emu_hash_kernel, emu_hash_kernel);

/* The kernel of a variant that runs here. */
const struct emu_hash_kernel *emu_hash_kernel_for(enum emu_cpu_variant variant);

#endif
