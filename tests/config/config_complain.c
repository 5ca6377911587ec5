/* Complaints of higher rows about keys of a config that was read. */
#include "config_reader.h"

#include <criterion/criterion.h>

#define FILE_TEXT                                                                                  \
    "# case\n"                                                                                     \
    "mesh: dp=2\n"                                                                                 \
    "model:\n"                                                                                     \
    "  hidden: 64\n"                                                                               \
    "recipe: {reduce: [{over: dp}, {over: [dp, tp]}]}\n"                                           \
    "faults: [a, bb]\n"

static void expect_place(const char *key, const char *wanted)
{
    struct reading_result r = read_with(FILE_TEXT, (const char *const[]){"train.steps=3", NULL});
    cr_assert_eq(r.status, EMU_OK, "%s", emu_text_get(&r.diagnostics));
    struct emu_text out = {0};
    emu_config_complain(r.config, &out, key, "%s %d", "wrong", 1);
    cr_expect_str_eq(emu_text_get(&out), wanted, "%s: %s", key, emu_text_get(&out));
    emu_text_finish(&out);
    reading_finish(&r);
}

Test(config_complain, points_at_the_value)
{
    expect_place("model.hidden", "test.yaml:4:11: error: wrong 1\n"
                                 "    4 |   hidden: 64\n"
                                 "      |           ^~\n");
}

Test(config_complain, points_into_lists)
{
    expect_place("recipe.reduce[1].over[1]",
                 "test.yaml:5:43: error: wrong 1\n"
                 "    5 | recipe: {reduce: [{over: dp}, {over: [dp, tp]}]}\n"
                 "      |                                           ^~\n");
    expect_place("faults[1]", "test.yaml:6:13: error: wrong 1\n"
                              "    6 | faults: [a, bb]\n"
                              "      |             ^~\n");
}

Test(config_complain, points_at_the_section_of_a_default)
{
    expect_place("model.layers", "test.yaml:3:1: error: wrong 1\n"
                                 "    3 | model:\n"
                                 "      | ^~~~~\n");
}

Test(config_complain, points_at_the_file_where_nothing_was_given)
{
    expect_place("optimizer.lr", "test.yaml:1:1: error: wrong 1\n"
                                 "    1 | # case\n"
                                 "      | ^\n");
}

Test(config_complain, names_the_option_that_gave_the_value)
{
    expect_place("train.steps", "--set train.steps=3: error: wrong 1\n");
}
