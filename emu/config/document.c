#include "config/document.h"

#include <stdlib.h>
#include <string.h>
#include <yaml.h>

struct frame {
    struct emu_node *node;
    struct emu_node *key; /* map: read, and waiting for its value */
};

struct builder {
    const struct emu_source *source;
    struct emu_complaints *complaints;
    yaml_parser_t parser;
    size_t base; /* bytes before the first one that libyaml sees (a byte order mark) */
    /* libyaml's marks count characters; this cursor turns them into bytes, line and column. Marks
     * of starts never go back, so one pass over the text is enough. */
    size_t cursor_index, cursor_offset;
    struct emu_place cursor_place;
    struct frame stack[EMU_DOCUMENT_MAX_LEVELS];
    size_t depth;
    size_t documents;
    struct emu_node *root;
};

static void move_cursor(struct builder *b, size_t index)
{
    if (index < b->cursor_index) {
        b->cursor_index = 0;
        b->cursor_offset = b->base;
        b->cursor_place = (struct emu_place){1, 1};
    }
    while (b->cursor_index < index && b->cursor_offset < b->source->size) {
        const char *at = b->source->text + b->cursor_offset;
        uint32_t character;
        size_t length = emu_utf8_next(at, b->source->size - b->cursor_offset, &character);
        b->cursor_offset += length ? length : 1;
        b->cursor_index++;
        b->cursor_place.column++;
        if (*at == '\n')
            b->cursor_place = (struct emu_place){b->cursor_place.line + 1, 1};
    }
}

static struct emu_spot spot_at(struct builder *b, yaml_mark_t mark)
{
    move_cursor(b, mark.index);
    return (struct emu_spot){b->source, b->cursor_offset, 1};
}

static struct emu_node *node_at(struct builder *b, enum emu_node_kind kind, yaml_mark_t mark)
{
    struct emu_node *node = emu_store_alloc(b->complaints->store, 1, sizeof *node);
    if (!node)
        return NULL;
    move_cursor(b, mark.index);
    node->kind = kind;
    node->source = b->source;
    node->offset = (uint32_t)b->cursor_offset;
    node->line = b->cursor_place.line;
    node->column = b->cursor_place.column;
    node->text = "";
    return node;
}

static void append(struct emu_node *parent, struct emu_node *child)
{
    if (parent->last)
        parent->last->next = child;
    else
        parent->first = child;
    parent->last = child;
    parent->count++;
}

/* Hand a finished or opened node to what holds it: the document, a list, or a map that waits for a
 * key or for a value. An entry with a broken key is dropped. */
static void attach(struct builder *b, struct emu_node *node)
{
    if (!b->depth) {
        b->root = node;
        return;
    }
    struct frame *frame = &b->stack[b->depth - 1];
    if (frame->node->kind == EMU_NODE_LIST) {
        append(frame->node, node);
    } else if (!frame->key) {
        if (node->kind == EMU_NODE_LIST || node->kind == EMU_NODE_MAP)
            emu_complaints_add(b->complaints, emu_node_spot(node), "a key must be a word, not %s",
                               emu_node_describe(node));
        frame->key = node;
    } else {
        node->key = frame->key;
        frame->key = NULL;
        if (node->key->kind == EMU_NODE_SCALAR)
            append(frame->node, node);
    }
}

static bool refuse_extras(struct builder *b, const yaml_char_t *anchor, const yaml_char_t *tag,
                          yaml_mark_t mark)
{
    if (anchor) {
        emu_complaints_add(b->complaints, spot_at(b, mark), "anchors (&name) are not allowed");
        emu_complaints_note(b->complaints, "write the value again where it is needed");
    }
    if (tag) {
        emu_complaints_add(b->complaints, spot_at(b, mark), "tags (!name) are not allowed");
        emu_complaints_note(b->complaints, "quote the text if it begins with '!'");
    }
    return anchor || tag;
}

static enum emu_status add_scalar(struct builder *b, const yaml_event_t *event)
{
    struct emu_node *node = node_at(b, EMU_NODE_SCALAR, event->start_mark);
    size_t size = event->data.scalar.length;
    const char *value = (const char *)event->data.scalar.value;
    if (!node || !(node->text = emu_store_copy(b->complaints->store, value, size)))
        return EMU_ENOMEM;
    node->size = size;
    node->plain = event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
    bool refused =
        refuse_extras(b, event->data.scalar.anchor, event->data.scalar.tag, event->start_mark);
    if (strlen(node->text) != size) {
        emu_complaints_add(b->complaints, emu_node_spot(node),
                           "text must not hold a NUL character");
        refused = true;
    }
    if (refused)
        node->kind = EMU_NODE_BROKEN;
    attach(b, node);
    return EMU_OK;
}

