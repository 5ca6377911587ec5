#include "base/number.h"
#include "base/suggest.h"
#include "config/duration.h"
#include "config/reading.h"

#include <float.h>
#include <string.h>

#define WORDS_MAX 8

bool emu_reading_mistake(struct emu_reading *r, const struct emu_key *key,
                         const struct emu_node *node, const char *hint)
{
    struct emu_text expected = {0};
    emu_schema_add_expected(key, &expected);
    if (node->kind != EMU_NODE_SCALAR || emu_node_is_null(node))
        emu_complaints_add(r->complaints, emu_node_spot(node), "'%s' must be %s, not %s", key->path,
                           emu_text_get(&expected), emu_node_describe(node));
    else
        emu_complaints_add(r->complaints, emu_node_spot(node), "'%s' must be %s, not %s%.60s%s",
                           key->path, emu_text_get(&expected), node->plain ? "'" : "the text \"",
                           node->text, node->plain ? "'" : "\"");
    if (expected.failed)
        r->store->failed = true;
    emu_text_finish(&expected);
    if (hint)
        emu_complaints_note(r->complaints, "%s", hint);
    return false;
}

/* 010 is eight for some readers of YAML and ten for others. */
static bool has_leading_zero(const char *text)
{
    text += *text == '-' || *text == '+';
    return text[0] == '0' && text[1] >= '0' && text[1] <= '9';
}

static const char *number_hint(const struct emu_node *node, bool whole)
{
    const char *text = node->text;
    double ignored;
    if (!node->plain && emu_parse_f64(text, &ignored))
        return "write the number without quotes";
    if (strchr(text, '_') || strchr(text, ','))
        return "write the digits without separators";
    if (has_leading_zero(text))
        return "write the number without leading zeros";
    if (text[0] == '0' && text[1] && strchr("xXoObB", text[1]))
        return "write the number in decimal";
    if (!strcmp(text, ".inf") || !strcmp(text, ".nan") || !strcmp(text, "inf") ||
        !strcmp(text, "nan"))
        return "only finite numbers are allowed";
    if (whole && emu_parse_f64(text, &ignored) && strpbrk(text, "eE"))
        return "write a whole number with all its digits";
    return NULL;
}

static bool read_u64(struct emu_reading *r, const struct emu_key *key, const struct emu_node *node,
                     void *place)
{
    uint64_t value;
    if (!node->plain || has_leading_zero(node->text) || !emu_parse_u64(node->text, &value))
        return emu_reading_mistake(r, key, node, number_hint(node, true));
    if (value < key->least || value > key->most)
        return emu_reading_mistake(r, key, node, NULL);
    memcpy(place, &value, sizeof value);
    return true;
}

static bool read_f64(struct emu_reading *r, const struct emu_key *key, const struct emu_node *node,
                     void *place)
{
    double value;
    if (!node->plain || has_leading_zero(node->text) || !emu_parse_f64(node->text, &value))
        return emu_reading_mistake(r, key, node, number_hint(node, false));
    bool low_enough = key->high > 1 ? value <= DBL_MAX : value < key->high;
    if (!low_enough || value < key->low || (key->above && value <= key->low))
        return emu_reading_mistake(r, key, node, NULL);
    memcpy(place, &value, sizeof value);
    return true;
}

static const char *bool_hint(const struct emu_node *node)
{
    static const char *const yes[] = {"yes", "on", "True", "TRUE", "y", "Yes", "YES", "On", "1"};
    static const char *const no[] = {"no", "off", "False", "FALSE", "n", "No", "NO", "Off", "0"};
    if (!strcmp(node->text, "true") || !strcmp(node->text, "false"))
        return "write it without quotes";
    for (size_t i = 0; i < sizeof yes / sizeof yes[0]; i++) {
        if (!strcmp(node->text, yes[i]))
            return "write true";
        if (!strcmp(node->text, no[i]))
            return "write false";
    }
    return NULL;
}

static bool read_bool(struct emu_reading *r, const struct emu_key *key, const struct emu_node *node,
                      void *place)
{
    bool value = !strcmp(node->text, "true");
    if (!node->plain || (!value && strcmp(node->text, "false") != 0))
        return emu_reading_mistake(r, key, node, bool_hint(node));
    memcpy(place, &value, sizeof value);
    return true;
}

static bool refuse_word(struct emu_reading *r, const struct emu_key *key,
                        const struct emu_node *node)
{
    const char *names[WORDS_MAX];
    size_t count = 0;
    for (const struct emu_word *word = key->words; word->name && count < WORDS_MAX; word++)
        names[count++] = word->name;
    const char *near = emu_suggest(node->text, names, count);
    emu_reading_mistake(r, key, node, NULL);
    if (near)
        emu_complaints_note(r->complaints, "did you mean '%s'?", near);
    return false;
}

static bool read_word(struct emu_reading *r, const struct emu_key *key, const struct emu_node *node,
                      void *place)
{
    const struct emu_word *word = key->words;
    while (word->name && strcmp(word->name, node->text) != 0)
        word++;
    if (!word->name)
        return refuse_word(r, key, node);
    /* recipe.reduce[].op is a bool; the enumerations have the size of unsigned. */
    if (!strcmp(key->path, "recipe.reduce[].op"))
        *(bool *)place = word->value != 0;
    else
        memcpy(place, &word->value, sizeof word->value);
    return true;
}

static bool store_text(struct emu_reading *r, const char *text, void *place)
{
    char *copy = emu_store_copy(r->store, text, strlen(text));
    memcpy(place, &copy, sizeof copy);
    return copy != NULL;
}

static bool read_text(struct emu_reading *r, const struct emu_key *key, const struct emu_node *node,
                      void *place)
{
    if (!node->size)
        return emu_reading_mistake(r, key, node, NULL);
    const char *directory = node->source->option ? "" : r->directory;
    if (key->kind != EMU_KEY_PATH || !*directory || node->text[0] == '/')
        return store_text(r, node->text, place);
    const char *slash = directory[strlen(directory) - 1] == '/' ? "" : "/";
    struct emu_text joined = {0};
    emu_text_printf(&joined, "%s%s%s", directory, slash, node->text);
    bool stored = store_text(r, emu_text_get(&joined), place);
    if (joined.failed)
        r->store->failed = true;
    emu_text_finish(&joined);
    return stored;
}

static bool read_duration(struct emu_reading *r, const struct emu_key *key,
                          const struct emu_node *node, void *place)
{
    uint64_t ns;
    double number;
    if (!emu_duration_parse(node->text, &ns))
        return emu_reading_mistake(r, key, node,
                                   emu_parse_f64(node->text, &number) ? "add the unit" : NULL);
    memcpy(place, &ns, sizeof ns);
    return true;
}

bool emu_scalar_read(struct emu_reading *r, const struct emu_key *key, const struct emu_node *node,
                     void *place)
{
    if (node->kind != EMU_NODE_SCALAR || emu_node_is_null(node))
        return emu_reading_mistake(r, key, node, NULL);
    switch (key->kind) {
    case EMU_KEY_U64:
        return read_u64(r, key, node, place);
    case EMU_KEY_F64:
        return read_f64(r, key, node, place);
    case EMU_KEY_BOOL:
        return read_bool(r, key, node, place);
    case EMU_KEY_WORD:
        return read_word(r, key, node, place);
    case EMU_KEY_DURATION:
        return read_duration(r, key, node, place);
    default:
        return read_text(r, key, node, place);
    }
}
