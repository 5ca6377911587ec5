#include "base/philox.h"

static struct emu_philox_block one_round(struct emu_philox_block x, uint32_t key0, uint32_t key1)
{
    uint64_t product0 = UINT64_C(0xD2511F53) * x.word[0];
    uint64_t product1 = UINT64_C(0xCD9E8D57) * x.word[2];
    return (struct emu_philox_block){
        {(uint32_t)(product1 >> 32) ^ x.word[1] ^ key0, (uint32_t)product1,
         (uint32_t)(product0 >> 32) ^ x.word[3] ^ key1, (uint32_t)product0}};
}

struct emu_philox_block emu_philox(const uint32_t counter[4], const uint32_t key[2])
{
    struct emu_philox_block x = {{counter[0], counter[1], counter[2], counter[3]}};
    uint32_t key0 = key[0];
    uint32_t key1 = key[1];
    for (int round = 0; round < 10; round++) {
        x = one_round(x, key0, key1);
        key0 += UINT32_C(0x9E3779B9); /* golden ratio */
        key1 += UINT32_C(0xBB67AE85); /* sqrt(3) - 1 */
    }
    return x;
}

uint64_t emu_random_bits(uint64_t seed, uint64_t stream, uint64_t element)
{
    uint32_t counter[4] = {(uint32_t)element, (uint32_t)(element >> 32), (uint32_t)stream,
                           (uint32_t)(stream >> 32)};
    uint32_t key[2] = {(uint32_t)seed, (uint32_t)(seed >> 32)};
    struct emu_philox_block block = emu_philox(counter, key);
    return (uint64_t)block.word[1] << 32 | block.word[0];
}

double emu_random_symmetric(uint64_t seed, uint64_t stream, uint64_t element)
{
    uint64_t bits = emu_random_bits(seed, stream, element) >> 11; /* 53 bits */
    return (double)bits * 0x1p-52 - 1.0;
}

double emu_random_ternary(uint64_t seed, uint64_t stream, uint64_t element)
{
    uint64_t bits = emu_random_bits(seed, stream, element) >> 32;
    return (double)(int64_t)(bits * 3 >> 32) - 1.0;
}
