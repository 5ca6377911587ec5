#include "ledger/field.h"

#include <criterion/criterion.h>
#include <criterion/theories.h>

#define P EMU_FIELD_PRIME

/* The same by long division, with nothing of the special form of the prime. */
static uint64_t slow_add(uint64_t a, uint64_t b)
{
    return (uint64_t)((__extension__(unsigned __int128) a + b) % P);
}

static uint64_t slow_mul(uint64_t a, uint64_t b)
{
    return (uint64_t)((__extension__(unsigned __int128) a * b) % P);
}

#define POINTS                                                                                     \
    DataPoints(uint64_t, 0, 1, 2, 3, P - 1, P - 2, P / 2, P / 2 + 1, 1234567890123456789u, 1u << 31)

TheoryDataPoints(field, add_is_addition_modulo_the_prime) = {POINTS, POINTS};
Theory((uint64_t a, uint64_t b), field, add_is_addition_modulo_the_prime)
{
    cr_assert_eq(emu_field_add(a, b), slow_add(a, b));
}

TheoryDataPoints(field, mul_is_multiplication_modulo_the_prime) = {POINTS, POINTS};
Theory((uint64_t a, uint64_t b), field, mul_is_multiplication_modulo_the_prime)
{
    cr_assert_eq(emu_field_mul(a, b), slow_mul(a, b));
}

Test(field, reduce_gives_the_canonical_form_of_any_word)
{
    static const uint64_t words[] = {0, 1, P - 1, P, P + 1, 2 * P, 2 * P + 5, UINT64_MAX};
    for (unsigned i = 0; i < sizeof words / sizeof words[0]; i++)
        cr_expect_eq(emu_field_reduce(words[i]), words[i] % P);
}

Test(field, random_words_agree_with_long_division)
{
    uint64_t x = 88172645463325252u; /* xorshift64 */
    for (int i = 0; i < 100000; i++) {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        uint64_t word = x;
        uint64_t a = emu_field_reduce(word), b = emu_field_reduce(word * 0x9e3779b97f4a7c15u);
        cr_assert_lt(a, P);
        cr_assert_eq(emu_field_mul(a, b), slow_mul(a, b));
        cr_assert_eq(emu_field_add(a, b), slow_add(a, b));
    }
}
