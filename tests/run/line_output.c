/* What becomes of what the ranks write? */
#include "run/job_maker.h"
#include "run/line_tag.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

TestSuite(run_output, .timeout = 60);

static void feed(struct emu_line_tag *tag, struct emu_text *out, const char *bytes)
{
    emu_line_tag_feed(tag, bytes, strlen(bytes), out);
}

Test(run_output, lines_are_tagged_wherever_the_reads_cut_them)
{
    struct emu_line_tag tag;
    struct emu_text out = {0};
    emu_line_tag_init(&tag, 12, false);
    feed(&tag, &out, "a");
    cr_assert_eq(out.size, 0);
    feed(&tag, &out, "b\n\nc\nd");
    emu_line_tag_end(&tag, &out);
    emu_line_tag_end(&tag, &out);
    cr_assert_str_eq(emu_text_get(&out), "[12] ab\n[12] \n[12] c\n[12] d\n");
    emu_text_finish(&out);
}

Test(run_output, colour_goes_around_the_tag_alone)
{
    struct emu_line_tag tag;
    struct emu_text out = {0};
    emu_line_tag_init(&tag, 7, true);
    feed(&tag, &out, "x\n");
    cr_assert_str_eq(emu_text_get(&out), "\033[32m[7]\033[0m x\n");
    emu_text_finish(&out);
}

Test(run_output, a_line_of_just_the_room_is_one_line)
{
    struct emu_line_tag tag;
    struct emu_text out = {0};
    char line[EMU_LINE_ROOM + 1];
    memset(line, 'x', sizeof line);
    emu_line_tag_init(&tag, 0, false);
    emu_line_tag_feed(&tag, line, EMU_LINE_ROOM, &out);
    feed(&tag, &out, "\n");
    cr_assert_eq(out.size, 4 + EMU_LINE_ROOM + 1);
    emu_line_tag_feed(&tag, line, EMU_LINE_ROOM + 1, &out);
    feed(&tag, &out, "\n");
    cr_assert_eq(out.size, 3 * 5 + 2 * EMU_LINE_ROOM + 1);
    emu_text_finish(&out);
}

/* Run the body with its output in a file, and read that. */
static char *output_of(struct job_maker *maker, size_t *size)
{
    char name[] = "/tmp/meshemu-output-XXXXXX";
    int file = mkstemp(name);
    unlink(name);
    maker->job.output_fd = file;
    run_job(maker);
    *size = (size_t)lseek(file, 0, SEEK_END);
    char *bytes = calloc(1, *size + 1);
    cr_assert_eq(pread(file, bytes, *size, 0), (ssize_t)*size);
    close(file);
    return bytes;
}

static int speak(struct emu_rank *rank, void *user)
{
    (void)user;
    uint32_t world;
    if (emu_rank_group(rank, "world", &world) != EMU_OK)
        return 1;
    for (uint32_t turn = 0; turn < 2; turn++) {
        if (emu_rank_id(rank) == turn)
            printf("hello from %u\nand no newline", (unsigned)turn);
        if (emu_barrier(rank, world) != EMU_OK)
            return 1;
    }
    return 0;
}

Test(run_output, each_line_says_whose_it_is)
{
    struct job_maker maker;
    size_t size;
    make_job(&maker, "dp=2", speak, NULL);
    char *text = output_of(&maker, &size);
    cr_assert_eq(size, 2 * strlen("[0] hello from 0\n[0] and no newline\n"));
    cr_assert_not_null(strstr(text, "[0] hello from 0\n"));
    cr_assert_not_null(strstr(text, "[0] and no newline\n"));
    cr_assert_not_null(strstr(text, "[1] hello from 1\n"));
    free(text);
    finish_job(&maker);
}

Test(run_output, one_rank_alone_is_shown_where_asked)
{
    struct job_maker maker;
    size_t size;
    make_job(&maker, "dp=2", speak, NULL);
    maker.job.only_output = 1;
    char *text = output_of(&maker, &size);
    cr_assert_str_eq(text, "[1] hello from 1\n[1] and no newline\n");
    free(text);
    finish_job(&maker);
}

static int write_binary(struct emu_rank *rank, void *user)
{
    (void)rank;
    (void)user;
    fwrite("a\0\xff\x80z\n\0", 1, 7, stdout);
    return 0;
}

