/* Are two byte strings on different ranks the same? XXH3, 128 bits, over canonical bytes
 * (little-endian elements as they lie in memory on the supported hosts). */
#ifndef EMU_BASE_HASH_H
#define EMU_BASE_HASH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct emu_hash {
    uint64_t low;
    uint64_t high;
};

struct emu_hash emu_hash_of(const void *bytes, size_t size);
bool emu_hash_equal(struct emu_hash a, struct emu_hash b);

#endif
