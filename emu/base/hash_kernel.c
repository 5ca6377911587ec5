#include "base/hash_kernel.h"

#define XXH_INLINE_ALL /* the packaged library knows the baseline alone */
#include <xxhash.h>

static struct emu_hash of(const void *bytes, size_t size)
{
    XXH128_hash_t hash = XXH3_128bits(bytes, size);
    return (struct emu_hash){hash.low64, hash.high64};
}

const struct emu_hash_kernel EMU_VARIANT_NAME(emu_hash_kernel) = {of};
