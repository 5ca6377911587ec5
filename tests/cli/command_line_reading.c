#include "cli/command.h"
#include "cli/command_line.h"
#include "cli/exit_code.h"

#include <criterion/criterion.h>
#include <string.h>

static const struct emu_option options[] = {
    {"set", "KEY=VALUE", "", true},
    {"timeout", "T", "", false},
    {"time", NULL, "", false},
    {"help", NULL, "", false},
};
static const struct emu_command command = {
    .name = "probe", .operand = "CONFIG", .options = options, .option_count = 4};

static struct emu_arguments arguments;
static struct emu_text error;

/* Words end with NULL; getopt_long permutes the copy. */
static enum emu_status read_words(const char *const *words)
{
    static char room[16][64];
    static char *argv[17];
    int argc = 0;
    for (; words[argc]; argc++) {
        strcpy(room[argc], words[argc]);
        argv[argc] = room[argc];
    }
    argv[argc] = NULL;
    return emu_arguments_read(&command, argc, argv, &error, &arguments);
}

#define READ(...) read_words((const char *const[]){"probe", __VA_ARGS__, NULL})

static void reset(void)
{
    emu_text_finish(&error);
    arguments = (struct emu_arguments){0};
}

static void finish(void)
{
    emu_arguments_finish(&arguments);
    emu_text_finish(&error);
}

TestSuite(cli_arguments, .init = reset, .fini = finish);

Test(cli_arguments, keep_the_order_of_what_repeats)
{
    cr_assert_eq(READ("--set", "a=1", "file", "--set=b=2"), EMU_OK);
    cr_assert_eq(arguments.given_count, 2u);
    cr_assert_str_eq(arguments.given[0].value, "a=1");
    cr_assert_str_eq(arguments.given[1].value, "b=2");
    cr_assert_str_eq(arguments.operand, "file");
}

Test(cli_arguments, take_an_exact_name_that_begins_another)
{
    cr_assert_eq(READ("--time"), EMU_OK);
    cr_assert(emu_arguments_has(&arguments, "time"));
    cr_assert_not(emu_arguments_has(&arguments, "timeout"));
    cr_assert_null(arguments.operand);
}

Test(cli_arguments, leave_dashes_in_values_alone)
{
    cr_assert_eq(READ("--set", "--unknown=1", "--timeout", "-5"), EMU_OK);
    cr_assert_str_eq(emu_arguments_value(&arguments, "set"), "--unknown=1");
    cr_assert_str_eq(emu_arguments_value(&arguments, "timeout"), "-5");
}

Test(cli_arguments, end_options_at_two_dashes)
{
    cr_assert_eq(READ("--time", "--", "--set"), EMU_OK);
    cr_assert_str_eq(arguments.operand, "--set");
}

Test(cli_arguments, quote_the_replay_for_a_shell)
{
    cr_assert_eq(READ("--set", "a=b c", "--set", "it's", "--set", "", "x.yaml"), EMU_OK);
    cr_assert_str_eq(arguments.replay,
                     "meshemu probe --set 'a=b c' --set 'it'\\''s' --set '' x.yaml");
}

Test(cli_arguments, refuse_prefixes_and_repeats)
{
    cr_assert_eq(READ("--timeo", "1s"), EMU_EPARSE);
    cr_assert_str_eq(emu_text_get(&error), "unknown option --timeo; did you mean --timeout?");
    emu_text_finish(&error);
    cr_assert_eq(READ("--time", "--time"), EMU_EPARSE);
    cr_assert_str_eq(emu_text_get(&error), "--time is given twice");
    emu_text_finish(&error);
    cr_assert_eq(READ("a", "b"), EMU_EPARSE);
    cr_assert_str_eq(emu_text_get(&error), "unexpected argument 'b': one CONFIG is taken");
    emu_text_finish(&error);
    cr_assert_eq(READ("--=1"), EMU_EPARSE);
    cr_assert_str_eq(emu_text_get(&error), "unknown option --");
}

Test(cli_command, every_row_can_be_found_and_explains_itself)
{
    for (size_t i = 0; i < emu_command_count; i++) {
        const struct emu_command *row = emu_commands[i];
        cr_assert_eq(emu_command_find(row->name), row);
        cr_assert_not_null(row->run);
        cr_assert(*row->summary && *row->details);
        bool has_help = false;
        for (size_t j = 0; j < row->option_count; j++) {
            has_help = has_help || strcmp(row->options[j].name, "help") == 0;
            cr_assert(*row->options[j].help, "--%s", row->options[j].name);
            cr_assert_leq(strlen(row->options[j].help), 56u, "--%s", row->options[j].name);
        }
        cr_assert(has_help, "%s", row->name);
    }
    cr_assert_null(emu_command_find("nothing"));
}

Test(cli_exit_code, follows_the_status)
{
    cr_assert_eq(emu_exit_of(EMU_OK), 0);
    cr_assert_eq(emu_exit_of(EMU_EPARSE), 2);
    cr_assert_eq(emu_exit_of(EMU_ENOMEM), 3);
    cr_assert_eq(emu_exit_of(EMU_ESYSTEM), 3);
    cr_assert_eq(emu_exit_of(EMU_EINTERNAL), 70);
}
