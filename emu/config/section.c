#include "config/reading.h"

#include <assert.h>
#include <string.h>

/* Every reduction is looked up by its index when something is wrong with it. */
#define MOST_REDUCTIONS 1000

_Static_assert(sizeof(enum emu_model_kind) == sizeof(unsigned) &&
                   sizeof(enum emu_arithmetic) == sizeof(unsigned),
               "words are stored as unsigned");

static void *place_of(void *base, size_t offset)
{
    return (char *)base + offset;
}

static void set_flag(void *base, const struct emu_key *key)
{
    if (key->flag)
        *(bool *)place_of(base, key->flag) = true;
}

/* The variant that a node asks for; *certain is false where its kind cannot be read, and then
 * nothing can be said about keys that are missing or do not belong. */
static unsigned variant_of(const char *prefix, const struct emu_node *node, bool *certain)
{
    *certain = true;
    if (!strcmp(prefix, "data")) {
        const struct emu_node *tokens = emu_node_get(node, "tokens");
        return EMU_VARIANT(tokens && !emu_node_is_null(tokens));
    }
    const struct emu_key *key = emu_schema_find(prefix, "kind", ~0U);
    if (!key)
        return ~0U;
    const struct emu_node *kind = emu_node_get(node, "kind");
    const char *name = kind ? kind->text : key->fallback;
    for (const struct emu_word *word = key->words; word->name; word++) {
        if (!strcmp(word->name, name))
            return EMU_VARIANT(word->value);
    }
    *certain = false;
    return ~0U;
}

/* All variants that know this name. */
static unsigned variants_with(const char *prefix, const char *name)
{
    unsigned found = 0;
    for (unsigned bit = 0; bit < 3; bit++) {
        if (emu_schema_find(prefix, name, EMU_VARIANT(bit)))
            found |= EMU_VARIANT(bit);
    }
    return found;
}

/* A key of that name in another section: the user forgot to indent. */
static const char *elsewhere(const char *name)
{
    size_t count;
    const struct emu_key *rows = emu_schema_rows(&count);
    for (size_t i = 0; i < count; i++) {
        const char *dot = strrchr(rows[i].path, '.');
        if (!strcmp(dot ? dot + 1 : rows[i].path, name))
            return rows[i].path;
    }
    return NULL;
}

static void refuse_key(struct emu_reading *r, const char *prefix, unsigned variant,
                       const struct emu_node *entry)
{
    const char *name = entry->key->text;
    struct emu_spot spot = emu_node_spot_of_key(entry);
    if (!emu_complaints_room(r->complaints)) { /* counted, and no more: there may be many */
        emu_complaints_add(r->complaints, spot, "unknown key");
        return;
    }
    unsigned owners = variants_with(prefix, name);
    if (emu_schema_find(prefix, name, ~0U)) {
        emu_complaints_add(r->complaints, spot, "'%s' belongs to %s, not to %s", name,
                           emu_schema_variant_name(prefix, owners),
                           emu_schema_variant_name(prefix, variant));
        return;
    }
    emu_complaints_add(r->complaints, spot, "unknown key '%.60s'%s%s%s", name,
                       *prefix ? " in '" : "", prefix, *prefix ? "'" : "");
    const char *near = emu_schema_suggest(prefix, name, variant);
    const char *other = near ? NULL : elsewhere(name);
    if (near)
        emu_complaints_note(r->complaints, "did you mean '%s'?", near);
    else if (other)
        emu_complaints_note(r->complaints, "did you mean '%s'?", other);
}

static bool read_sections(struct emu_reading *r, const struct emu_key *key,
                          const struct emu_node *node)
{
    if (node->kind != EMU_NODE_LIST)
        return emu_reading_mistake(r, key, node, NULL);
    if (node->count > MOST_REDUCTIONS) {
        emu_complaints_add(r->complaints, emu_node_spot(node),
                           "'%s' has %u entries; %d are allowed", key->path, node->count,
                           MOST_REDUCTIONS);
        return false;
    }
    struct emu_reduce_config *list = emu_store_alloc(r->store, node->count, sizeof *list);
    if (!list)
        return false;
    size_t count = 0;
    for (const struct emu_node *e = node->first; e; e = e->next, count++) {
        list[count].line = e->source->option ? 0 : e->line;
        list[count].column = e->source->option ? 0 : e->column;
        if (e->kind == EMU_NODE_MAP)
            emu_section_read(r, "recipe.reduce[]", e, &list[count]);
        else if (e->kind != EMU_NODE_BROKEN)
            emu_complaints_add(r->complaints, emu_node_spot(e),
                               "an element of '%s' must be a mapping, not %s", key->path,
                               emu_node_describe(e));
    }
    r->config->recipe.reduce = list;
    r->config->recipe.reduce_count = count;
    return true;
}

