#include "config/reading.h"

#include <string.h>

/* What of a long option is repeated in front of its errors. */
#define SHOWN_BYTES 200

static void refuse(struct emu_reading *r, const struct emu_source *source, const char *message)
{
    emu_complaints_add(r->complaints, (struct emu_spot){source, 0, 1}, "%s", message);
}

static struct emu_source *make_source(struct emu_reading *r, const char *text, uint32_t order)
{
    struct emu_source *source = emu_store_alloc(r->store, 1, sizeof *source);
    char *copy = emu_store_copy(r->store, text, strlen(text)); /* outlives the caller's */
    struct emu_text name = {0};
    emu_text_puts(&name, "--set ");
    emu_source_add_clean(&name, text, strnlen(text, SHOWN_BYTES));
    if (source)
        source->name = emu_store_copy(r->store, emu_text_get(&name), name.size);
    if (name.failed)
        r->store->failed = true;
    emu_text_finish(&name);
    if (!source || !source->name || !copy)
        return NULL;
    const char *equals = strchr(copy, '=');
    source->text = equals ? equals + 1 : "";
    source->size = strlen(source->text);
    source->order = order;
    source->option = true;
    return source;
}

static struct emu_node *make_node(struct emu_reading *r, const struct emu_source *source,
                                  enum emu_node_kind kind, const char *text, size_t size)
{
    struct emu_node *node = emu_store_alloc(r->store, 1, sizeof *node);
    char *copy = emu_store_copy(r->store, text, size);
    if (!node || !copy)
        return NULL;
    node->kind = kind;
    node->source = source;
    node->line = 1;
    node->column = 1;
    node->text = copy;
    node->size = size;
    return node;
}

static bool is_path(const char *key, size_t size)
{
    size_t count;
    const struct emu_key *rows = emu_schema_rows(&count);
    for (size_t i = 0; i < count; i++) {
        if (rows[i].kind == EMU_KEY_PATH && strlen(rows[i].path) == size &&
            !memcmp(rows[i].path, key, size))
            return true;
    }
    return false;
}

/* The name of a file is taken as it stands: ' #' or ': ' in it are no YAML. Quotes still are. */
static struct emu_node *read_value(struct emu_reading *r, const struct emu_source *source,
                                   bool path)
{
    const char *text = source->text;
    struct emu_node *node = NULL;
    if (path && *text && *text != '"' && *text != '\'') {
        if (emu_document_check(source, r->complaints) != EMU_OK)
            return NULL;
        node = make_node(r, source, EMU_NODE_SCALAR, text, source->size);
        if (node)
            node->plain = !strcmp(text, "null") || !strcmp(text, "~");
        return node;
    }
    enum emu_status status = emu_document_read(source, r->complaints, &node);
    if (status == EMU_ENOMEM)
        r->store->failed = true;
    if (status != EMU_OK)
        return NULL;
    if (node)
        return node;
    node = make_node(r, source, EMU_NODE_SCALAR, "", 0);
    if (node)
        node->plain = true;
    return node;
}

/* The mapping of this name inside `map`, made where there is none. */
static struct emu_node *enter(struct emu_reading *r, struct emu_node *map, struct emu_node *key)
{
    struct emu_node *child = emu_node_get(map, key->text);
    if (child && child->kind == EMU_NODE_MAP)
        return child;
    if (child && !emu_node_is_null(child)) {
        emu_complaints_add(r->complaints, emu_node_spot(key),
                           "'%.60s' is given as %s; set it as a whole", key->text,
                           emu_node_describe(child));
        return NULL;
    }
    child = make_node(r, key->source, EMU_NODE_MAP, "", 0);
    if (child)
        emu_node_put(map, key, child);
    return child;
}

/* Walk down the dotted key and put the value at its end. */
static void put(struct emu_reading *r, struct emu_node *map, const char *path,
                struct emu_node *value)
{
    for (unsigned level = 0; map && level < EMU_DOCUMENT_MAX_LEVELS; level++) {
        size_t size = strcspn(path, ".=");
        struct emu_node *key = make_node(r, value->source, EMU_NODE_SCALAR, path, size);
        if (!key)
            return;
        if (path[size] == '=') {
            emu_node_put(map, key, value);
            return;
        }
        map = enter(r, map, key);
        path += size + 1;
    }
    if (map)
        refuse(r, value->source, "the key has too many parts");
}

/* Bytes before '='; 0 where the key is missing or has an empty part. */
static size_t key_size(const char *text)
{
    size_t size = strcspn(text, "=");
    bool empty = !text[size] || !size;
    for (size_t i = 0; i < size; i++)
        empty = empty || (text[i] == '.' && (i == 0 || text[i + 1] == '.' || i + 1 == size));
    return empty ? 0 : size;
}

void emu_override_apply(struct emu_reading *r, const char *text, uint32_t order,
                        struct emu_node **root)
{
    struct emu_source *source = make_source(r, text, order);
    if (!source)
        return;
    size_t size = key_size(text);
    if (!size) {
        refuse(r, source, "an override is KEY=VALUE, such as train.steps=5");
        return;
    }
    struct emu_node *value = read_value(r, source, is_path(text, size));
    if (value && !*root)
        *root = make_node(r, r->source, EMU_NODE_MAP, "", 0);
    if (value && *root && (*root)->kind == EMU_NODE_MAP)
        put(r, *root, text, value);
}
