#include "base/number.h"

#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <criterion/theories.h>
#include <float.h>
#include <inttypes.h>
#include <locale.h>
#include <math.h>
#include <string.h>

struct spelling {
    double value;
    char text[EMU_NUMBER_MAX];
};

ParameterizedTestParameters(base_number, prints_the_shortest_decimal)
{
    static struct spelling rows[] = {
        {0.0, "0"},
        {-0.0, "-0"},
        {1.0, "1"},
        {0.1, "0.1"},
        {-2.5, "-2.5"},
        {1e-8, "1e-08"},
        {1e-4, "0.0001"},
        {10.0, "10"},
        {-100.0, "-100"},
        {12300.0, "12300"},
        {1e16, "10000000000000000"},
        {1e17, "1e+17"},
        {1.0 / 3, "0.3333333333333333"},
        {0.1 + 0.2, "0.30000000000000004"},
        {9007199254740993.0, "9007199254740992"},
        {DBL_MAX, "1.7976931348623157e+308"},
        {DBL_TRUE_MIN, "5e-324"},
        {INFINITY, "inf"},
        {-INFINITY, "-inf"},
        {NAN, "nan"},
        {-NAN, "nan"},
    };
    return cr_make_param_array(struct spelling, rows, sizeof rows / sizeof rows[0]);
}

ParameterizedTest(struct spelling *row, base_number, prints_the_shortest_decimal)
{
    char text[EMU_NUMBER_MAX];
    cr_assert_eq(emu_number_f64(row->value, text), text);
    cr_assert_str_eq(text, row->text);
}

TheoryDataPoints(base_number, a_printed_double_reads_back_as_its_bits) = {
    DataPoints(double, 1.0, 0.1, 1.0 / 3, 2.0 / 7, 123456789.0, 1.7976931348623157),
    DataPoints(double, 1.0, -1.0, 1e300, 1e-300, 0x1p-1060, 3.0, 1e15, 1e17),
};

Theory((double a, double b), base_number, a_printed_double_reads_back_as_its_bits)
{
    double value = a * b, back = 0;
    char text[EMU_NUMBER_MAX];
    cr_assert(emu_parse_f64(emu_number_f64(value, text), &back), "%s", text);
    cr_assert_eq(memcmp(&value, &back, sizeof value), 0, "%s", text);
}

Test(base_number, ignores_the_locale)
{
    /* Any locale with a decimal comma that is installed; without one the test says less. */
    static const char *const names[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "de_DE", "C"};
    for (size_t i = 0; i < sizeof names / sizeof names[0] && !setlocale(LC_ALL, names[i]); i++)
        continue;
    char text[EMU_NUMBER_MAX];
    double value = 0;
    cr_assert_str_eq(emu_number_f64(2.5, text), "2.5");
    cr_assert(emu_parse_f64("2.5", &value));
    cr_assert_eq(value, 2.5);
    cr_assert_not(emu_parse_f64("2,5", &value));
}

struct word {
    char text[48];
};

ParameterizedTestParameters(base_number, refuses_what_is_no_finite_decimal)
{
    static struct word rows[] = {
        {""},     {" "},    {"1_024"},    {"0x10"},  {"0x1p3"},  {"nan"}, {"NaN"},
        {"inf"},  {"-inf"}, {"infinity"}, {"1e999"}, {"-1e999"}, {"1 "},  {" 1"},
        {"1.5f"}, {"1..5"}, {"--1"},      {"1e"},    {"."},      {"-"},   {"+"},
        {"e5"},   {"1,5"},  {"two"},      {"1\n"},
    };
    return cr_make_param_array(struct word, rows, sizeof rows / sizeof rows[0]);
}

ParameterizedTest(struct word *row, base_number, refuses_what_is_no_finite_decimal)
{
    double value = 77;
    cr_assert_not(emu_parse_f64(row->text, &value), "'%s' was read as %g", row->text, value);
    cr_assert_eq(value, 77);
}

Test(base_number, reads_every_usual_spelling_of_a_double)
{
    static const char *const texts[] = {"2.5", "+2.5", "2.50", ".25e1", "25e-1", "25E-1", "0002.5"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        double value = 0;
        cr_assert(emu_parse_f64(texts[i], &value), "%s", texts[i]);
        cr_assert_eq(value, 2.5, "%s", texts[i]);
    }
    double tiny = 1;
    cr_assert(emu_parse_f64("1e-999", &tiny), "underflow is zero");
    cr_assert_eq(tiny, 0.0);
}

ParameterizedTestParameters(base_number, refuses_what_is_no_integer)
{
    static struct word rows[] = {
        {""},
        {"-"},
        {"1_024"},
        {"0x10"},
        {"1.0"},
        {"1e3"},
        {" 1"},
        {"1 "},
        {"+1"},
        {"--1"},
        {"two"},
        {"- 1"},
        {"1-"},
        {"99999999999999999999"},
        {"18446744073709551616"},
        {"-9223372036854775809"},
    };
    return cr_make_param_array(struct word, rows, sizeof rows / sizeof rows[0]);
}

ParameterizedTest(struct word *row, base_number, refuses_what_is_no_integer)
{
    int64_t i = 77;
    uint64_t u = 77;
    cr_assert_not(emu_parse_i64(row->text, &i), "%s: %" PRId64, row->text, i);
    cr_assert_not(emu_parse_u64(row->text, &u), "%s: %" PRIu64, row->text, u);
    cr_assert_eq(i, 77);
    cr_assert_eq(u, 77u);
}

Test(base_number, reads_integers_to_their_limits)
{
    int64_t i;
    uint64_t u;
    cr_assert(emu_parse_u64("18446744073709551615", &u));
    cr_assert_eq(u, UINT64_MAX);
    cr_assert(emu_parse_u64("007", &u));
    cr_assert_eq(u, 7u);
    cr_assert(emu_parse_i64("9223372036854775807", &i));
    cr_assert_eq(i, INT64_MAX);
    cr_assert(emu_parse_i64("-9223372036854775808", &i));
    cr_assert_eq(i, INT64_MIN);
    cr_assert(emu_parse_i64("-0", &i));
    cr_assert_eq(i, 0);
    cr_assert_not(emu_parse_u64("-1", &u));
    cr_assert_not(emu_parse_i64("9223372036854775808", &i));
}
