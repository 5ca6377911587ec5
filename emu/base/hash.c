#include "base/hash.h"

#include "base/hash_kernel.h"

const struct emu_hash_kernel *emu_hash_kernel_for(enum emu_cpu_variant variant)
{
    static const struct emu_hash_kernel *const all[] = EMU_VARIANTS_OF(emu_hash_kernel);
    return all[variant];
}

struct emu_hash emu_hash_of(const void *bytes, size_t size)
{
    return emu_hash_kernel_for(emu_cpu_variant())->of(bytes, size);
}

bool emu_hash_equal(struct emu_hash a, struct emu_hash b)
{
    return a.low == b.low && a.high == b.high;
}