static bool read_value(struct emu_reading *r, const struct emu_key *key,
                       const struct emu_node *node, void *base)
{
    switch (key->kind) {
    case EMU_KEY_SECTION:
        if (node->kind != EMU_NODE_MAP)
            return emu_reading_mistake(r, key, node, NULL);
        emu_section_read(r, key->path, node, base);
        return true;
    case EMU_KEY_SECTIONS:
        return read_sections(r, key, node);
    case EMU_KEY_MESH:
        return emu_mesh_read(r, key, node);
    case EMU_KEY_TOKENS:
        r->tokens = node;
        return true;
    case EMU_KEY_COUNTS:
    case EMU_KEY_NAMES:
    case EMU_KEY_TEXTS:
    case EMU_KEY_AXES:
        return emu_list_read(r, key, node, base);
    default:
        return emu_scalar_read(r, key, node, place_of(base, key->offset));
    }
}

static void read_entry(struct emu_reading *r, const struct emu_key *key,
                       const struct emu_node *node, void *base)
{
    bool *bad = !strcmp(key->path, "mesh")    ? &r->mesh_bad
                : !strcmp(key->path, "model") ? &r->model_bad
                : !strcmp(key->path, "data")  ? &r->data_bad
                                              : NULL;
    size_t before = r->complaints->total;
    if (node->kind != EMU_NODE_BROKEN && read_value(r, key, node, base))
        set_flag(base, key);
    if (bad && (before != r->complaints->total || emu_node_is_broken(node)))
        *bad = true;
}

static void set_default(struct emu_reading *r, const struct emu_key *key, void *base)
{
    void *place = place_of(base, key->offset);
    if (key->kind == EMU_KEY_SECTION) {
        if (!key->bare)
            emu_section_read(r, key->path, NULL, base);
        return;
    }
    if (key->kind == EMU_KEY_AXES) {
        *(bool *)place = true;
        *(bool *)place_of(base, key->extra) = true;
        return;
    }
    bool list = key->fallback && key->fallback[0] == '[';
    if (!key->fallback || list)
        return;
    if (!strcmp(key->fallback, "null")) {
        memset(place, 0xff, sizeof(uint64_t));
        return;
    }
    struct emu_node node = {
        .plain = true, .source = r->source, .text = key->fallback, .size = strlen(key->fallback)};
    bool read = emu_scalar_read(r, key, &node, place);
    assert(read || r->store->failed);
    (void)read;
}

static void refuse_missing(struct emu_reading *r, const struct emu_key *key, const char *prefix,
                           const struct emu_node *node)
{
    struct emu_spot spot = emu_node_spot_of_key(node);
    if (!*prefix) {
        spot = (struct emu_spot){r->source, 0, 1};
        emu_complaints_add(r->complaints, spot, "'%s' is missing", key->path);
    } else {
        const char *owner = emu_schema_variant_name(prefix, key->variants);
        emu_complaints_add(r->complaints, spot, "%s%s%sneeds '%s'", *owner ? owner : "'",
                           *owner ? "" : prefix, *owner ? " " : "' ",
                           emu_schema_name_in(key, prefix));
    }
    emu_complaints_note(r->complaints, "%s: %s", emu_schema_name_in(key, prefix), key->help);
}

void emu_section_read(struct emu_reading *r, const char *prefix, const struct emu_node *node,
                      void *base)
{
    bool certain;
    unsigned variant = variant_of(prefix, node, &certain);
    for (const struct emu_node *entry = node ? node->first : NULL; entry; entry = entry->next) {
        const struct emu_key *key = emu_schema_find(prefix, entry->key->text, variant);
        if (!key)
            refuse_key(r, prefix, variant, entry);
        else if (!key->nullable || !emu_node_is_null(entry))
            read_entry(r, key, entry, base);
    }
    size_t count;
    const struct emu_key *rows = emu_schema_rows(&count);
    for (size_t i = 0; i < count; i++) {
        const char *name = emu_schema_name_in(&rows[i], prefix);
        if (!name || (rows[i].variants && !(rows[i].variants & variant)))
            continue;
        const struct emu_node *entry = emu_node_get(node, name);
        bool left_out = !entry || (rows[i].nullable && emu_node_is_null(entry));
        if (left_out && rows[i].required && node && certain)
            refuse_missing(r, &rows[i], prefix, node);
        else if (left_out && !rows[i].required)
            set_default(r, &rows[i], base);
    }
}
