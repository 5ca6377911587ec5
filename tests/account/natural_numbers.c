/* Natural numbers of any length against 128-bit ones and known products. */
#include "account/natural.h"
#include "base/philox.h"
#include "base/wide.h"

#include <criterion/criterion.h>
#include <stdio.h>

static void set_wide(struct emu_natural *n, emu_u128 value)
{
    emu_natural_set(n, (uint64_t)(value >> 96));
    for (int shift = 64; shift >= 0; shift -= 32) {
        struct emu_natural low = {0};
        emu_natural_set(&low, (uint32_t)(value >> shift));
        emu_natural_times(n, UINT32_C(1) << 31);
        emu_natural_times(n, 2);
        emu_natural_add(n, &low);
        emu_natural_finish(&low);
    }
}

static emu_u128 wide_of(const struct emu_natural *n)
{
    emu_u128 value = 0;
    for (size_t i = n->count; i-- > 0;)
        value = value << 32 | n->limbs[i];
    return value;
}

static emu_u128 greatest_divisor(emu_u128 a, emu_u128 b)
{
    while (b) {
        emu_u128 rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

static emu_u128 random_wide(uint64_t at)
{
    emu_u128 value = (emu_u128)emu_random_bits(7, 0, at) << 64 | emu_random_bits(7, 1, at);
    return value >> emu_random_bits(7, 2, at) % 127;
}

Test(account_natural, sums_and_differences_are_those_of_128_bits)
{
    for (uint64_t i = 0; i < 3000; i++) {
        emu_u128 x = random_wide(2 * i) >> 1;
        emu_u128 y = random_wide(2 * i + 1) >> 1;
        struct emu_natural a = {0};
        struct emu_natural b = {0};
        set_wide(&a, x);
        set_wide(&b, y);
        cr_assert_eq(emu_natural_compare(&a, &b), (x > y) - (x < y));
        emu_natural_add(&a, &b);
        cr_assert(wide_of(&a) == x + y);
        emu_natural_subtract(&a, &b);
        cr_assert(wide_of(&a) == x);
        emu_natural_finish(&a);
        emu_natural_finish(&b);
    }
}

Test(account_natural, fractions_are_reduced_by_the_greatest_common_divisor)
{
    for (uint64_t i = 0; i < 3000; i++) {
        emu_u128 shared = random_wide(3 * i) >> 70;
        emu_u128 x = (random_wide(3 * i + 1) >> 66) * shared;
        emu_u128 y = ((random_wide(3 * i + 2) >> 66) + 1) * (shared + !shared);
        emu_u128 divisor = greatest_divisor(x, y);
        struct emu_natural a = {0};
        struct emu_natural b = {0};
        set_wide(&a, x);
        set_wide(&b, y);
        emu_natural_reduce(&a, &b);
        cr_assert(wide_of(&a) == x / divisor);
        cr_assert(wide_of(&b) == y / divisor);
        emu_natural_finish(&a);
        emu_natural_finish(&b);
    }
}

Test(account_natural, products_divide_without_rest_in_any_order)
{
    struct emu_natural n = {0};
    emu_natural_set(&n, 1);
    for (uint32_t i = 1; i <= 500; i++)
        emu_natural_times(&n, i * 4294967);
    for (uint32_t i = 1; i <= 500; i++)
        cr_assert_eq(emu_natural_divide(&n, i * 4294967), 0);
    cr_assert(wide_of(&n) == 1);
    emu_natural_finish(&n);
}

Test(account_natural, long_fractions_reduce_too)
{
    struct emu_natural a = {0};
    struct emu_natural b = {0};
    emu_natural_set(&a, 355);
    emu_natural_set(&b, 113);
    for (uint32_t i = 1; i <= 300; i++) {
        emu_natural_times(&a, 3000000000U - i);
        emu_natural_times(&b, 3000000000U - i);
    }
    double ratio = emu_natural_ratio(&a, &b);
    emu_natural_reduce(&a, &b);
    cr_assert(wide_of(&a) == 355);
    cr_assert(wide_of(&b) == 113);
    cr_assert_float_eq(ratio, 355.0 / 113.0, 1e-15);
    emu_natural_finish(&a);
    emu_natural_finish(&b);
}

Test(account_natural, decimals_keep_their_inner_zeros)
{
    struct emu_natural n = {0};
    struct emu_text text = {0};
    emu_natural_set(&n, 10);
    for (int i = 1; i < 30; i++)
        emu_natural_times(&n, 10);
    emu_natural_print(&n, &text);
    emu_text_putc(&text, ' ');
    emu_natural_set(&n, 0);
    emu_natural_print(&n, &text);
    cr_assert_str_eq(emu_text_get(&text), "1000000000000000000000000000000 0");
    emu_text_finish(&text);
    emu_natural_finish(&n);
}
