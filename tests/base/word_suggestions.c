#include "base/suggest.h"

#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <string.h>

static const char *const known[] = {"mesh",      "model", "data",      "recipe",
                                    "optimizer", "tp",    "activation"};

struct guess {
    char word[32];
    char meant[16]; /* "": nothing is near */
};

ParameterizedTestParameters(base_suggest, finds_the_nearest_word)
{
    static struct guess rows[] = {
        {"mesh", "mesh"},
        {"mehs", "mesh"},
        {"mes", "mesh"},
        {"emsh", "mesh"},
        {"modle", "model"},
        {"optimiser", "optimizer"},
        {"activatoin", "activation"},
        {"recpie", "recipe"},
        {"tq", "tp"},
        {"xq", ""},
        {"", ""},
        {"zzzz", ""},
        {"something_else", ""},
        {"MESH", ""},
    };
    return cr_make_param_array(struct guess, rows, sizeof rows / sizeof rows[0]);
}

ParameterizedTest(struct guess *row, base_suggest, finds_the_nearest_word)
{
    const char *got = emu_suggest(row->word, known, sizeof known / sizeof known[0]);
    cr_assert_str_eq(got ? got : "", row->meant, "%s", row->word);
}

Test(base_suggest, takes_the_first_of_equals)
{
    const char *const twins[] = {"cat", "car"};
    cr_assert_str_eq(emu_suggest("cas", twins, 2), "cat");
}

Test(base_suggest, copes_with_endless_words_and_no_words)
{
    char endless[1000];
    memset(endless, 'm', sizeof endless);
    endless[sizeof endless - 1] = '\0';
    cr_assert_null(emu_suggest(endless, known, 7));
    const char *const list[] = {endless};
    cr_assert_null(emu_suggest("mm", list, 1));
    cr_assert_null(emu_suggest("mm", NULL, 0));
}
