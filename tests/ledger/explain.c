#include "ledger/explain.h"

#include <criterion/criterion.h>
#include <string.h>

static const struct emu_known_size sizes[] = {
    {.name = "dp", .size = 2},
    {.name = "tp", .size = 2, .suspect = true},
    {.name = "cp", .size = 3},
    {.name = "world", .size = 12},
    {.name = "microbatches", .size = 1, .words = "number of microbatches"},
    {.name = "tokens", .size = 35, .words = "number of valid tokens"},
    {.name = "sequences", .size = 11, .words = "number of sequences", .last_resort = true},
    {.name = "spare", .size = 2, .last_resort = true}};

static bool explained(int64_t n, int64_t d, const char *want)
{
    struct emu_rational ratio;
    cr_assert_eq(emu_rational_make(n, d, &ratio), EMU_OK);
    struct emu_text text = {0};
    bool found = emu_explain(ratio, sizes, sizeof sizes / sizeof sizes[0], &text);
    cr_assert_str_eq(emu_text_get(&text), want);
    emu_text_finish(&text);
    return found;
}

Test(ledger_explain, one_size_is_named_and_the_suspect_goes_first)
{
    cr_assert(explained(2, 1, "2 = size of tp or size of dp"));
    cr_assert(explained(3, 1, "3 = size of cp"));
    cr_assert(explained(1, 2, "1/2 = 1/tp or 1/dp"));
}

Test(ledger_explain, a_number_of_things_is_no_size_of_an_axis)
{
    cr_assert(explained(35, 1, "35 = number of valid tokens"));
    cr_assert(explained(1, 35, "1/35 = 1/tokens"));
}

Test(ledger_explain, a_size_of_last_resort_is_named_only_where_others_explain_nothing)
{
    cr_assert(explained(11, 1, "11 = number of sequences"));
    cr_assert(explained(2, 1, "2 = size of tp or size of dp"));
    cr_assert(explained(11, 3, "11/3 = sequences/cp"));
}

Test(ledger_explain, fewest_factors_win)
{
    cr_assert(explained(12, 1, "12 = size of world"));
    cr_assert(explained(4, 1, "4 = dp*tp or world/cp"));
    cr_assert(explained(1, 6, "1/6 = tp/world or 1/(tp*cp) or dp/world or 1/(dp*cp)"));
    cr_assert(explained(2, 35, "2/35 = tp/tokens or dp/tokens"));
}

Test(ledger_explain, what_no_product_gives_is_said)
{
    cr_assert_not(explained(3, 7, "no product of known sizes explains 3/7"));
    cr_assert_not(explained(-2, 1, "no product of known sizes explains -2"));
}
