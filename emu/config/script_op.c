/* What does one op of a script say? */
#include "base/checked.h"
#include "base/number.h"
#include "base/suggest.h"
#include "config/duration.h"
#include "config/script_reading.h"
#include "config/script_words.h"

#include <inttypes.h>
#include <string.h>

static void read_ops(struct emu_script_reading *r, const struct emu_node *list,
                     const struct emu_script_op **ops, size_t *count);

static struct emu_complaints *complaints(struct emu_script_reading *r)
{
    return r->base.complaints;
}

static uint64_t add_capped(uint64_t a, uint64_t b)
{
    uint64_t sum;
    return emu_add_fits(a, b, &sum) ? sum : UINT64_MAX;
}

static uint64_t multiply_capped(uint64_t a, uint64_t b)
{
    uint64_t product;
    return emu_mul_fits(a, b, &product) ? product : UINT64_MAX;
}

/* Handle of an async name, EMU_SCRIPT_NO_HANDLE where the entry starts none of that name. */
static uint32_t handle_of(const struct emu_script_reading *r, const char *name)
{
    for (size_t i = 0; i < r->name_count; i++)
        if (!strcmp(r->names[i], name))
            return (uint32_t)i;
    return EMU_SCRIPT_NO_HANDLE;
}

static void read_number(struct emu_script_reading *r, const struct emu_script_field *field,
                        const struct emu_node *node, void *place)
{
    int64_t value;
    if (!emu_script_read_integer(r, field->name, node, &value))
        return;
    if (value >= field->least && value <= field->most)
        memcpy(place, &value, sizeof value);
    else
        emu_complaints_add(complaints(r), emu_node_spot(node),
                           "'%s' is %" PRId64 "; from %" PRId64 " to %" PRId64 " is allowed",
                           field->name, value, field->least, field->most);
}

static void read_real(struct emu_script_reading *r, const struct emu_script_field *field,
                      const struct emu_node *node, void *place)
{
    double value;
    bool scalar = node->kind == EMU_NODE_SCALAR && node->plain && !emu_node_is_null(node);
    if (scalar && emu_parse_f64(node->text, &value))
        memcpy(place, &value, sizeof value);
    else
        emu_script_mistake(r, field->name, "a finite number", node);
}

/* The names are known: they were collected before. */
static void read_name(struct emu_script_reading *r, const struct emu_script_field *field,
                      const struct emu_node *node, void *place)
{
    if (node->kind != EMU_NODE_SCALAR || emu_node_is_null(node) || !node->size) {
        emu_script_mistake(r, field->name, "a name", node);
        return;
    }
    uint32_t handle = handle_of(r, node->text);
    memcpy(place, &handle, sizeof handle);
}

static void read_field(struct emu_script_reading *r, const struct emu_script_field *field,
                       const struct emu_node *node, struct emu_script_op *op)
{
    void *place = (char *)op + field->offset;
    struct emu_key word = {.path = field->name, .kind = EMU_KEY_WORD, .words = field->words};
    if (node->kind == EMU_NODE_BROKEN)
        return;
    switch (field->kind) {
    case EMU_FIELD_IS_GROUP:
        (void)emu_script_read_over(r, node, &op->family);
        break;
    case EMU_FIELD_IS_WORD:
        (void)emu_scalar_read(&r->base, &word, node, place);
        break;
    case EMU_FIELD_IS_NAME:
        read_name(r, field, node, place);
        break;
    case EMU_FIELD_IS_REAL:
        read_real(r, field, node, place);
        break;
    case EMU_FIELD_IS_OPS:
        read_ops(r, node, &op->body, &op->body_count);
        break;
    case EMU_FIELD_IS_NUMBER:
    case EMU_FIELD_IS_TIMES: /* not negative, so the bits are those of a uint64_t */
        read_number(r, field, node, place);
        break;
    }
}

static void refuse_field(struct emu_script_reading *r, const struct emu_script_verb *verb,
                         const struct emu_node *entry)
{
    const char *name = entry->key->text;
    bool room = emu_complaints_room(complaints(r));
    bool known = emu_script_field_find(name) != NULL;
    emu_complaints_add(complaints(r), emu_node_spot_of_key(entry), "%s '%.60s' in '%s'",
                       known ? "no use for" : "unknown field", name, verb->name);
    const char *near = room && !known ? emu_script_field_suggest(name, verb->fields) : NULL;
    if (near)
        emu_complaints_note(complaints(r), "did you mean '%s'?", near);
}

