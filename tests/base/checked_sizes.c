#include "base/checked.h"
#include "base/hash.h"

#include <meshemu/status.h>

#include <criterion/criterion.h>

Test(base_checked, sums_and_products_fit_or_are_refused)
{
    uint64_t out = 77;
    cr_assert(emu_add_fits(UINT64_MAX - 1, 1, &out));
    cr_assert_eq(out, UINT64_MAX);
    cr_assert(emu_mul_fits(UINT64_C(1) << 32, UINT64_C(0xffffffff), &out));
    cr_assert_eq(out, UINT64_C(0xffffffff00000000));
    out = 77;
    cr_assert_not(emu_add_fits(UINT64_MAX, 1, &out));
    cr_assert_not(emu_mul_fits(UINT64_C(1) << 32, UINT64_C(1) << 32, &out));
    cr_assert_eq(out, 77u);
}

Test(base_checked, rounds_up_to_a_power_of_two)
{
    const uint64_t pairs[][2] = {{0, 0}, {1, 64}, {64, 64}, {65, 128}};
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        uint64_t out = 77;
        cr_assert(emu_round_up_fits(pairs[i][0], 64, &out));
        cr_assert_eq(out, pairs[i][1]);
    }
    uint64_t out = 77;
    cr_assert(emu_round_up_fits(UINT64_MAX - 63, 64, &out));
    cr_assert_eq(out, UINT64_MAX - 63);
    out = 77;
    cr_assert_not(emu_round_up_fits(UINT64_MAX - 62, 64, &out));
    cr_assert_eq(out, 77u);
}

Test(base_hash, one_bit_makes_another_hash)
{
    unsigned char bytes[300] = {0};
    struct emu_hash plain = emu_hash_of(bytes, sizeof bytes);
    cr_assert(emu_hash_equal(plain, emu_hash_of(bytes, sizeof bytes)));
    cr_assert_not(emu_hash_equal(plain, emu_hash_of(bytes, sizeof bytes - 1)));
    for (size_t i = 0; i < sizeof bytes; i++) {
        bytes[i] ^= 1;
        cr_assert_not(emu_hash_equal(plain, emu_hash_of(bytes, sizeof bytes)), "byte %zu", i);
        bytes[i] ^= 1;
    }
}

Test(base_hash, both_halves_count)
{
    struct emu_hash a = {1, 2}, low = {3, 2}, high = {1, 3};
    cr_assert_not(emu_hash_equal(a, low));
    cr_assert_not(emu_hash_equal(a, high));
}

/* XXH3 128 of no bytes, from the specification's test vectors. */
Test(base_hash, is_xxh3)
{
    struct emu_hash none = emu_hash_of("", 0);
    cr_assert_eq(none.high, UINT64_C(0x99aa06d3014798d8));
    cr_assert_eq(none.low, UINT64_C(0x6001c324468d497f));
}

Test(base_status, has_a_name_and_a_sentence)
{
    cr_assert_str_eq(emu_status_name(EMU_OK), "EMU_OK");
    cr_assert_str_eq(emu_status_name(EMU_EPEER), "EMU_EPEER");
    cr_assert_str_eq(emu_status_text(EMU_ENOMEM), "out of memory");
    cr_assert_str_eq(emu_status_name((enum emu_status)99), "EMU_?");
    cr_assert_str_eq(emu_status_text((enum emu_status)99), "unknown status");
}
