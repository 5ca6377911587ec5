#include "train/corpus.h"

#include <criterion/criterion.h>
#include <string.h>

static struct emu_corpus open_text(const char *text, uint64_t sequence)
{
    struct emu_corpus corpus;
    cr_assert_eq(emu_corpus_init(&corpus, text, strlen(text), sequence), EMU_OK);
    return corpus;
}

Test(corpus_lines, empty_lines_are_skipped)
{
    struct emu_corpus c = open_text("\n\nab\n\r\n\ncde", 8);
    cr_assert_eq(c.count, 2);
    cr_assert(c.sequences[0].start == 2 && c.sequences[0].length == 2);
    cr_assert(c.sequences[1].length == 3);
    emu_corpus_finish(&c);
}

Test(corpus_lines, a_long_line_is_cut_into_sequences)
{
    struct emu_corpus c = open_text("abcdefgh\nij\n", 3);
    static const uint64_t length[] = {3, 3, 2, 2};
    cr_assert_eq(c.count, 4);
    for (int i = 0; i < 4; i++)
        cr_assert_eq(c.sequences[i].length, length[i]);
    cr_assert(c.sequences[2].line == 0 && c.sequences[2].start == 6);
    emu_corpus_finish(&c);
}

Test(corpus_lines, a_line_of_exactly_the_length_is_one_sequence)
{
    struct emu_corpus c = open_text("abc\nabc", 3);
    cr_assert_eq(c.count, 2);
    emu_corpus_finish(&c);
}

Test(corpus_lines, carriage_returns_belong_to_the_line_end)
{
    struct emu_corpus c = open_text("ab\r\ncd\r", 8);
    cr_assert_eq(c.count, 2);
    cr_assert_eq(c.sequences[0].length, 2);
    cr_assert_eq(c.sequences[1].length, 3); /* no line feed: the byte is text */
    emu_corpus_finish(&c);
}

Test(corpus_lines, a_text_without_documents_has_no_sequence)
{
    static const char *const texts[] = {"", "\n", "\n\n\r\n"};
    for (int i = 0; i < 3; i++) {
        struct emu_corpus c = open_text(texts[i], 4);
        cr_assert_eq(c.count, 0);
        emu_corpus_finish(&c);
    }
}

Test(corpus_fill, context_before_a_line_is_zero_and_goes_on_in_a_cut_line)
{
    struct emu_corpus c = open_text("xyz\nabcde\n", 4);
    uint8_t ids[12];
    uint8_t target[4];
    uint8_t valid[4];
    struct emu_corpus_rows rows = {ids, target, valid};
    emu_corpus_fill(&c, 1, (struct emu_slice){0, 4}, 3, rows);
    cr_assert_arr_eq(ids, "\0\0\0\0\0a\0ababc", 12);
    cr_assert_arr_eq(target, "abcd", 4);
    cr_assert_arr_eq(valid, "\1\1\1\1", 4);
    emu_corpus_fill(&c, 2, (struct emu_slice){0, 4}, 3, rows);
    cr_assert_arr_eq(ids, "bcd\0\0\0\0\0\0\0\0\0", 12);
    cr_assert_arr_eq(target, "e\0\0\0", 4);
    cr_assert_arr_eq(valid, "\1\0\0\0", 4);
    emu_corpus_finish(&c);
}

Test(corpus_fill, a_part_is_the_same_rows_of_the_whole)
{
    struct emu_corpus c = open_text("abcdefg\n", 7);
    uint8_t whole[3 * 7 * 2];
    uint8_t part[3 * 7 * 2];
    emu_corpus_fill(&c, 0, (struct emu_slice){0, 7}, 2,
                    (struct emu_corpus_rows){whole, whole + 14, whole + 21});
    emu_corpus_fill(&c, 0, (struct emu_slice){3, 2}, 2,
                    (struct emu_corpus_rows){part, part + 14, part + 21});
    cr_assert_arr_eq(part, whole + 6, 4);
    cr_assert_arr_eq(part + 14, whole + 14 + 3, 2);
    cr_assert_arr_eq(part + 21, whole + 21 + 3, 2);
    emu_corpus_finish(&c);
}