static enum emu_status open_node(struct builder *b, enum emu_node_kind kind,
                                 const yaml_event_t *event)
{
    bool list = kind == EMU_NODE_LIST;
    refuse_extras(b, list ? event->data.sequence_start.anchor : event->data.mapping_start.anchor,
                  list ? event->data.sequence_start.tag : event->data.mapping_start.tag,
                  event->start_mark);
    if (b->depth == EMU_DOCUMENT_MAX_LEVELS) {
        emu_complaints_add(b->complaints, spot_at(b, event->start_mark),
                           "more than %d levels of lists and mappings", EMU_DOCUMENT_MAX_LEVELS);
        return EMU_EPARSE;
    }
    struct emu_node *node = node_at(b, kind, event->start_mark);
    if (!node)
        return EMU_ENOMEM;
    attach(b, node);
    b->stack[b->depth++] = (struct frame){node, NULL};
    return EMU_OK;
}

static int compare_keys(const void *left, const void *right)
{
    const struct emu_node *a = *(struct emu_node *const *)left;
    const struct emu_node *b = *(struct emu_node *const *)right;
    int order = strcmp(a->key->text, b->key->text);
    if (order)
        return order;
    return (a->key->offset > b->key->offset) - (a->key->offset < b->key->offset);
}

/* Sorted, because a map may hold many keys. A repeated entry is broken: the first one counts. */
static enum emu_status refuse_duplicates(struct builder *b, struct emu_node *map)
{
    if (map->count < 2)
        return EMU_OK;
    struct emu_node **entries = malloc(map->count * sizeof *entries);
    if (!entries)
        return EMU_ENOMEM;
    size_t count = 0;
    for (struct emu_node *entry = map->first; entry; entry = entry->next)
        entries[count++] = entry;
    qsort(entries, count, sizeof *entries, compare_keys);
    for (size_t i = 1; i < count; i++) {
        const struct emu_node *key = entries[i]->key;
        if (strcmp(key->text, entries[i - 1]->key->text) != 0)
            continue;
        emu_complaints_add(b->complaints, emu_node_spot(key), "'%.60s' is given twice", key->text);
        emu_complaints_note(b->complaints, "it was given first in line %u",
                            entries[i - 1]->key->line);
        entries[i]->kind = EMU_NODE_BROKEN;
    }
    free(entries);
    return EMU_OK;
}

static enum emu_status close_node(struct builder *b)
{
    struct emu_node *node = b->stack[--b->depth].node;
    return node->kind == EMU_NODE_MAP ? refuse_duplicates(b, node) : EMU_OK;
}

static enum emu_status refuse_alias(struct builder *b, const yaml_event_t *event)
{
    struct emu_node *node = node_at(b, EMU_NODE_BROKEN, event->start_mark);
    if (!node)
        return EMU_ENOMEM;
    emu_complaints_add(b->complaints, emu_node_spot(node), "aliases (*name) are not allowed");
    emu_complaints_note(b->complaints, "quote the text if it begins with '*'");
    attach(b, node);
    return EMU_OK;
}

static enum emu_status count_document(struct builder *b, const yaml_event_t *event)
{
    if (++b->documents == 1)
        return EMU_OK;
    emu_complaints_add(b->complaints, spot_at(b, event->start_mark),
                       "a second document begins here; only one is read");
    return EMU_EPARSE;
}

static enum emu_status take_event(struct builder *b, const yaml_event_t *event)
{
    switch (event->type) {
    case YAML_DOCUMENT_START_EVENT:
        return count_document(b, event);
    case YAML_ALIAS_EVENT:
        return refuse_alias(b, event);
    case YAML_SCALAR_EVENT:
        return add_scalar(b, event);
    case YAML_SEQUENCE_START_EVENT:
        return open_node(b, EMU_NODE_LIST, event);
    case YAML_MAPPING_START_EVENT:
        return open_node(b, EMU_NODE_MAP, event);
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT:
        return close_node(b);
    case YAML_NO_EVENT:
    case YAML_STREAM_START_EVENT:
    case YAML_STREAM_END_EVENT:
    case YAML_DOCUMENT_END_EVENT:
        break;
    }
    return EMU_OK;
}

