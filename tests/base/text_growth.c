#include "base/text.h"

#include <criterion/criterion.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

Test(base_text, is_empty_at_first)
{
    struct emu_text text = {0};
    cr_assert_str_eq(emu_text_get(&text), "");
    emu_text_finish(&text);
}

Test(base_text, appends_bytes_strings_and_formats)
{
    struct emu_text text = {0};
    emu_text_puts(&text, "ab");
    emu_text_putc(&text, 'c');
    emu_text_add(&text, "defg", 2);
    emu_text_add(&text, "", 0);
    emu_text_printf(&text, "%d-%s", 42, "x");
    cr_assert_str_eq(emu_text_get(&text), "abcde42-x");
    cr_assert_eq(text.size, 9u);
    cr_assert_not(text.failed);
    emu_text_finish(&text);
}

Test(base_text, keeps_bytes_of_zero)
{
    struct emu_text text = {0};
    emu_text_add(&text, "a\0b", 3);
    cr_assert_eq(text.size, 3u);
    cr_assert_eq(memcmp(emu_text_get(&text), "a\0b", 4), 0);
    emu_text_finish(&text);
}

Test(base_text, stays_terminated_at_every_length)
{
    struct emu_text text = {0};
    for (size_t i = 0; i < 1000; i++) {
        cr_assert_eq(strlen(emu_text_get(&text)), i);
        emu_text_putc(&text, 'x');
    }
    struct emu_text other = {0};
    for (size_t i = 0; i < 200; i++) {
        emu_text_printf(&other, "%s", "yyy");
        cr_assert_eq(strlen(emu_text_get(&other)), 3 * (i + 1));
    }
    emu_text_finish(&text);
    emu_text_finish(&other);
}

Test(base_text, is_handed_over_once)
{
    struct emu_text text = {0};
    emu_text_puts(&text, "mine");
    char *taken = emu_text_take(&text);
    cr_assert_str_eq(taken, "mine");
    cr_assert_str_eq(emu_text_get(&text), "");
    char *empty = emu_text_take(&text);
    cr_assert_str_eq(empty, "");
    free(taken);
    free(empty);
}

Test(base_text, remembers_that_memory_ran_out)
{
    struct emu_text text = {0};
    emu_text_puts(&text, "kept");
    emu_text_add(&text, "", SIZE_MAX / 2); /* refused before a byte is read */
    cr_assert(text.failed);
    emu_text_puts(&text, " more");
    cr_assert_str_eq(emu_text_get(&text), "kept");
    cr_assert_null(emu_text_take(&text));
    cr_assert_not(text.failed);
}

Test(base_text, formats_into_a_fresh_string)
{
    char *made = emu_format("%03d|%s", 7, "z");
    cr_assert_str_eq(made, "007|z");
    free(made);
}
