#include "config/document.h"

#include <stdlib.h>
#include <string.h>

struct emu_node *emu_node_get(const struct emu_node *node, const char *name)
{
    if (!node || node->kind != EMU_NODE_MAP)
        return NULL;
    for (struct emu_node *entry = node->first; entry; entry = entry->next) {
        if (!strcmp(entry->key->text, name))
            return entry;
    }
    return NULL;
}

const struct emu_node *emu_node_element(const struct emu_node *list, size_t index)
{
    const struct emu_node *element = list->kind == EMU_NODE_LIST ? list->first : NULL;
    for (; element && index; index--)
        element = element->next;
    return element;
}

/* One step of a path: the name before '.' or '[', or the index inside brackets. */
static const struct emu_node *step(const struct emu_node *node, const char **path)
{
    const struct emu_node *child = NULL;
    if (**path == '[') {
        char *end;
        size_t index = strtoul(*path + 1, &end, 10);
        *path = *end ? end + 1 : end;
        child = emu_node_element(node, index);
    } else {
        size_t size = strcspn(*path, ".[");
        for (child = node->kind == EMU_NODE_MAP ? node->first : NULL; child; child = child->next) {
            if (child->key->size == size && !memcmp(child->key->text, *path, size))
                break;
        }
        *path += size;
    }
    *path += **path == '.';
    return child;
}

const struct emu_node *emu_node_at(const struct emu_node *root, const char *path, bool *exact)
{
    const struct emu_node *node = root;
    *exact = node != NULL;
    while (node && *path) {
        const struct emu_node *child = step(node, &path);
        if (!child) {
            *exact = false;
            break;
        }
        node = child;
    }
    return node;
}

bool emu_node_is_null(const struct emu_node *node)
{
    if (node->kind != EMU_NODE_SCALAR || !node->plain)
        return false;
    return !node->size || !strcmp(node->text, "null") || !strcmp(node->text, "~");
}

/* As deep as a document may be. */
bool emu_node_is_broken(const struct emu_node *node)
{
    bool broken = node->kind == EMU_NODE_BROKEN;
    for (const struct emu_node *child = node->first; child && !broken; child = child->next)
        broken = emu_node_is_broken(child);
    return broken;
}

static void append(struct emu_node *map, struct emu_node *value)
{
    if (map->last)
        map->last->next = value;
    else
        map->first = value;
    map->last = value;
    map->count++;
}

void emu_node_put(struct emu_node *map, struct emu_node *key, struct emu_node *value)
{
    struct emu_node *before = NULL;
    struct emu_node *entry = map->first;
    while (entry && strcmp(entry->key->text, key->text)) {
        before = entry;
        entry = entry->next;
    }
    value->key = key;
    value->next = NULL;
    if (!entry) {
        append(map, value);
        return;
    }
    value->next = entry->next;
    if (before)
        before->next = value;
    else
        map->first = value;
    if (map->last == entry)
        map->last = value;
}

/* Where the text of a scalar begins in its source, or false where it is written otherwise there. */
static bool verbatim_at(const struct emu_node *node, size_t *start)
{
    const struct emu_source *source = node->source;
    size_t at = node->offset + (node->plain ? 0U : 1U);
    if (node->kind != EMU_NODE_SCALAR || at > source->size || source->size - at < node->size)
        return false;
    if (node->size && memcmp(source->text + at, node->text, node->size) != 0)
        return false;
    *start = at;
    return true;
}

struct emu_spot emu_node_spot(const struct emu_node *node)
{
    size_t start;
    size_t length = verbatim_at(node, &start) ? node->size + (node->plain ? 0 : 2) : 1;
    return (struct emu_spot){node->source, node->offset, length};
}

struct emu_spot emu_node_spot_within(const struct emu_node *node, size_t index)
{
    size_t start;
    if (!verbatim_at(node, &start))
        return emu_node_spot(node);
    return (struct emu_spot){node->source, start + (index < node->size ? index : node->size), 1};
}

struct emu_spot emu_node_spot_of_key(const struct emu_node *node)
{
    return emu_node_spot(node->key ? node->key : node);
}

const char *emu_node_describe(const struct emu_node *node)
{
    if (node->kind == EMU_NODE_LIST)
        return "a list";
    if (node->kind == EMU_NODE_MAP)
        return "a mapping";
    return emu_node_is_null(node) ? "nothing (null)" : "text";
}
