#include "cli/lab_prompt.h"

#include "base/number.h"
#include "base/suggest.h"
#include "cli/exit_code.h"
#include "os/stream.h"
#include "os/terminal.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LINE_MOST 512
#define HISTORY_MOST 1000
#define WORDS_MOST 12

/* Bytes are read here and not through stdin: a forked process that flushes its streams would move
 * the place in a file that both read. */
struct reader {
    char bytes[4096];
    size_t count, at;
    bool ended;
};

struct prompt {
    struct emu_lab *lab;
    struct reader reader;
    char *history[HISTORY_MOST];
    uint32_t remembered;
    bool quit;
    int code;
};

static int next_byte(struct reader *reader)
{
    if (reader->at == reader->count && !reader->ended) {
        ssize_t got = emu_stream_read(STDIN_FILENO, reader->bytes, sizeof reader->bytes);
        reader->ended = got <= 0;
        reader->count = got > 0 ? (size_t)got : 0;
        reader->at = 0;
    }
    return reader->at < reader->count ? (unsigned char)reader->bytes[reader->at++] : -1;
}

/* One line without its end, control bytes as blanks; what is too long is cut and reported. false:
 * nothing is left. */
static bool read_line(struct reader *reader, char line[LINE_MOST], bool *cut)
{
    size_t used = 0;
    int byte = next_byte(reader);
    bool any = byte >= 0;
    *cut = false;
    for (; byte >= 0 && byte != '\n'; byte = next_byte(reader)) {
        if (used == LINE_MOST - 1)
            *cut = true;
        else
            line[used++] = (char)(byte < ' ' || byte == 0x7f ? ' ' : byte);
    }
    line[used] = '\0';
    return any;
}

static void remember(struct prompt *p, const char *line)
{
    if (p->remembered == HISTORY_MOST) {
        free(p->history[0]);
        memmove(p->history, p->history + 1, (HISTORY_MOST - 1) * sizeof p->history[0]);
        p->remembered--;
    }
    char *copy = strdup(line);
    if (copy)
        p->history[p->remembered++] = copy;
}

static void print_state(const struct emu_lab *lab)
{
    printf("n=%" PRIu32 " k=%" PRIu32 " majority=%" PRIu32, lab->n, lab->k, lab->majority);
    if (lab->has_prediction)
        printf(" predict=%" PRIu32, lab->prediction);
    if (lab->has_mesh) {
        fputs(" mesh=", stdout);
        for (uint32_t i = 0; i < lab->mesh.axis_count; i++)
            printf("%s%s=%" PRIu32, i ? "," : "", lab->mesh.axes[i].name, lab->mesh.axes[i].size);
    }
    putchar('\n');
}

/* "n 8" or "n=8", several of them. The name ends at the first '='; a mesh has more behind it. */
static void set(struct prompt *p, char **words, uint32_t count)
{
    char error[EMU_LAB_ERROR_MAX];
    if (!count)
        puts("set what? as in: set n 8, set k=2 majority=5, set mesh dp=2,tp=2");
    for (uint32_t i = 0; i < count; i++) {
        char *value = strchr(words[i], '=');
        if (value)
            *value++ = '\0';
        else if (i + 1 < count)
            value = words[i + 1];
        if (!value || !*value) {
            printf("set %s to what?\n", words[i]);
            return;
        }
        bool next = value == (i + 1 < count ? words[i + 1] : NULL);
        if (!emu_lab_set(p->lab, words[i], value, error)) {
            puts(error);
            return;
        }
        i += next;
    }
    print_state(p->lab);
}

static void predict(struct prompt *p, char **words, uint32_t count)
{
    char error[EMU_LAB_ERROR_MAX];
    if (count != 1)
        puts("predict how many are up? as in: predict 4");
    else if (!emu_lab_set(p->lab, "predict", words[0], error))
        puts(error);
    else
        print_state(p->lab);
}

static void step(struct prompt *p, char **words, uint32_t count)
{
    struct emu_lab_result result;
    struct emu_reason reason;
    (void)words;
    (void)count;
    if (emu_lab_step(p->lab, &result, &reason) == EMU_OK)
        emu_lab_print_result(p->lab, &result, stdout);
    else
        puts(reason.text);
}

static void reset(struct prompt *p, char **words, uint32_t count)
{
    emu_lab_reset(p->lab);
    if (count)
        set(p, words, count);
    else
        print_state(p->lab);
}