static void read_fields(struct emu_script_reading *r, const struct emu_script_verb *verb,
                        const struct emu_node *node, struct emu_script_op *op)
{
    if (node->kind != EMU_NODE_MAP) {
        emu_script_mistake(r, verb->name, "a mapping of its fields", node);
        return;
    }
    unsigned seen = 0;
    for (const struct emu_node *e = node->first; e; e = e->next) {
        const struct emu_script_field *field = emu_script_field_find(e->key->text);
        if (!field || !(field->bit & verb->fields)) {
            refuse_field(r, verb, e);
            continue;
        }
        seen |= field->bit;
        read_field(r, field, e, op);
    }
    size_t count;
    const struct emu_script_field *fields = emu_script_fields(&count);
    for (size_t i = 0; i < count; i++)
        if (fields[i].bit & verb->needed & ~seen)
            emu_complaints_add(complaints(r), emu_node_spot_of_key(node), "'%s' needs '%s'",
                               verb->name, fields[i].name);
}

static bool read_wait(struct emu_script_reading *r, const struct emu_node *node, uint32_t *handle)
{
    if (node->kind != EMU_NODE_SCALAR || emu_node_is_null(node)) {
        emu_script_mistake(r, "wait", "the name of an async call, or a list of them", node);
        return false;
    }
    *handle = handle_of(r, node->text);
    if (*handle != EMU_SCRIPT_NO_HANDLE)
        return true;
    emu_complaints_add(complaints(r), emu_node_spot(node),
                       "these ranks start no call with async: %.60s", node->text);
    const char *near = emu_complaints_room(complaints(r))
                           ? emu_suggest(node->text, r->names, r->name_count)
                           : NULL;
    if (near)
        emu_complaints_note(complaints(r), "did you mean '%s'?", near);
    return false;
}

static void read_waits(struct emu_script_reading *r, const struct emu_node *node,
                       struct emu_script_op *op)
{
    bool list = node->kind == EMU_NODE_LIST;
    size_t count = list ? node->count : 1;
    uint32_t *handles = emu_store_alloc(r->base.store, count, sizeof *handles);
    const struct emu_node *each = list ? node->first : node;
    for (size_t i = 0; handles && i < count; i++, each = each->next)
        if (!read_wait(r, each, &handles[i]))
            return;
    op->waits = handles;
    op->wait_count = handles ? count : 0;
}

/* spin: true, stop: true. */
static void read_true(struct emu_script_reading *r, const struct emu_script_verb *verb,
                      const struct emu_node *node)
{
    if (node->kind != EMU_NODE_SCALAR || !node->plain || strcmp(node->text, "true") != 0)
        emu_script_mistake(r, verb->name, "true", node);
}

static void read_code(struct emu_script_reading *r, const struct emu_node *node,
                      struct emu_script_op *op)
{
    if (!emu_script_read_integer(r, "exit", node, &op->code))
        return;
    if (op->code < 0 || op->code > 255)
        emu_complaints_add(complaints(r), emu_node_spot(node),
                           "'exit' is %" PRId64 "; from 0 to 255 is allowed", op->code);
}

static void read_duration(struct emu_script_reading *r, const char *name,
                          const struct emu_node *node, struct emu_script_op *op)
{
    struct emu_key key = {.path = name, .kind = EMU_KEY_DURATION};
    (void)emu_scalar_read(&r->base, &key, node, &op->duration_ns);
}

static void read_value(struct emu_script_reading *r, const struct emu_script_verb *verb,
                       const struct emu_node *node, struct emu_script_op *op)
{
    struct emu_key signal = {.path = "kill", .kind = EMU_KEY_WORD, .words = emu_script_signals};
    unsigned number = 0;
    if (node->kind == EMU_NODE_BROKEN)
        return;
    switch (verb->shape) {
    case EMU_SHAPE_FIELDS:
    case EMU_SHAPE_REPEAT:
        read_fields(r, verb, node, op);
        break;
    case EMU_SHAPE_DURATION:
        read_duration(r, verb->name, node, op);
        break;
    case EMU_SHAPE_TRUE:
        read_true(r, verb, node);
        break;
    case EMU_SHAPE_CODE:
        read_code(r, node, op);
        break;
    case EMU_SHAPE_SIGNAL:
        (void)emu_scalar_read(&r->base, &signal, node, &number);
        op->code = number;
        break;
    case EMU_SHAPE_NAMES:
        read_waits(r, node, op);
        break;
    }
}

static void refuse_verb(struct emu_script_reading *r, const struct emu_node *entry)
{
    bool room = emu_complaints_room(complaints(r));
    emu_complaints_add(complaints(r), emu_node_spot_of_key(entry), "unknown op '%.60s'",
                       entry->key->text);
    const char *near = room ? emu_script_verb_suggest(entry->key->text) : NULL;
    if (near)
        emu_complaints_note(complaints(r), "did you mean '%s'?", near);
}