static void note_syntax(struct builder *b, size_t offset)
{
    const char *problem = b->parser.problem ? b->parser.problem : "";
    if (offset < b->source->size && b->source->text[offset] == '\t')
        emu_complaints_note(b->complaints, "indent with spaces: YAML does not allow tabs there");
    else if (strstr(problem, "mapping values are not allowed"))
        emu_complaints_note(b->complaints, "quote text that holds ': ', and indent keys alike");
    else if (b->parser.context)
        emu_complaints_note(b->complaints, "%s that begins in line %zu", b->parser.context,
                            b->parser.context_mark.line + 1);
}

static enum emu_status refuse_syntax(struct builder *b)
{
    if (b->parser.error == YAML_MEMORY_ERROR)
        return EMU_ENOMEM;
    struct emu_spot spot = spot_at(b, b->parser.problem_mark);
    if (b->parser.error == YAML_READER_ERROR)
        spot.offset = b->base + b->parser.problem_offset;
    emu_complaints_add(b->complaints, spot, "not YAML: %s",
                       b->parser.problem ? b->parser.problem : "the text cannot be read");
    note_syntax(b, spot.offset);
    return EMU_EPARSE;
}

static enum emu_status build(struct builder *b)
{
    enum emu_status status = EMU_OK;
    bool ended = false;
    while (status == EMU_OK && !ended) {
        yaml_event_t event;
        if (!yaml_parser_parse(&b->parser, &event))
            return refuse_syntax(b);
        ended = event.type == YAML_STREAM_END_EVENT;
        status = take_event(b, &event);
        yaml_event_delete(&event);
    }
    return status;
}

/* The characters that YAML admits (YAML 1.1, section 5.1), but for the byte order mark. */
static bool admitted(uint32_t c)
{
    return c == '\t' || c == '\n' || c == '\r' || (c >= 0x20 && c <= 0x7e) || c == 0x85 ||
           (c >= 0xa0 && c <= 0xfffd && c != 0xfeff) || c >= 0x10000;
}

/* Bytes of a byte order mark at the start. */
static size_t mark_bytes(const struct emu_source *source)
{
    return source->size >= 3 && !memcmp(source->text, "\xef\xbb\xbf", 3) ? 3 : 0;
}

enum emu_status emu_document_check(const struct emu_source *source,
                                   struct emu_complaints *complaints)
{
    if (source->size > EMU_SOURCE_MAX_BYTES) {
        emu_complaints_add(complaints, (struct emu_spot){source, 0, 1},
                           "larger than 1 MiB (%zu bytes)", source->size);
        return EMU_EPARSE;
    }
    for (size_t i = mark_bytes(source); i < source->size;) {
        uint32_t character = 0;
        size_t length = emu_utf8_next(source->text + i, source->size - i, &character);
        if (!length)
            emu_complaints_add(complaints, (struct emu_spot){source, i, 1},
                               "byte 0x%02x is not valid UTF-8", (unsigned char)source->text[i]);
        else if (!admitted(character))
            emu_complaints_add(complaints, (struct emu_spot){source, i, 1},
                               "character U+%04X is not allowed", character);
        else {
            i += length;
            continue;
        }
        return EMU_EPARSE;
    }
    return EMU_OK;
}

enum emu_status emu_document_read(const struct emu_source *source,
                                  struct emu_complaints *complaints, struct emu_node **root)
{
    size_t base = mark_bytes(source);
    struct builder b = {
        .source = source,
        .complaints = complaints,
        .base = base,
        .cursor_offset = base,
        .cursor_place = {1, 1},
    };
    enum emu_status status = emu_document_check(source, complaints);
    if (status != EMU_OK)
        return status;
    if (!yaml_parser_initialize(&b.parser))
        return EMU_ENOMEM;
    yaml_parser_set_encoding(&b.parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&b.parser, (const yaml_char_t *)source->text + base,
                                 source->size - base);
    status = build(&b);
    yaml_parser_delete(&b.parser);
    if (status == EMU_OK && complaints->store->failed)
        status = EMU_ENOMEM;
    if (status == EMU_OK)
        *root = b.root;
    return status;
}
