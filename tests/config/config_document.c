/* The tree below the schema: places, limits, hostile texts. */
#include "config/document.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

struct tree {
    struct emu_store store;
    struct emu_complaints complaints;
    struct emu_source source;
    struct emu_node *root;
    enum emu_status status;
};

static struct tree *plant(const char *text, size_t size)
{
    struct tree *t = calloc(1, sizeof *t);
    t->complaints.store = &t->store;
    t->source = (struct emu_source){.name = "t", .text = text, .size = size};
    t->status = emu_document_read(&t->source, &t->complaints, &t->root);
    return t;
}

static void fell(struct tree *t)
{
    emu_store_finish(&t->store);
    free(t);
}

static void expect_refused(const char *text, size_t size, const char *message, size_t offset)
{
    struct tree *t = plant(text, size);
    cr_expect(t->complaints.total >= 1);
    cr_expect_str_eq(t->complaints.kept[0].message, message);
    cr_expect_eq(t->complaints.kept[0].offset, offset);
    fell(t);
}

Test(config_document, nodes_know_their_places)
{
    const char *text = "a:\n  - é\n  - {b: 'c', d: }\n";
    struct tree *t = plant(text, strlen(text));
    cr_assert_eq(t->status, EMU_OK);
    const struct emu_node *list = emu_node_get(t->root, "a");
    cr_assert_eq(list->kind, EMU_NODE_LIST);
    cr_assert_eq(list->count, 2);
    cr_expect(list->first->line == 2 && list->first->column == 5 && list->first->plain);
    const struct emu_node *map = emu_node_element(list, 1);
    const struct emu_node *c = emu_node_get(map, "b");
    cr_expect(c->line == 3 && c->column == 9 && !c->plain);
    cr_expect_eq(c->offset, strchr(text, '\'') - text);
    cr_expect(c->key->column == 6);
    cr_expect(emu_node_is_null(emu_node_get(map, "d")));
    cr_expect_null(emu_node_get(map, "x"));
    cr_expect_null(emu_node_element(list, 2));
    fell(t);
}

Test(config_document, text_without_content_has_no_root)
{
    struct tree *t = plant("# nothing\n", 10);
    cr_expect(t->status == EMU_OK && !t->root && !t->complaints.total);
    fell(t);
    t = plant("", 0);
    cr_expect(t->status == EMU_OK && !t->root);
    fell(t);
}

Test(config_document, quoted_null_is_text)
{
    struct tree *t = plant("'null'", 6);
    cr_expect_not(emu_node_is_null(t->root));
    fell(t);
}

Test(config_document, broken_utf8_is_refused_at_its_byte)
{
    expect_refused("a: \xc3(", 5, "byte 0xc3 is not valid UTF-8", 3);
    expect_refused("a: \xed\xa0\x80", 6, "byte 0xed is not valid UTF-8", 3);
    expect_refused("a: \xc0\xaf", 5, "byte 0xc0 is not valid UTF-8", 3);
    expect_refused("a: \xf4\x90\x80\x80", 7, "byte 0xf4 is not valid UTF-8", 3);
    expect_refused("a: \xe2\x82", 5, "byte 0xe2 is not valid UTF-8", 3);
    expect_refused("\xff\xfe"
                   "a",
                   3, "byte 0xff is not valid UTF-8", 0);
}

Test(config_document, characters_outside_of_yaml_are_refused)
{
    expect_refused("a: \0", 4, "character U+0000 is not allowed", 3);
    expect_refused("a: \x7f", 4, "character U+007F is not allowed", 3);
    expect_refused("a: \xef\xbb\xbf", 6, "character U+FEFF is not allowed", 3);
    expect_refused("a: \xef\xbf\xbe", 6, "character U+FFFE is not allowed", 3);
    expect_refused("a: \"x\\0y\"", 9, "text must not hold a NUL character", 3);
}

Test(config_document, one_mebibyte_is_the_limit)
{
    size_t size = EMU_SOURCE_MAX_BYTES + 1;
    char *text = malloc(size);
    memset(text, ' ', size);
    text[0] = 'a';
    struct tree *t = plant(text, size - 1);
    cr_expect_eq(t->status, EMU_OK);
    fell(t);
    expect_refused(text, size, "larger than 1 MiB (1048577 bytes)", 0);
    free(text);
}

Test(config_document, thirty_two_levels_are_the_limit)
{
    char text[100] = {0};
    memset(text, '[', 32);
    memset(text + 32, ']', 32);
    struct tree *t = plant(text, 64);
    cr_expect_eq(t->status, EMU_OK);
    fell(t);
    memset(text, '[', 33);
    memset(text + 33, ']', 33);
    expect_refused(text, 66, "more than 32 levels of lists and mappings", 32);
}

/* Texts that cost a careless reader quadratic time: a limit of seconds is no promise, the point is
 * that they end. */
static void expect_ends(const char *unit, const char *start)
{
    char *text = malloc(EMU_SOURCE_MAX_BYTES);
    size_t size = strlen(start);
    memcpy(text, start, size);
    while (size + strlen(unit) <= EMU_SOURCE_MAX_BYTES) {
        memcpy(text + size, unit, strlen(unit));
        size += strlen(unit);
    }
    struct tree *t = plant(text, size);
    cr_expect(t->status == EMU_OK || t->status == EMU_EPARSE);
    fell(t);
    free(text);
}

Test(config_document, hostile_repetition_ends, .timeout = 120)
{
    expect_ends("[", "");
    expect_ends("{", "");
    expect_ends("- ", "");
    expect_ends("a: \n", "");
    expect_ends("? ", "");
    expect_ends("a,", "[");
    expect_ends("\"", "");
    expect_ends("# x\n", "");
    expect_ends("\n", "a: |\n x");
    expect_ends("---\n", "");
}

Test(config_document, path_finds_node_or_nearest_above)
{
    const char *text = "a: [{b: 1}, {b: [2, 3]}]";
    struct tree *t = plant(text, strlen(text));
    bool exact;
    cr_expect_str_eq(emu_node_at(t->root, "a[1].b[0]", &exact)->text, "2");
    cr_expect(exact);
    cr_expect_str_eq(emu_node_at(t->root, "a[0].c", &exact)->key ? "" : "map", "map");
    cr_expect_not(exact);
    cr_expect_eq(emu_node_at(t->root, "x.y", &exact), t->root);
    cr_expect_not(exact);
    cr_expect_null(emu_node_at(NULL, "a", &exact));
    fell(t);
}

Test(config_source, shown_text_cannot_drive_a_terminal)
{
    const char raw[] = "a\x1b[31m\xe2\x80\xae\xc2\x9b\x80z\t.";
    struct emu_text out = {0};
    emu_source_add_clean(&out, raw, sizeof raw - 1);
    cr_expect_str_eq(emu_text_get(&out), "a?[31m???z .");
    emu_text_finish(&out);
}
