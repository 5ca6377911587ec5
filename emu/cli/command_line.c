#include "cli/command_line.h"

#include "base/suggest.h"
#include "cli/command.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>

/* Value of getopt_long for option i; above every character. */
#define FIRST_VALUE 256

/* The option of this name of `size` bytes, or NULL. */
static const struct emu_option *find_option(const struct emu_command *command, const char *name,
                                            size_t size)
{
    for (size_t i = 0; i < command->option_count; i++)
        if (strlen(command->options[i].name) == size &&
            memcmp(command->options[i].name, name, size) == 0)
            return &command->options[i];
    return NULL;
}

static enum emu_status unknown_option(const struct emu_command *command, const char *argument,
                                      size_t size, struct emu_text *error)
{
    const char **names = malloc(command->option_count * sizeof *names);
    char *word = strndup(argument + 2, size);
    if (!names || !word) {
        free(names);
        free(word);
        return EMU_ENOMEM;
    }
    const char *begun = NULL; /* an option that the word is the start of */
    for (size_t i = 0; i < command->option_count; i++) {
        names[i] = command->options[i].name;
        if (size > 0 && strncmp(names[i], word, size) == 0)
            begun = begun ? begun : names[i];
    }
    const char *near = begun ? begun : emu_suggest(word, names, command->option_count);
    emu_text_printf(error, "unknown option --%s", word);
    if (near)
        emu_text_printf(error, "; did you mean --%s?", near);
    free(names);
    free(word);
    return EMU_EPARSE;
}

/* Is every long option spelled in full? Arguments of options are stepped over. */
static enum emu_status check_names(const struct emu_command *command, int argc, char **argv,
                                   struct emu_text *error)
{
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
        if (strncmp(argv[i], "--", 2) != 0)
            continue;
        size_t size = strcspn(argv[i] + 2, "=");
        const struct emu_option *option = find_option(command, argv[i] + 2, size);
        if (!option)
            return unknown_option(command, argv[i], size, error);
        if (option->argument && argv[i][2 + size] == '\0')
            i++;
    }
    return EMU_OK;
}

/* The table in getopt_long's form, for free(); NULL: no memory. */
static struct option *getopt_table(const struct emu_command *command)
{
    struct option *table = calloc(command->option_count + 1, sizeof *table);
    if (!table)
        return NULL;
    for (size_t i = 0; i < command->option_count; i++)
        table[i] = (struct option){.name = command->options[i].name,
                                   .has_arg = command->options[i].argument ? required_argument
                                                                           : no_argument,
                                   .val = FIRST_VALUE + (int)i};
    return table;
}

static enum emu_status take_option(struct emu_arguments *arguments, const struct emu_option *option,
                                   const char *value, struct emu_text *error)
{
    if (!option->repeats && emu_arguments_has(arguments, option->name)) {
        emu_text_printf(error, "--%s is given twice", option->name);
        return EMU_EPARSE;
    }
    arguments->given[arguments->given_count++] = (struct emu_given){option, value};
    return EMU_OK;
}

/* Why getopt_long stopped: `answer` is ':' (argument missing) or '?'. */
static enum emu_status refuse_option(const struct emu_command *command, int answer, char **argv,
                                     struct emu_text *error)
{
    if (optopt >= FIRST_VALUE) {
        const struct emu_option *option = &command->options[optopt - FIRST_VALUE];
        if (answer == ':')
            emu_text_printf(error, "--%s needs %s", option->name, option->argument);
        else
            emu_text_printf(error, "--%s takes no value", option->name);
    } else if (optopt) {
        emu_text_printf(error, "unknown option -%c; options are written in full, as --help",
                        optopt);
    } else {
        emu_text_printf(error, "unknown option %s", argv[optind - 1]);
    }
    return EMU_EPARSE;
}

/* "OP...": any number of operands. */
static bool takes_many(const struct emu_command *command)
{
    size_t size = strlen(command->operand);
    return size >= 3 && strcmp(command->operand + size - 3, "...") == 0;
}

static enum emu_status take_options(struct emu_arguments *arguments, const struct option *table,
                                    int argc, char **argv, struct emu_text *error)
{
    const struct emu_command *command = arguments->command;
    optind = 0; /* start afresh */
    opterr = 0;
    int answer;
    while ((answer = getopt_long(argc, argv, ":h", table, NULL)) != -1) {
        const struct emu_option *option = NULL;
        if (answer >= FIRST_VALUE)
            option = &command->options[answer - FIRST_VALUE];
        else if (answer == 'h')
            option = find_option(command, "help", 4);
        enum emu_status status = option ? take_option(arguments, option, optarg, error)
                                        : refuse_option(command, answer, argv, error);
        if (status != EMU_OK)
            return status;
    }
    if (optind < argc && !command->operand) {
        emu_text_printf(error, "unexpected argument '%s'", argv[optind]);
        return EMU_EPARSE;
    }
    if (optind + 1 < argc && !takes_many(command)) {
        emu_text_printf(error, "unexpected argument '%s': one %s is taken", argv[optind + 1],
                        command->operand);
        return EMU_EPARSE;
    }
    arguments->operand = optind < argc ? argv[optind] : NULL;
    arguments->operands = argv + optind;
    arguments->operand_count = (size_t)(argc - optind);
    return EMU_OK;
}

/* Append the word as a POSIX shell reads it back. */
static void quote(struct emu_text *text, const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                "0123456789_-+=:,./@%^";
    if (*word && word[strspn(word, plain)] == '\0') {
        emu_text_puts(text, word);
        return;
    }
    emu_text_putc(text, '\'');
    for (; *word; word++) {
        if (*word == '\'')
            emu_text_puts(text, "'\\''");
        else
            emu_text_putc(text, *word);
    }
    emu_text_putc(text, '\'');
}

static char *replay_of(int argc, char **argv)
{
    struct emu_text text = {0};
    emu_text_puts(&text, "meshemu");
    for (int i = 0; i < argc; i++) {
        emu_text_putc(&text, ' ');
        quote(&text, argv[i]);
    }
    return emu_text_take(&text);
}

enum emu_status emu_arguments_read(const struct emu_command *command, int argc, char **argv,
                                   struct emu_text *error, struct emu_arguments *arguments)
{
    struct emu_arguments made = {.command = command};
    enum emu_status status = check_names(command, argc, argv, error);
    if (status != EMU_OK)
        return status;
    struct option *table = getopt_table(command);
    made.given = calloc((size_t)argc, sizeof *made.given);
    made.replay = replay_of(argc, argv);
    status = EMU_ENOMEM;
    if (table && made.given && made.replay)
        status = take_options(&made, table, argc, argv, error);
    free(table);
    if (status != EMU_OK) {
        emu_arguments_finish(&made);
        return status;
    }
    *arguments = made;
    return EMU_OK;
}

void emu_arguments_finish(struct emu_arguments *arguments)
{
    free(arguments->given);
    free(arguments->replay);
    *arguments = (struct emu_arguments){0};
}

bool emu_arguments_has(const struct emu_arguments *arguments, const char *option)
{
    for (size_t i = 0; i < arguments->given_count; i++)
        if (strcmp(arguments->given[i].option->name, option) == 0)
            return true;
    return false;
}

const char *emu_arguments_value(const struct emu_arguments *arguments, const char *option)
{
    for (size_t i = 0; i < arguments->given_count; i++)
        if (strcmp(arguments->given[i].option->name, option) == 0)
            return arguments->given[i].value;
    return NULL;
}
