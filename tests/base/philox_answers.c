#include "base/philox.h"

#include <criterion/criterion.h>
#include <criterion/theories.h>
#include <math.h>

static void expect_block(const uint32_t counter[4], const uint32_t key[2], const uint32_t want[4])
{
    struct emu_philox_block got = emu_philox(counter, key);
    for (int i = 0; i < 4; i++)
        cr_assert_eq(got.word[i], want[i], "word %d: %08x, want %08x", i, got.word[i], want[i]);
}

/* Random123 1.14, examples/kat_vectors, philox4x32 10. */
Test(base_philox, gives_the_known_answers)
{
    expect_block((uint32_t[4]){0}, (uint32_t[2]){0},
                 (uint32_t[4]){0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
    const uint32_t ones[4] = {UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX};
    expect_block(ones, ones, (uint32_t[4]){0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
    expect_block((uint32_t[4]){0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
                 (uint32_t[2]){0xa4093822, 0x299f31d0},
                 (uint32_t[4]){0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
}

Test(base_random, every_bit_of_its_address_matters)
{
    uint64_t plain = emu_random_bits(1, 2, 3);
    for (int bit = 0; bit < 64; bit++) {
        uint64_t flip = UINT64_C(1) << bit;
        cr_assert_neq(emu_random_bits(1 ^ flip, 2, 3), plain, "seed bit %d", bit);
        cr_assert_neq(emu_random_bits(1, 2 ^ flip, 3), plain, "stream bit %d", bit);
        cr_assert_neq(emu_random_bits(1, 2, 3 ^ flip), plain, "element bit %d", bit);
    }
}

TheoryDataPoints(base_random, symmetric_numbers_are_multiples_of_two_to_the_minus_52) = {
    DataPoints(uint64_t, 0, 1, UINT64_MAX),
    DataPoints(uint64_t, 0, 7),
    DataPoints(uint64_t, 0, 1, 2, 3, 1000, UINT64_C(1) << 40),
};

Theory((uint64_t seed, uint64_t stream, uint64_t element), base_random,
       symmetric_numbers_are_multiples_of_two_to_the_minus_52)
{
    double value = emu_random_symmetric(seed, stream, element);
    cr_assert(value >= -1.0 && value < 1.0);
    cr_assert_eq(value * 0x1p52, nearbyint(value * 0x1p52));
}

Test(base_random, symmetric_numbers_have_mean_zero_and_variance_one_third)
{
    enum { DRAWS = 20000 };
    double sum = 0, squares = 0;
    for (uint64_t i = 0; i < DRAWS; i++) {
        double value = emu_random_symmetric(5, 6, i);
        sum += value;
        squares += value * value;
    }
    /* Five standard errors: 5*sqrt(1/3/n) and 5*sqrt(4/45/n). The draws are fixed. */
    cr_assert_float_eq(sum / DRAWS, 0.0, 5 * sqrt(1.0 / 3 / DRAWS));
    cr_assert_float_eq(squares / DRAWS, 1.0 / 3, 5 * sqrt(4.0 / 45 / DRAWS));
}

Test(base_random, ternary_numbers_are_equally_frequent)
{
    enum { DRAWS = 30000 };
    unsigned seen[3] = {0};
    for (uint64_t i = 0; i < DRAWS; i++) {
        double value = emu_random_ternary(9, 1, i);
        cr_assert(value == -1.0 || value == 0.0 || value == 1.0);
        seen[(int)value + 1]++;
    }
    for (int i = 0; i < 3; i++) /* 5 standard deviations of a binomial: 5*sqrt(n*2/9) = 408 */
        cr_assert(seen[i] > 10000 - 408 && seen[i] < 10000 + 408, "%u of value %d", seen[i], i - 1);
}