Test(run_output, bytes_pass_as_they_are)
{
    static const char expected[] = "[0] a\0\xff\x80z\n[0] \0\n";
    struct job_maker maker;
    size_t size;
    make_job(&maker, "dp=1", write_binary, NULL);
    char *text = output_of(&maker, &size);
    cr_assert_eq(size, sizeof expected - 1);
    cr_assert_arr_eq(text, expected, size);
    free(text);
    finish_job(&maker);
}

static int say_and_die(struct emu_rank *rank, void *user)
{
    (void)rank;
    (void)user;
    printf("last words\nnot flushed");
    raise(SIGKILL);
    return 0;
}

Test(run_output, the_last_line_before_a_death_is_shown)
{
    struct job_maker maker;
    size_t size;
    make_job(&maker, "dp=1", say_and_die, NULL);
    char *text = output_of(&maker, &size);
    cr_assert_str_eq(text, "[0] last words\n");
    free(text);
    finish_job(&maker);
}

#define FLOOD_LINES 100000

/* Rank 0 floods; rank 1 has one line to say. */
static int flood(struct emu_rank *rank, void *user)
{
    (void)user;
    if (emu_rank_id(rank) == 1) {
        printf("one line\n");
        return 0;
    }
    for (int i = 0; i < FLOOD_LINES; i++)
        printf("line %d of many, long enough to fill the pipe soon\n", i);
    return 0;
}

Test(run_output, a_flood_is_whole_and_drowns_nobody)
{
    struct job_maker maker;
    size_t size, lines = 0;
    make_job(&maker, "dp=2", flood, NULL);
    char *text = output_of(&maker, &size);
    cr_assert_not_null(strstr(text, "[1] one line\n"));
    long next = 0;
    for (char *line = text; *line; line = strchr(line, '\n') + 1) {
        lines++;
        if (line[1] == '0')
            cr_assert(strncmp(line, "[0] line ", 9) == 0 && strtol(line + 9, NULL, 10) == next++);
    }
    cr_assert_eq(lines, FLOOD_LINES + 1);
    free(text);
    finish_job(&maker);
}

static int read_input(struct emu_rank *rank, void *user)
{
    (void)rank;
    (void)user;
    char byte;
    return read(STDIN_FILENO, &byte, 1) == 0 ? 0 : 1;
}

Test(run_output, the_input_of_a_rank_is_empty)
{
    struct job_maker maker;
    make_job(&maker, "dp=2", read_input, NULL);
    run_job(&maker);
    cr_assert_eq(maker.result.findings.count, 0);
    finish_job(&maker);
}

/* Nobody reads the output, and rank 1 dies: the run ends all the same once the reader comes. */
static int fill_and_die(struct emu_rank *rank, void *user)
{
    (void)user;
    if (emu_rank_id(rank) == 1) {
        sleep_ms(100);
        raise(SIGKILL);
    }
    while (emu_rank_world(rank) > 0)
        printf("a line that nobody reads for now\n");
    return 0;
}

/* Reads nothing until the launcher has seen the death and begun to end the run. */
struct sleeper {
    int ends[2];
    atomic_bool awake;
};

static void wake_reader(const struct emu_segment *segment, void *user)
{
    struct sleeper *sleeper = user;
    while (!emu_abort_look(segment))
        sleep_ms(5);
    atomic_store_explicit(&sleeper->awake, true, memory_order_release);
}

static void *read_late(void *context)
{
    struct sleeper *sleeper = context;
    char bytes[4096];
    while (!atomic_load_explicit(&sleeper->awake, memory_order_acquire))
        sleep_ms(5);
    while (read(sleeper->ends[0], bytes, sizeof bytes) > 0)
        ;
    return NULL;
}

Test(run_output, a_reader_that_sleeps_does_not_blind_the_launcher)
{
    struct job_maker maker;
    struct sleeper sleeper = {.awake = false};
    pthread_t reader;
    cr_assert(emu_stream_pipe(sleeper.ends));
    cr_assert_eq(pthread_create(&reader, NULL, read_late, &sleeper), 0);
    make_job(&maker, "dp=2", fill_and_die, NULL);
    maker.job.user = &sleeper;
    maker.job.output_fd = sleeper.ends[1];
    maker.job.auditor = wake_reader;
    run_job(&maker);
    close(sleeper.ends[1]);
    pthread_join(reader, NULL);
    assert_one_finding(&maker, EMU_CLASS_CRASH, 1);
    finish_job(&maker);
}
