/* Sets of sources in words. */
#include "check/source_words.h"

#include <criterion/criterion.h>
#include <string.h>

/* Sources of dp=3, cp=2 with 2 microbatches: microbatch fastest, then cp. */
static const struct emu_plan plan = {.shape = {3, 2, 2}};

/* members: one '1' or '0' a source; a '-' has no token. */
static void expect_words(const char *members, const char *want)
{
    bool in[12];
    uint64_t tokens[12];
    struct emu_text text = {0};
    cr_assert_eq(strlen(members), 12);
    for (int i = 0; i < 12; i++) {
        in[i] = members[i] == '1';
        tokens[i] = members[i] != '-';
    }
    emu_sources_words(&text, &plan, in, tokens);
    cr_expect_str_eq(emu_text_get(&text), want, "%s: %s", members, emu_text_get(&text));
    emu_text_finish(&text);
}

Test(check_source_words, a_choice_is_named_by_its_coordinates)
{
    expect_words("111100000000", "dp=0");
    expect_words("111100001111", "dp=0 and 2");
    expect_words("110011001100", "cp=0");
    expect_words("000011000000", "dp=1, cp=0");
    expect_words("101010101010", "microbatch 0 of every rank");
    expect_words("000001010000", "microbatch 1 of dp=1");
    expect_words("111111111111", "every source");
}

Test(check_source_words, sources_without_a_token_do_not_matter)
{
    expect_words("11--00000000", "dp=0, cp=0");
    expect_words("1010101-1010", "microbatch 0 of every rank");
}

Test(check_source_words, other_sets_are_listed)
{
    expect_words("100000000001", "dp=0,cp=0,mb=0; dp=2,cp=1,mb=1");
    expect_words("111111111110", "dp=0,cp=0,mb=0; dp=0,cp=0,mb=1; dp=0,cp=1,mb=0; dp=0,cp=1,mb=1; "
                                 "dp=1,cp=0,mb=0; dp=1,cp=0,mb=1; ... (11 sources)");
}
