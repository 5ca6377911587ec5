/* Call-sites, written once and found again. */
#include "seg/sites.h"

#include "seg/board.h"
#include "seg/note.h"
#include "seg/recorder.h"
#include "small_segment.h"

#include <criterion/criterion.h>
#include <criterion/theories.h>
#include <stdio.h>
#include <string.h>

static struct small_segment small;
static struct emu_site_index sites;

static void open_sites(void)
{
    cr_assert(small_open(&small, "dp=2,tp=2"));
    cr_assert_eq(emu_site_index_init(&sites, &small.segment, 1), EMU_OK);
}

static void close_sites(void)
{
    emu_site_index_finish(&sites);
    small_close(&small);
}

TestSuite(sites, .init = open_sites, .fini = close_sites, .timeout = 20);

static uint32_t find(const char *label, const char *file, uint32_t line, uint64_t number)
{
    struct emu_call call = {.label = label, .file = file, .line = line};
    return emu_site_find(&sites, &call, number);
}

/* Is this what the reference means? "" is none. */
static bool means(uint32_t reference, const char *label, const char *file, uint32_t line)
{
    struct emu_site_text text;
    return emu_site_read(&small.segment, 1, reference, &text) && strcmp(text.label, label) == 0 &&
           strcmp(text.file, file) == 0 && text.line == line;
}

static bool means_nothing(uint32_t reference)
{
    struct emu_site_text text;
    return !emu_site_read(&small.segment, 1, reference, &text);
}

TheoryDataPoints(sites, of_one_place_are_one) = {
    DataPoints(const char *, NULL, "", "loss", "a label of thirty-one letters..",
               "a label that is longer than what is kept of it"),
    DataPoints(const char *, NULL, "", "step.c", "somewhere/else.c"),
    DataPoints(uint32_t, 0, 1, UINT32_MAX),
};

Theory((const char *label, const char *file, uint32_t line), sites, of_one_place_are_one)
{
    char kept[EMU_NAME_MAX];
    snprintf(kept, sizeof kept, "%s", label ? label : "");
    static uint64_t calls; /* of all data points */
    uint32_t first = find(label, file, line, calls++);
    uint32_t other = find(label, file, line + 1, calls++);
    cr_expect_eq(find(label, file, line, calls++), first);
    cr_expect_neq(first, other);
    if ((label && label[0]) || file || line)
        cr_expect(means(first, kept, file ? file : "", line));
    else
        cr_expect(first == 0 && means_nothing(0));
}

Test(sites, keep_the_start_of_a_label_and_the_end_of_a_path)
{
    char path[200], label[100], last[EMU_SITE_FILE_MAX];
    memset(path, 'x', sizeof path);
    memcpy(path + 190, "/step.c", 8);
    memset(label, 'l', 99);
    label[99] = '\0';
    memcpy(last, path + strlen(path) - 63, sizeof last);
    uint32_t reference = find(label, path, 12, 0);
    label[31] = '\0';
    cr_expect(means(reference, label, last, 12));
    label[30] = '\0';
    cr_expect_neq(find(label, path, 12, 1), reference);
}

Test(sites, with_another_text_behind_the_same_pointer_are_others)
{
    char label[16] = "bucket 0";
    uint32_t references[10];
    for (uint64_t i = 0; i < 30; i++) {
        label[7] = (char)('0' + i % 10);
        uint32_t reference = find(label, "step.c", 3, i);
        if (i >= 10)
            cr_expect_eq(reference, references[i % 10]);
        references[i % 10] = reference;
    }
    for (uint64_t i = 0; i < 10; i++) {
        label[7] = (char)('0' + i);
        cr_expect(means(references[i], label, "step.c", 3));
    }
}

/* Programs with up to as many places as there are sites lose none, however the index has grown. */
Test(sites, that_fit_are_all_kept)
{
    static uint32_t references[EMU_SITES];
    for (uint32_t i = 0; i < EMU_SITES; i++) {
        references[i] = find(i % 2 ? "label" : NULL, "step.c", i + 1, i);
        for (uint32_t j = 0; j < i; j++)
            cr_assert_neq(references[i], references[j]);
    }
    for (uint32_t i = 0; i < EMU_SITES; i++) {
        cr_expect_eq(find(i % 2 ? "label" : NULL, "step.c", i + 1, EMU_SITES), references[i]);
        cr_expect(means(references[i], i % 2 ? "label" : "", "step.c", i + 1));
    }
}

/* So many labels of one line that some of them have the same hash (16 bits) at the same time. */
Test(sites, are_told_apart_by_the_text_of_their_labels)
{
    char label[EMU_NAME_MAX];
    for (uint64_t i = 0; i < 40 * EMU_SITES; i++) {
        snprintf(label, sizeof label, "%lu", (unsigned long)i);
        cr_assert(means(find(label, "step.c", 3, i), label, "step.c", 3));
    }
}

static uint64_t random_next(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + 1;
    return *state >> 33;
}

/* Many more places than sites: of the last 256 calls every reference means what was called, others
 * mean what was called or nothing. Half of the calls come from a few places. */
