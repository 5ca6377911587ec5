#include "base/suggest.h"
#include "config/duration.h"
#include "config/schema.h"

#include <inttypes.h>
#include <string.h>

#define NAMES_MAX 64

const char *emu_schema_name_in(const struct emu_key *key, const char *prefix)
{
    size_t size = strlen(prefix);
    const char *name = key->path;
    if (size) {
        if (strncmp(name, prefix, size) != 0 || name[size] != '.')
            return NULL;
        name += size + 1;
    }
    return strpbrk(name, ".") ? NULL : name;
}

static bool belongs(const struct emu_key *key, unsigned variant)
{
    return !key->variants || (key->variants & variant);
}

const struct emu_key *emu_schema_find(const char *prefix, const char *name, unsigned variant)
{
    size_t count;
    const struct emu_key *rows = emu_schema_rows(&count);
    for (size_t i = 0; i < count; i++) {
        const char *own = emu_schema_name_in(&rows[i], prefix);
        if (own && belongs(&rows[i], variant) && !strcmp(own, name))
            return &rows[i];
    }
    return NULL;
}

const char *emu_schema_suggest(const char *prefix, const char *name, unsigned variant)
{
    const char *names[NAMES_MAX];
    size_t named = 0;
    size_t count;
    const struct emu_key *rows = emu_schema_rows(&count);
    for (size_t i = 0; i < count && named < NAMES_MAX; i++) {
        const char *own = emu_schema_name_in(&rows[i], prefix);
        if (own && belongs(&rows[i], variant))
            names[named++] = own;
    }
    return emu_suggest(name, names, named);
}

unsigned emu_schema_variant(const struct emu_config *config, const char *prefix)
{
    if (!strcmp(prefix, "model"))
        return EMU_VARIANT(config->model.kind);
    if (!strcmp(prefix, "optimizer"))
        return EMU_VARIANT(config->optimizer.kind);
    if (!strcmp(prefix, "data"))
        return EMU_VARIANT(config->data.inline_tokens != NULL);
    return ~0U;
}

const char *emu_schema_variant_name(const char *prefix, unsigned variants)
{
    static const char *const model[] = {"",
                                        "model.kind mlp_lm",
                                        "model.kind linear",
                                        "model.kind mlp_lm or linear",
                                        "model.kind transformer",
                                        "model.kind mlp_lm or transformer",
                                        "model.kind linear or transformer",
                                        ""};
    static const char *const optimizer[] = {"",
                                            "optimizer.kind sgd",
                                            "optimizer.kind momentum",
                                            "optimizer.kind sgd or momentum",
                                            "optimizer.kind adamw",
                                            "optimizer.kind sgd or adamw",
                                            "optimizer.kind momentum or adamw",
                                            ""};
    static const char *const data[] = {"", "data.text", "data.tokens", "", "", "", "", ""};
    const char *const *names = !strcmp(prefix, "model")       ? model
                               : !strcmp(prefix, "optimizer") ? optimizer
                               : !strcmp(prefix, "data")      ? data
                                                              : NULL;
    return names ? names[variants & 7] : "";
}

static void add_range(const struct emu_key *key, struct emu_text *out)
{
    if (key->most == INT64_MAX && key->least)
        emu_text_printf(out, ", at least %" PRIu64, key->least);
    else if (key->most == INT64_MAX)
        emu_text_puts(out, " from 0 to 2^63-1");
    else
        emu_text_printf(out, " from %" PRIu64 " to %" PRIu64, key->least, key->most);
}

static void add_interval(const struct emu_key *key, struct emu_text *out)
{
    emu_text_printf(out, "a number %s %g", key->above ? "above" : "of at least", key->low);
    if (key->high <= 1)
        emu_text_printf(out, " and below %g", key->high);
}

static void add_words(const struct emu_key *key, struct emu_text *out)
{
    emu_text_puts(out, "one of: ");
    for (const struct emu_word *word = key->words; word->name; word++)
        emu_text_printf(out, "%s%s", word == key->words ? "" : ", ", word->name);
}

void emu_schema_add_expected(const struct emu_key *key, struct emu_text *out)
{
    static const char *const plain[] = {
        [EMU_KEY_SECTION] = "a mapping",
        [EMU_KEY_SECTIONS] = "a list of mappings",
        [EMU_KEY_BOOL] = "true or false",
        [EMU_KEY_TEXT] = "text",
        [EMU_KEY_PATH] = "the name of a file",
        [EMU_KEY_EXPRESSION] = "an expression such as 1/tokens",
        [EMU_KEY_DURATION] = EMU_DURATION_HINT,
        [EMU_KEY_MESH] = "axes such as dp=2,tp=4, or a mapping of axes and ranks",
        [EMU_KEY_NAMES] = "a list of names",
        [EMU_KEY_TEXTS] = "a list of texts",
        [EMU_KEY_AXES] = "a list of dp and cp",
        [EMU_KEY_TOKENS] = "nested lists of numbers",
    };
    if (key->kind == EMU_KEY_U64 || key->kind == EMU_KEY_COUNTS) {
        emu_text_puts(out, key->kind == EMU_KEY_U64 ? "a whole number" : "a list of whole numbers");
        add_range(key, out);
    } else if (key->kind == EMU_KEY_F64) {
        add_interval(key, out);
    } else if (key->kind == EMU_KEY_WORD) {
        add_words(key, out);
    } else {
        emu_text_puts(out, plain[key->kind]);
    }
    if (key->nullable)
        emu_text_puts(out, ", or null");
}
