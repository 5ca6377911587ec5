/* --set a.b=c */
#include "config_reader.h"

#include <criterion/criterion.h>
#include <string.h>

#define FILE_TEXT "mesh: dp=2\nmodel: {kind: mlp_lm, hidden: 64}\ndata: {text: a.txt}\n"

#define SETS(...) ((const char *const[]){__VA_ARGS__, NULL})

static struct reading_result good(const char *const *sets)
{
    struct reading_result r = read_with(FILE_TEXT, sets);
    cr_assert_eq(r.status, EMU_OK, "%s", emu_text_get(&r.diagnostics));
    return r;
}

static void expect_error(const char *const *sets, const char *wanted)
{
    struct reading_result r = read_with(FILE_TEXT, sets);
    cr_expect_eq(r.status, EMU_EPARSE);
    cr_expect_str_eq(emu_text_get(&r.diagnostics), wanted);
    reading_finish(&r);
}

Test(config_set, override_replaces_the_value_of_the_file)
{
    struct reading_result r = good(SETS("model.hidden=3", "mesh=dp=4,tp=1", "train.steps=5"));
    cr_expect_eq(r.config->model.hidden, 3);
    cr_expect_eq(r.config->mesh.world, 4);
    cr_expect_eq(r.config->train.steps, 5);
    reading_finish(&r);
}

Test(config_set, last_override_of_a_key_wins)
{
    struct reading_result r = good(SETS("train.steps=5", "train={seed: 4}", "train.steps=6"));
    cr_expect(r.config->train.steps == 6 && r.config->train.seed == 4);
    reading_finish(&r);
}

Test(config_set, value_is_yaml_flow)
{
    struct reading_result r =
        good(SETS("faults=[\"crash rank=0\", nan rank=1]", "recipe={reduce: [{over: dp}]}",
                  "recipe.clip.max_norm=2", "stall_after=null"));
    cr_expect_eq(r.config->fault_count, 2);
    cr_expect_eq(r.config->recipe.reduce_count, 1);
    cr_expect_eq(r.config->recipe.clip_max_norm, 2);
    reading_finish(&r);
}

Test(config_set, path_is_relative_to_the_working_directory_and_taken_as_it_stands)
{
    struct reading_result r = good(SETS("data.text=my: file #1 [x].txt"));
    cr_expect_str_eq(r.config->data.text, "my: file #1 [x].txt");
    reading_finish(&r);
    r = good(SETS("data.text='quoted # name'"));
    cr_expect_str_eq(r.config->data.text, "quoted # name");
    reading_finish(&r);
    r = good(SETS("train.steps=1"));
    cr_expect_str_eq(r.config->data.text, "place/a.txt");
    reading_finish(&r);
}

Test(config_set, null_leaves_a_section_out)
{
    struct reading_result r = good(SETS("data=null"));
    cr_expect_not(r.config->has_data);
    reading_finish(&r);
}

Test(config_set, override_alone_makes_a_config)
{
    struct reading_result r = read_with("", SETS("mesh=dp=2"));
    cr_expect_eq(r.status, EMU_OK);
    reading_finish(&r);
}

Test(config_set, errors_name_the_option)
{
    expect_error(SETS("model.hiden=3"), "--set model.hiden=3: error: unknown key 'hiden' in "
                                        "'model'\nnote: did you mean 'hidden'?\n");
    expect_error(SETS("modle.hidden=3"), "--set modle.hidden=3: error: unknown key 'modle'\n"
                                         "note: did you mean 'model'?\n");
    expect_error(SETS("train.steps=0x10"),
                 "--set train.steps=0x10: error: 'train.steps' must be a whole number, at least "
                 "1, not '0x10'\nnote: write the number in decimal\n");
    expect_error(SETS("mesh=dp=0"),
                 "--set mesh=dp=0: error: axis 'dp' has size '0': a whole number "
                 "of at least 1 is allowed\n");
    expect_error(SETS("recipe.scale_grad=1/tokns"),
                 "--set recipe.scale_grad=1/tokns: error: 'recipe.scale_grad': 'tokns' is no axis "
                 "of the mesh and none of tokens, local_tokens, micro_tokens, sequences, "
                 "microbatches, world; did you mean 'tokens'?\n");
}

Test(config_set, malformed_options_are_refused)
{
    static const char *const bad[] = {"steps", "=3", ".a=3", "a.=3", "a..b=3", ""};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct reading_result r = read_with(FILE_TEXT, SETS(bad[i]));
        cr_expect_eq(r.status, EMU_EPARSE, "'%s'", bad[i]);
        cr_expect_not_null(strstr(emu_text_get(&r.diagnostics),
                                  "an override is KEY=VALUE, such as train.steps=5"));
        reading_finish(&r);
    }
}

Test(config_set, broken_values_are_refused)
{
    expect_error(SETS("train={steps: 5"),
                 "--set train={steps: 5: error: not YAML: did not find expected ',' or '}'\n"
                 "note: while parsing a flow mapping that begins in line 1\n");
    expect_error(SETS("train="), "--set train=: error: 'train' must be a mapping, not nothing "
                                 "(null)\n");
    expect_error(SETS("mesh.axes=dp=2"),
                 "--set mesh.axes=dp=2: error: 'mesh' is given as text; set it as a whole\n");
    expect_error(SETS("data.text=a\x1b[2J"),
                 "--set data.text=a?[2J: error: character U+001B is not allowed\n");
}

Test(config_set, errors_of_the_file_come_first)
{
    struct reading_result r = read_with("mesh: dp=2\nx: 1\n", SETS("y=1"));
    cr_expect_str_eq(emu_text_get(&r.diagnostics), "test.yaml:2:1: error: unknown key 'x'\n"
                                                   "    2 | x: 1\n"
                                                   "      | ^\n"
                                                   "--set y=1: error: unknown key 'y'\n");
    reading_finish(&r);
}
