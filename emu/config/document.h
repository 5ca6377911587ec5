/* What does a YAML text say, before anybody asks whether it makes sense? A tree of nodes that know
 * their place, built from libyaml's events.
 *
 * Refused: more than 1 MiB, more than 32 levels, anchors and aliases, tags, duplicate keys, keys
 * that are not words, more than one document, NUL and other control characters, broken UTF-8.
 * Knows nothing about the meaning of keys. Nodes live in the store.
 */
#ifndef EMU_CONFIG_DOCUMENT_H
#define EMU_CONFIG_DOCUMENT_H

#include "config/complaint.h"
#include "config/source.h"
#include "config/store.h"

#include <meshemu/status.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define EMU_DOCUMENT_MAX_LEVELS 32

enum emu_node_kind {
    EMU_NODE_SCALAR,
    EMU_NODE_LIST,
    EMU_NODE_MAP,
    EMU_NODE_BROKEN, /* complained about already; readers skip it silently */
};

struct emu_node {
    enum emu_node_kind kind;
    bool plain; /* a scalar without quotes */
    const struct emu_source *source;
    uint32_t offset; /* byte of the source where it begins */
    uint32_t line;
    uint32_t column;
    uint32_t count;         /* children */
    const char *text;       /* scalar: its value, NUL-terminated, no NUL inside */
    size_t size;            /* of text */
    struct emu_node *key;   /* of an entry of a map; NULL for an element of a list and the root */
    struct emu_node *first; /* children in order */
    struct emu_node *last;
    struct emu_node *next; /* sibling */
};

/* Read one document. EMU_OK: *root is set, NULL for a text without content; complaints about single
 * nodes (aliases, tags, duplicate keys) may have been added. EMU_EPARSE: the text could not be read
 * to its end; a complaint says where. EMU_ENOMEM. */
EMU_MUST_CHECK enum emu_status emu_document_read(const struct emu_source *source,
                                                 struct emu_complaints *complaints,
                                                 struct emu_node **root);

/* Refuse what no document may hold: more than 1 MiB, control characters, broken UTF-8. */
EMU_MUST_CHECK enum emu_status emu_document_check(const struct emu_source *source,
                                                  struct emu_complaints *complaints);

/* Entry of a map by name; NULL where there is none or the node is no map. */
struct emu_node *emu_node_get(const struct emu_node *node, const char *name);

/* The node of a path such as "recipe.reduce[1].over"; where there is none, the nearest one above it
 * and *exact is false. NULL for a NULL root. */
const struct emu_node *emu_node_at(const struct emu_node *root, const char *path, bool *exact);

/* Element of a list; NULL past its end. */
const struct emu_node *emu_node_element(const struct emu_node *list, size_t index);

/* A plain null, ~ or nothing. */
bool emu_node_is_null(const struct emu_node *node);

/* Whether the node, or one below it, was complained about while the document was read. */
bool emu_node_is_broken(const struct emu_node *node);

/* Put the value under this key node into a map, in place of an entry of the same name. */
void emu_node_put(struct emu_node *map, struct emu_node *key, struct emu_node *value);

/* The place of the node: all of a scalar's text where it stands there as it is. */
struct emu_spot emu_node_spot(const struct emu_node *node);

/* The place of byte `index` of a scalar's text; the scalar itself where it stands there otherwise
 * (escapes, several lines). */
struct emu_spot emu_node_spot_within(const struct emu_node *node, size_t index);

/* The place of the node's key; of the node where it has none. */
struct emu_spot emu_node_spot_of_key(const struct emu_node *node);

/* "a list", "a mapping", "nothing (null)", "text", for messages. */
const char *emu_node_describe(const struct emu_node *node);

#endif
