#include "base/hash.h"

#include <xxhash.h>

struct emu_hash emu_hash_of(const void *bytes, size_t size)
{
    XXH128_hash_t hash = XXH3_128bits(bytes, size);
    return (struct emu_hash){hash.low64, hash.high64};
}

bool emu_hash_equal(struct emu_hash a, struct emu_hash b)
{
    return a.low == b.low && a.high == b.high;
}
