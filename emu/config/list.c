#include "config/reading.h"

#include <string.h>

/* No mesh has more axes, and none may be named twice. */
#define MOST_NAMES (EMU_MESH_MAX_AXES + 4)

static void *place_of(void *base, size_t offset)
{
    return (char *)base + offset;
}

static bool read_counts(struct emu_reading *r, const struct emu_key *key,
                        const struct emu_node *node, void *base)
{
    struct emu_key each = *key;
    each.kind = EMU_KEY_U64;
    uint64_t *values = emu_store_alloc(r->store, node->count, sizeof *values);
    bool good = values != NULL;
    size_t count = 0;
    for (const struct emu_node *e = node->first; values && e; e = e->next, count++)
        good = e->kind != EMU_NODE_BROKEN && emu_scalar_read(r, &each, e, &values[count]) && good;
    if (!good)
        return false;
    values = count ? values : NULL;
    memcpy(place_of(base, key->offset), &values, sizeof values);
    memcpy(place_of(base, key->extra), &count, sizeof count);
    return true;
}

/* One word stands for a list of one where names are asked for. */
static bool read_texts(struct emu_reading *r, const struct emu_key *key,
                       const struct emu_node *node, void *base)
{
    struct emu_key each = *key;
    each.kind = EMU_KEY_TEXT;
    bool single = node->kind != EMU_NODE_LIST;
    size_t size = single ? 1 : node->count;
    if (key->kind == EMU_KEY_NAMES && size > MOST_NAMES) {
        emu_complaints_add(r->complaints, emu_node_spot(node), "'%s' has %zu names; %d are allowed",
                           key->path, size, MOST_NAMES);
        return false;
    }
    char **texts = emu_store_alloc(r->store, size, sizeof *texts);
    bool good = texts != NULL;
    const struct emu_node *element = single ? node : node->first;
    for (size_t i = 0; texts && i < size; i++, element = element->next)
        good = element->kind != EMU_NODE_BROKEN && emu_scalar_read(r, &each, element, &texts[i]) &&
               good;
    if (!good)
        return false;
    memcpy(place_of(base, key->offset), &texts, sizeof texts);
    memcpy(place_of(base, key->extra), &size, sizeof size);
    return true;
}

static bool read_axes(struct emu_reading *r, const struct emu_key *key, const struct emu_node *node,
                      void *base)
{
    bool dp = false;
    bool cp = false;
    bool good = true;
    for (const struct emu_node *e = node->first; e; e = e->next) {
        bool *axis = !strcmp(e->text, "dp") ? &dp : !strcmp(e->text, "cp") ? &cp : NULL;
        good = good && axis;
        if (e->kind == EMU_NODE_BROKEN)
            continue;
        if (!axis)
            emu_reading_mistake(r, key, e, NULL);
        else if (*axis)
            emu_complaints_add(r->complaints, emu_node_spot(e), "'%s' is given twice", e->text);
        else
            *axis = true;
    }
    if (!node->first)
        return emu_reading_mistake(r, key, node, "leave it out for both, or write shard: none");
    *(bool *)place_of(base, key->offset) = dp;
    *(bool *)place_of(base, key->extra) = cp;
    return good;
}

bool emu_list_read(struct emu_reading *r, const struct emu_key *key, const struct emu_node *node,
                   void *base)
{
    bool word =
        key->kind == EMU_KEY_NAMES && node->kind == EMU_NODE_SCALAR && !emu_node_is_null(node);
    if (node->kind != EMU_NODE_LIST && !word)
        return emu_reading_mistake(r, key, node, NULL);
    if (key->kind == EMU_KEY_COUNTS)
        return read_counts(r, key, node, base);
    if (key->kind == EMU_KEY_AXES)
        return read_axes(r, key, node, base);
    return read_texts(r, key, node, base);
}

/* Parse the axes that a scalar node holds into the config. */
static bool parse_axes(struct emu_reading *r, const struct emu_node *node)
{
    struct emu_mesh_error error = {0};
    enum emu_status status = emu_mesh_parse(node->text, &r->config->mesh, &error);
    if (status == EMU_ENOMEM)
        r->store->failed = true;
    if (status == EMU_OK) {
        r->config->mesh_axes = emu_store_copy(r->store, node->text, node->size);
        return r->config->mesh_axes != NULL;
    }
    size_t index = error.column ? error.column - 1 : 0;
    emu_complaints_add(r->complaints, emu_node_spot_within(node, index), "%s", error.message);
    return false;
}

static bool arrange(struct emu_reading *r, const struct emu_mesh_mapping *mapping,
                    const struct emu_node *list)
{
    uint32_t *ranks = emu_store_alloc(r->store, mapping->rank_count, sizeof *ranks);
    if (!ranks)
        return false;
    for (size_t i = 0; i < mapping->rank_count; i++)
        ranks[i] = (uint32_t)mapping->ranks[i];
    struct emu_mesh_error error = {0};
    enum emu_status status = emu_mesh_arrange(&r->config->mesh, ranks, mapping->rank_count, &error);
    if (status == EMU_OK)
        return true;
    if (status == EMU_ENOMEM) {
        r->store->failed = true;
        return false;
    }
    const struct emu_node *bad = error.column ? emu_node_element(list, error.column - 1) : NULL;
    emu_complaints_add(r->complaints, emu_node_spot(bad ? bad : list), "%s", error.message);
    return false;
}

bool emu_mesh_read(struct emu_reading *r, const struct emu_key *key, const struct emu_node *node)
{
    if (node->kind == EMU_NODE_SCALAR && !emu_node_is_null(node))
        return parse_axes(r, node);
    if (node->kind != EMU_NODE_MAP)
        return emu_reading_mistake(r, key, node, NULL);
    struct emu_mesh_mapping mapping = {0};
    size_t before = r->complaints->total;
    emu_section_read(r, "mesh", node, &mapping);
    if (before != r->complaints->total || !mapping.axes)
        return false;
    if (!parse_axes(r, emu_node_get(node, "axes")))
        return false;
    return arrange(r, &mapping, emu_node_get(node, "ranks"));
}
