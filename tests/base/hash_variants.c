/* Is the hash XXH3 whatever the processor has, at every length that takes another way? */
#include "base/hash_kernel.h"

#include <criterion/criterion.h>
#include <xxhash.h>

TestSuite(base_hash, .timeout = 30);

static unsigned char bytes[9000];

static void fill(void)
{
    uint64_t state = 1;
    for (size_t i = 0; i < sizeof bytes; i++) {
        state = state * UINT64_C(6364136223846793005) + 1442695040888963407;
        bytes[i] = (unsigned char)(state >> 56);
    }
}

static void expect(struct emu_hash got, size_t start, size_t size, const char *who)
{
    XXH128_hash_t want = XXH3_128bits(bytes + start, size);
    cr_assert(got.low == want.low64 && got.high == want.high64, "%s: %zu bytes from %zu", who, size,
              start);
}

Test(base_hash, every_variant_is_the_library_s, .init = fill)
{
    for (int v = 0; v < EMU_CPU_VARIANT_COUNT; v++) {
        enum emu_cpu_variant variant = (enum emu_cpu_variant)v;
        if (!emu_cpu_variant_runs(variant))
            continue;
        const struct emu_hash_kernel *kernel = emu_hash_kernel_for(variant);
        for (size_t size = 0; size < 1300; size++)
            expect(kernel->of(bytes + size % 7, size), size % 7, size,
                   emu_cpu_variant_name(variant));
        for (size_t size = 4000; size < sizeof bytes - 8; size += 511)
            expect(kernel->of(bytes + size % 8, size), size % 8, size,
                   emu_cpu_variant_name(variant));
    }
}

Test(base_hash, the_one_in_use_is_the_same, .init = fill)
{
    expect(emu_hash_of(bytes, 5000), 0, 5000, "in use");
    expect(emu_hash_of(bytes, 0), 0, 0, "in use");
}