/* {stop: true, cont_after: 1s} alone has a second key. */
static void read_second_keys(struct emu_script_reading *r, const struct emu_node *node,
                             const struct emu_node *first, struct emu_script_op *op)
{
    for (const struct emu_node *e = node->first; e; e = e->next) {
        if (e == first || e->kind == EMU_NODE_BROKEN)
            continue;
        if (op->kind == EMU_SCRIPT_STOP && !strcmp(e->key->text, "cont_after"))
            read_duration(r, "cont_after", e, op);
        else
            emu_complaints_add(complaints(r), emu_node_spot_of_key(e),
                               "'%.60s' stands beside '%.60s'; an op is one key of its own, with a "
                               "'-' before it",
                               e->key->text, first->key->text);
    }
}

static void weigh(struct emu_script_op *op)
{
    op->steps = 1;
    op->results = emu_script_op_yields(op);
    if (op->kind != EMU_SCRIPT_REPEAT)
        return;
    uint64_t steps = 0, results = 0;
    for (size_t i = 0; i < op->body_count; i++) {
        steps = add_capped(steps, op->body[i].steps);
        results = add_capped(results, op->body[i].results);
    }
    op->steps = multiply_capped(steps, op->times);
    op->results = multiply_capped(results, op->times);
}

static void read_op(struct emu_script_reading *r, const struct emu_node *node,
                    struct emu_script_op *op)
{
    *op = (struct emu_script_op){.handle = EMU_SCRIPT_NO_HANDLE, .dtype = EMU_F32, .op = EMU_SUM};
    if (node->kind != EMU_NODE_MAP || !node->first) {
        emu_script_mistake(r, "do", "a list of ops such as barrier: {over: world}", node);
        return;
    }
    const struct emu_node *first = node->first;
    if (node->count > 1 && !strcmp(first->key->text, "cont_after"))
        first = first->next;
    const struct emu_script_verb *verb = emu_script_verb_find(first->key->text);
    if (!verb) {
        refuse_verb(r, first);
        return;
    }
    op->kind = verb->kind;
    op->name = verb->name;
    op->call = verb->call;
    op->line = first->key->line;
    read_value(r, verb, first, op);
    read_second_keys(r, node, first, op);
    weigh(op);
}

static void read_ops(struct emu_script_reading *r, const struct emu_node *list,
                     const struct emu_script_op **ops, size_t *count)
{
    if (list->kind != EMU_NODE_LIST) {
        emu_script_mistake(r, "do", "a list of ops", list);
        return;
    }
    struct emu_script_op *made = emu_store_alloc(r->base.store, list->count, sizeof *made);
    size_t i = 0;
    for (const struct emu_node *e = list->first; made && e; e = e->next)
        if (e->kind != EMU_NODE_BROKEN)
            read_op(r, e, &made[i++]);
    *ops = made;
    *count = i;
}

static void collect_name(struct emu_script_reading *r, const struct emu_node *node)
{
    if (node->kind != EMU_NODE_SCALAR || handle_of(r, node->text) != EMU_SCRIPT_NO_HANDLE)
        return;
    if (r->name_count < EMU_SCRIPT_MAX_NAMES) {
        r->names[r->name_count++] = node->text;
        return;
    }
    emu_complaints_add(complaints(r), emu_node_spot(node),
                       "more than %d async names in one entry of 'program'", EMU_SCRIPT_MAX_NAMES);
}

/* A wait may stand before its async call (in a repeat), so names come first. */
static void collect_names(struct emu_script_reading *r, const struct emu_node *list)
{
    for (const struct emu_node *op = list->first; op; op = op->next)
        for (const struct emu_node *value = op->first; value; value = value->next) {
            const struct emu_node *name = emu_node_get(value, "async");
            const struct emu_node *body = emu_node_get(value, "do");
            if (name)
                collect_name(r, name);
            if (body)
                collect_names(r, body);
        }
}

void emu_script_read_entry_ops(struct emu_script_reading *r, const struct emu_node *list,
                               struct emu_script_entry *entry)
{
    r->name_count = 0;
    collect_names(r, list);
    const char **names = emu_store_alloc(r->base.store, r->name_count, sizeof *names);
    if (!names)
        return;
    if (r->name_count)
        memcpy(names, r->names, r->name_count * sizeof *names);
    entry->names = names;
    entry->name_count = r->name_count;
    read_ops(r, list, &entry->ops, &entry->count);
    for (size_t i = 0; i < entry->count; i++) {
        entry->steps = add_capped(entry->steps, entry->ops[i].steps);
        entry->results = add_capped(entry->results, entry->ops[i].results);
    }
}