Test(sites, of_the_last_calls_stay_whatever_comes)
{
    enum { CALLS = 20000 };
    static uint32_t references[CALLS], lines[CALLS], last[3001]; /* by line: 1 + the last call */
    uint64_t random = 7, stale = 0;
    for (uint32_t i = 0; i < CALLS; i++) {
        lines[i] = (uint32_t)(random_next(&random) % 2 ? random_next(&random) % 40
                                                       : random_next(&random) % 3000) +
                   1;
        references[i] = find(NULL, "step.c", lines[i], i);
        uint32_t before = last[lines[i]];
        if (before > 0 && i + 1 - before <= EMU_SITE_CALLS)
            cr_assert_eq(references[i], references[before - 1], "line %u", lines[i]);
        last[lines[i]] = i + 1;
        uint32_t old = i - (uint32_t)(random_next(&random) % (i < 3000 ? i + 1 : 3000));
        if (i - old <= EMU_SITE_CALLS || i % 64 == 0)
            cr_assert(means(references[old], "", "step.c", lines[old]) ||
                          (i - old > EMU_SITE_CALLS && means_nothing(references[old])),
                      "call %u seen from %u", old, i);
        stale += means_nothing(references[old]);
    }
    cr_expect_gt(stale, 0, "some were given up");
}

Test(sites, that_no_call_uses_any_more_mean_nothing)
{
    static uint32_t references[EMU_SITES];
    for (uint32_t i = 0; i < EMU_SITES; i++)
        references[i] = find(NULL, "first.c", i, i);
    for (uint32_t i = 0; i < EMU_SITES; i++) {
        uint32_t reference = find(NULL, "step.c", i, EMU_SITES + i);
        cr_expect(means(reference, "", "step.c", i));
        cr_expect(means_nothing(references[i]), "the oldest went");
    }
}

/* 256 places in turn, then a new one: what was called 256 calls ago is in the recorder yet. */
Test(sites, that_are_called_every_257_calls_are_never_given_up)
{
    static uint32_t references[EMU_SITE_CALLS];
    for (uint64_t number = 0; number < 600 * (EMU_SITE_CALLS + 1); number++) {
        uint32_t turn = (uint32_t)(number % (EMU_SITE_CALLS + 1));
        char label[EMU_NAME_MAX];
        snprintf(label, sizeof label, "%lu",
                 (unsigned long)(turn < EMU_SITE_CALLS ? turn : number));
        uint32_t reference = find(label, "step.c", turn, number);
        cr_assert(means(reference, label, "step.c", turn));
        if (turn == EMU_SITE_CALLS)
            continue;
        if (number > EMU_SITE_CALLS)
            cr_assert_eq(reference, references[turn], "turn %u of call %lu", turn,
                         (unsigned long)number);
        references[turn] = reference;
    }
}

/* A table that another index has used, as after a rank that was started again. */
Test(sites, in_a_table_that_was_used_get_versions_of_their_own)
{
    struct emu_site_table *tables = (void *)(small.segment.base + small.segment.sites);
    uint32_t before = find("old", "old.c", 1, 0);
    atomic_fetch_add(&tables[1].sites[1].sequence, 1); /* died while it wrote the next */
    emu_site_index_finish(&sites);
    cr_assert_eq(emu_site_index_init(&sites, &small.segment, 1), EMU_OK);
    uint32_t after = find("new", "new.c", 2, 0), next = find("next", "next.c", 3, 1);
    cr_expect(means_nothing(before));
    cr_expect(means(after, "new", "new.c", 2) && means(next, "next", "next.c", 3));
}

Test(sites, come_round_without_a_version_of_zero)
{
    struct emu_site_table *tables = (void *)(small.segment.base + small.segment.sites);
    atomic_store(&tables[1].sites[0].sequence, 2 * (UINT32_MAX >> 9));
    uint32_t reference = find("again", "step.c", 1, 0);
    cr_expect_eq(reference, 1u << 9);
    cr_expect(means(reference, "again", "step.c", 1));
}

Test(sites, of_ranks_lie_apart)
{
    struct emu_site_index other;
    struct emu_site_text text;
    struct emu_call call = {.file = "other.c", .line = 9};
    cr_assert_eq(emu_site_index_init(&other, &small.segment, 2), EMU_OK);
    uint32_t mine = find(NULL, "step.c", 1, 0), theirs = emu_site_find(&other, &call, 0);
    cr_expect(means(mine, "", "step.c", 1));
    cr_assert(emu_site_read(&small.segment, 2, theirs, &text));
    cr_expect(strcmp(text.file, "other.c") == 0 && text.line == 9);
    emu_site_index_finish(&other);
}

/* What the recorder shows of a rank that calls from somewhere else every time. */
Test(sites, are_shown_with_all_recorded_calls)
{
    static struct emu_recorded_call calls[EMU_RECORDS];
    struct emu_note note;
    char label[32];
    for (uint64_t i = 0; i < 3000; i++) {
        snprintf(label, sizeof label, "step %lu", (unsigned long)i);
        struct emu_call call = {.kind = EMU_BARRIER, .label = label, .file = "a.c", .line = 5};
        emu_note_of(&call, i, &note);
        note.site = emu_site_find(&sites, &call, i);
        emu_recorder_begin(&small.segment, 1, i, &note);
    }
    cr_assert_eq(emu_recorder_read(&small.segment, 1, calls, EMU_RECORDS), EMU_RECORDS);
    for (uint64_t i = 0; i < EMU_RECORDS; i++) {
        snprintf(label, sizeof label, "step %lu", (unsigned long)(3000 - EMU_RECORDS + i));
        cr_expect_str_eq(calls[i].call.label, label);
        cr_expect(strcmp(calls[i].call.file, "a.c") == 0 && calls[i].call.line == 5);
    }
}
