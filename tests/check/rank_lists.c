/* Ranks in sentences: ranges, and what is left out of thousands. */
#include "check/scene.h"

#include <criterion/criterion.h>
#include <string.h>

static void assert_text(void write(struct emu_text *, const uint32_t *, size_t),
                        const uint32_t *ranks, size_t count, const char *wanted)
{
    struct emu_text text = {0};
    write(&text, ranks, count);
    cr_expect_str_eq(emu_text_get(&text), wanted);
    emu_text_finish(&text);
}

Test(rank_lists, show_ranges_and_at_most_eight_of_them_where_they_are_short)
{
    static const uint32_t few[] = {1, 3, 4, 6, 7, 8, 10, 12, 14, 16, 18};
    uint32_t many[1000];
    for (uint32_t i = 0; i < 1000; i++)
        many[i] = 2 * i + 1;
    assert_text(emu_ranks_text, few, 1, "rank 1");
    assert_text(emu_ranks_text_short, few, 1, "rank 1");
    assert_text(emu_ranks_text_short, few, 6, "ranks 1, 3, 4, 6-8");
    assert_text(emu_ranks_text, few, 11, "ranks 1, 3, 4, 6-8, 10, 12, 14, 16, 18");
    assert_text(emu_ranks_text_short, few, 11, "ranks 1, 3, 4, 6-8, 10, 12, 14, 16, 18");
    assert_text(emu_ranks_text_short, many, 8, "ranks 1, 3, 5, 7, 9, 11, 13, 15");
    assert_text(emu_ranks_text_short, many, 9, "9 ranks (1, 3, 5, 7, 9, 11, 13, 15, ...)");
    assert_text(emu_ranks_text_short, many, 1000, "1000 ranks (1, 3, 5, 7, 9, 11, 13, 15, ...)");
}