static void show(struct prompt *p, char **words, uint32_t count)
{
    (void)words;
    (void)count;
    print_state(p->lab);
}

static void history(struct prompt *p, char **words, uint32_t count)
{
    (void)words;
    (void)count;
    for (uint32_t i = 0; i < p->remembered; i++)
        printf("%4" PRIu32 "  %s\n", i + 1, p->history[i]);
}

static void quit(struct prompt *p, char **words, uint32_t count)
{
    (void)words;
    (void)count;
    p->quit = true;
}

static void help(struct prompt *p, char **words, uint32_t count);

static const struct word {
    const char *name, *help;
    void (*run)(struct prompt *p, char **words, uint32_t count);
} commands[] = {
    {"reset", "n=4, k=0, majority 3, no prediction, no mesh; reset k=1 sets some at once", reset},
    {"set", "n, k, majority, predict or mesh: set n 8, set mesh dp=2,tp=2, set mesh none", set},
    {"predict", "say how many will be up: predict 4", predict},
    {"step", "fork n processes, kill k, count who answers", step},
    {"show", "print what is set", show},
    {"history", "list what was typed; !3 does line 3 again, !! the last one", history},
    {"help", "this list", help},
    {"quit", "leave (or end the input)", quit},
};

#define COMMANDS (sizeof commands / sizeof commands[0])

static void help(struct prompt *p, char **words, uint32_t count)
{
    (void)p;
    (void)words;
    (void)count;
    for (size_t i = 0; i < COMMANDS; i++)
        printf("  %-8s %s\n", commands[i].name, commands[i].help);
}

static void refuse(const char *name)
{
    const char *names[COMMANDS];
    for (size_t i = 0; i < COMMANDS; i++)
        names[i] = commands[i].name;
    const char *near = emu_suggest(name, names, COMMANDS);
    printf("unknown command '%.40s'; %s%s%s\n", name, near ? "did you mean " : "help lists all",
           near ? near : "", near ? "?" : "");
}

/* "!3", "!!": put the line meant into `line`. false: there is none. */
static bool recall(const struct prompt *p, char line[LINE_MOST])
{
    uint64_t number = p->remembered;
    if (strcmp(line, "!!") != 0 && !emu_parse_u64(line + 1, &number))
        number = 0;
    if (number < 1 || number > p->remembered)
        return false;
    snprintf(line, LINE_MOST, "%s", p->history[number - 1]);
    puts(line);
    return true;
}

static void perform(struct prompt *p, char line[LINE_MOST])
{
    char *words[WORDS_MOST];
    uint32_t count = 0;
    char *rest = NULL;
    for (char *word = strtok_r(line, " ", &rest); word && count < WORDS_MOST;
         word = strtok_r(NULL, " ", &rest))
        words[count++] = word;
    if (!count)
        return;
    for (size_t i = 0; i < COMMANDS; i++) {
        if (!strcmp(words[0], commands[i].name)) {
            commands[i].run(p, words + 1, count - 1);
            return;
        }
    }
    refuse(words[0]);
}

static void take_line(struct prompt *p, char line[LINE_MOST], bool cut)
{
    if (cut) {
        printf("a line has at most %d bytes\n", LINE_MOST - 1);
        return;
    }
    memmove(line, line + strspn(line, " "), strlen(line + strspn(line, " ")) + 1);
    if (line[0] == '!' && !recall(p, line)) {
        puts("no such line; history lists them");
    } else if (line[0]) {
        remember(p, line);
        perform(p, line);
    }
}

int emu_lab_prompt(struct emu_lab *lab)
{
    struct prompt *p = calloc(1, sizeof *p);
    char line[LINE_MOST];
    bool cut;
    if (!p)
        return EMU_EXIT_SYSTEM;
    p->lab = lab;
    bool person = emu_terminal_is(STDIN_FILENO) && emu_terminal_is(STDOUT_FILENO);
    if (person)
        puts("The reliability lab: help lists the commands.");
    print_state(lab);
    while (!p->quit && !ferror(stdout)) {
        if (person)
            fputs("lab> ", stdout);
        fflush(stdout);
        if (!read_line(&p->reader, line, &cut))
            break;
        take_line(p, line, cut);
    }
    if (person && !p->quit)
        putchar('\n');
    for (uint32_t i = 0; i < p->remembered; i++)
        free(p->history[i]);
    free(p);
    return EMU_EXIT_PASS;
}
