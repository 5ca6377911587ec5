/* The table of thresholds: what it chooses, and what may fix it. */
#include "seg/ways.h"

#include "os/cpu.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

Test(ways, small_groups_and_large_ones_have_their_own_threshold)
{
    struct emu_ways ways = emu_ways_of(2);
    ways.lend_from_few = 100;
    ways.lend_from_many = 200;
    for (int folds = 0; folds < 2; folds++) {
        cr_expect_not(emu_ways_lend(&ways, 2, 100, folds));
        cr_expect(emu_ways_lend(&ways, 2, 101, folds));
    }
    cr_expect_not(emu_ways_lend(&ways, 3, 200, true));
    cr_expect(emu_ways_lend(&ways, 3, 201, true));
    cr_expect_not(emu_ways_lend(&ways, 3, 800, false), "where nothing is folded: four times that");
    cr_expect(emu_ways_lend(&ways, 3, 801, false));
    ways.lend_from_many = UINT64_MAX / 2;
    cr_expect_not(emu_ways_lend(&ways, 3, UINT64_MAX, false));
    cr_expect_not(emu_ways_last_folds(&ways, 2));
    cr_expect(emu_ways_last_folds(&ways, 3));
}

Test(ways, a_text_fixes_what_it_names_and_nothing_else)
{
    struct emu_ways ways = emu_ways_of(4), before = ways;
    struct emu_reason reason;
    cr_assert_eq(emu_ways_parse(NULL, &ways, &reason), EMU_OK);
    cr_expect_eq(memcmp(&ways, &before, sizeof ways), 0);
    cr_assert_eq(emu_ways_parse("few=0,unit=128,cores=9", &ways, &reason), EMU_OK);
    cr_expect(ways.lend_from_few == 0 && ways.unit_bytes == 128 && ways.cores == 9);
    cr_expect(ways.lend_from_many == before.lend_from_many &&
              ways.stream_from == before.stream_from);
    cr_assert_eq(emu_ways_parse("many=18446744073709551615,stream=1", &ways, &reason), EMU_OK);
    cr_expect(ways.lend_from_many == UINT64_MAX && ways.stream_from == 1);
}

/* Three quarters of it, and 24 MiB where the system does not tell. */
Test(ways, outputs_are_written_past_the_cache_that_is_here)
{
    struct emu_ways here;
    struct emu_reason reason;
    cr_assert_eq(unsetenv("MESHEMU_WAYS"), 0);
    cr_assert_eq(emu_ways_here(&here, &reason), EMU_OK);
    uint64_t cache = emu_cpu_cache_bytes();
    cr_expect_eq(here.stream_from, cache ? cache / 4 * 3 : UINT64_C(25165824));
    cr_expect_eq(cache % 1024, 0);
    cr_assert_eq(setenv("MESHEMU_WAYS", "stream=7", 1), 0);
    cr_assert_eq(emu_ways_here(&here, &reason), EMU_OK);
    cr_expect_eq(here.stream_from, 7);
}

Test(ways, a_wrong_text_changes_nothing_and_is_named)
{
    static const char *const wrong[][2] = {{"", "''"},
                                           {"few", "'few'"},
                                           {"fewer=1", "'fewer'"},
                                           {"few=1,", "''"},
                                           {"few=-1", "few=-1"},
                                           {"unit=100", "multiple of 64"},
                                           {"unit=0", "from 64"},
                                           {"cores=0", "from 1"},
                                           {"cores=4294967296", "to 4294967295"},
                                           {"few=1,many=x", "many=x"}};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct emu_ways ways = emu_ways_of(2), before = ways;
        struct emu_reason reason;
        cr_expect_eq(emu_ways_parse(wrong[i][0], &ways, &reason), EMU_EINVAL, "%s", wrong[i][0]);
        cr_expect(strstr(reason.text, wrong[i][1]), "%s: %s", wrong[i][0], reason.text);
        cr_expect_eq(memcmp(&ways, &before, sizeof ways), 0, "%s", wrong[i][0]);
    }
    struct emu_ways ways = emu_ways_of(2);
    char long_word[200];
    memset(long_word, 'a', sizeof long_word - 1);
    long_word[sizeof long_word - 1] = '\0';
    cr_expect_eq(emu_ways_parse(long_word, &ways, NULL), EMU_EINVAL);
}

Test(ways, the_environment_fixes_those_of_this_machine)
{
    struct emu_ways ways;
    struct emu_reason reason;
    setenv("MESHEMU_WAYS", "many=77", 1);
    cr_expect_eq(emu_ways_here(&ways, &reason), EMU_OK);
    cr_expect(ways.lend_from_many == 77 && ways.cores >= 1);
    setenv("MESHEMU_WAYS", "lots=77", 1);
    cr_expect_eq(emu_ways_here(&ways, &reason), EMU_EINVAL);
    setenv("MESHEMU_WAYS", "", 1);
    cr_expect_eq(emu_ways_here(&ways, &reason), EMU_OK);
    unsetenv("MESHEMU_WAYS");
}
