#include "ledger/rational.h"

#include "base/philox.h"
#include "ledger/field.h"

#include <criterion/criterion.h>

static struct emu_rational fraction(int64_t n, int64_t d)
{
    struct emu_rational out;
    cr_assert_eq(emu_rational_make(n, d, &out), EMU_OK);
    return out;
}

Test(ledger_rational, lowest_terms_and_a_positive_denominator)
{
    struct emu_rational a = fraction(6, -4);
    cr_assert(a.numerator == -3 && a.denominator == 2);
    a = fraction(0, -7);
    cr_assert(a.numerator == 0 && a.denominator == 1);
}

Test(ledger_rational, arithmetic_is_exact)
{
    struct emu_rational out;
    cr_assert_eq(emu_rational_add(fraction(1, 6), fraction(1, 10), &out), EMU_OK);
    cr_assert(emu_rational_equal(out, fraction(4, 15)));
    cr_assert_eq(emu_rational_sub(fraction(1, 6), fraction(1, 6), &out), EMU_OK);
    cr_assert(emu_rational_equal(out, emu_rational_whole(0)));
    cr_assert_eq(emu_rational_mul(fraction(-2, 3), fraction(9, 4), &out), EMU_OK);
    cr_assert(emu_rational_equal(out, fraction(-3, 2)));
    cr_assert_eq(emu_rational_div(fraction(1, 3), fraction(-2, 9), &out), EMU_OK);
    cr_assert(emu_rational_equal(out, fraction(-3, 2)));
}

Test(ledger_rational, refuses_zero_denominators_and_overflow)
{
    struct emu_rational out = {5, 7};
    cr_assert_eq(emu_rational_make(1, 0, &out), EMU_EINVAL);
    cr_assert_eq(emu_rational_div(fraction(1, 2), emu_rational_whole(0), &out), EMU_EINVAL);
    struct emu_rational large = emu_rational_whole(INT64_MAX);
    cr_assert_eq(emu_rational_add(large, emu_rational_whole(1), &out), EMU_ERANGE);
    cr_assert_eq(emu_rational_mul(large, emu_rational_whole(2), &out), EMU_ERANGE);
    cr_assert_eq(emu_rational_mul(fraction(1, INT64_MAX), fraction(1, 2), &out), EMU_ERANGE);
    cr_assert(out.numerator == 5 && out.denominator == 7);
}

Test(ledger_rational, products_that_reduce_do_not_overflow)
{
    struct emu_rational out;
    cr_assert_eq(emu_rational_mul(emu_rational_whole(INT64_MAX), fraction(1, INT64_MAX), &out),
                 EMU_OK);
    cr_assert(emu_rational_equal(out, emu_rational_whole(1)));
}

Test(ledger_rational, compares_and_prints)
{
    char text[EMU_RATIONAL_TEXT_MAX];
    cr_assert_eq(emu_rational_compare(fraction(1, 3), fraction(1, 2)), -1);
    cr_assert_eq(emu_rational_compare(fraction(-1, 3), fraction(-1, 2)), 1);
    cr_assert_eq(emu_rational_compare(fraction(2, 4), fraction(1, 2)), 0);
    cr_assert_str_eq(emu_rational_text(fraction(3, -12), text), "-1/4");
    cr_assert_str_eq(emu_rational_text(fraction(8, 4), text), "2");
    cr_assert_eq(emu_rational_f64(fraction(-3, 8)), -0.375);
}

Test(ledger_field, every_element_times_its_inverse_is_one)
{
    for (uint64_t i = 0; i < 500; i++) {
        uint64_t a = emu_field_reduce(emu_random_bits(1, 2, i));
        if (a)
            cr_assert_eq(emu_field_mul(a, emu_field_inverse(a)), 1);
        cr_assert_eq(emu_field_add(a, emu_field_negate(a)), 0);
    }
}

Test(ledger_field, small_fractions_are_recovered_exactly)
{
    for (uint64_t i = 0; i < 2000; i++) {
        uint64_t bits = emu_random_bits(3, 4, i);
        struct emu_rational a =
            fraction((int64_t)(bits & 0x3fffffff) - 0x1fffffff, (int64_t)(bits >> 34) + 1);
        uint64_t element;
        struct emu_rational back;
        cr_assert_eq(emu_rational_to_field(a, &element), EMU_OK);
        cr_assert_eq(emu_rational_from_field(element, &back), EMU_OK);
        cr_assert(emu_rational_equal(a, back));
    }
}

Test(ledger_field, sums_of_thirds_are_whole)
{
    uint64_t third;
    cr_assert_eq(emu_rational_to_field(fraction(1, 3), &third), EMU_OK);
    uint64_t sum = emu_field_add(emu_field_add(third, third), third);
    cr_assert_eq(sum, 1);
}

Test(ledger_field, a_fraction_too_large_to_recover_is_not_invented)
{
    struct emu_rational out;
    unsigned found = 0;
    for (uint64_t i = 0; i < 200; i++) {
        uint64_t element = emu_field_reduce(emu_random_bits(5, 6, i));
        uint64_t again;
        if (emu_rational_from_field(element, &out) != EMU_OK)
            continue;
        found++;
        cr_assert_eq(emu_rational_to_field(out, &again), EMU_OK);
        cr_assert_eq(again, element);
    }
    cr_assert_lt(found, 200);
}
