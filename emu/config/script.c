#include "config/script.h"

#include "base/suggest.h"
#include "config/script_reading.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define NAMES_HINT "mesh, semantics, program, groups, stall_after, stop_grace"

struct keep {
    struct emu_store store;
    struct emu_source source;
    struct emu_config scratch; /* its mesh, until the script owns it */
    struct emu_script script;
};

static const char *const top_names[] = {"mesh",   "semantics",   "program",
                                        "groups", "stall_after", "stop_grace"};
#define TOP_COUNT (sizeof top_names / sizeof top_names[0])

static const char *const entry_names[] = {"ranks", "do"};

/* Complain about keys that are none of `known`. */
static void check_keys(struct emu_script_reading *r, const struct emu_node *map,
                       const char *const *known, size_t count)
{
    for (const struct emu_node *e = map->first; e; e = e->next) {
        size_t i = 0;
        while (i < count && strcmp(known[i], e->key->text) != 0)
            i++;
        if (i < count)
            continue;
        bool room = emu_complaints_room(r->base.complaints);
        emu_complaints_add(r->base.complaints, emu_node_spot_of_key(e), "unknown key '%.60s'",
                           e->key->text);
        const char *near = room ? emu_suggest(e->key->text, known, count) : NULL;
        if (near)
            emu_complaints_note(r->base.complaints, "did you mean '%s'?", near);
    }
}

/* The mesh is read with the rows of configs: text, or {axes, ranks}. */
static void read_mesh(struct emu_script_reading *r, const struct emu_node *node)
{
    r->base.mesh_bad = true;
    if (node->kind == EMU_NODE_BROKEN ||
        !emu_mesh_read(&r->base, emu_schema_find("", "mesh", ~0U), node))
        return;
    uint32_t world = r->base.config->mesh.world;
    if (world > EMU_SCRIPT_MAX_WORLD) {
        emu_complaints_add(r->base.complaints, emu_node_spot(node),
                           "%" PRIu32 " ranks are %" PRIu32 " processes; a script may have %d",
                           world, world, EMU_SCRIPT_MAX_WORLD);
        return;
    }
    r->base.mesh_bad = false;
    emu_roster_init(&r->script->roster, &r->base.config->mesh);
    r->entry_of = emu_store_alloc(r->base.store, world, sizeof *r->entry_of);
    for (uint32_t rank = 0; r->entry_of && rank < world; rank++)
        r->entry_of[rank] = UINT32_MAX;
    r->script->entry_of = r->entry_of;
}

static void read_semantics(struct emu_script_reading *r, const struct emu_node *node)
{
    static const struct emu_word words[] = {{"strict", 0}, {"buffered", 1}, {NULL, 0}};
    struct emu_key key = {.path = "semantics", .kind = EMU_KEY_WORD, .words = words};
    unsigned value = 0;
    if (node->kind != EMU_NODE_BROKEN)
        (void)emu_scalar_read(&r->base, &key, node, &value);
    r->script->buffered = value == 1;
}

/* A budget of nothing is not the same as none. */
static void read_budget(struct emu_script_reading *r, const struct emu_node *node, uint64_t *ns)
{
    struct emu_key key = {.path = node->key->text, .kind = EMU_KEY_DURATION};
    if (node->kind == EMU_NODE_BROKEN || !emu_scalar_read(&r->base, &key, node, ns))
        return;
    if (*ns == 0)
        *ns = 1;
}

static void check_results(struct emu_script_reading *r, const struct emu_node *node,
                          const struct emu_script_entry *entry)
{
    if (entry->results <= EMU_SCRIPT_MAX_RESULTS)
        return;
    emu_complaints_add(
        r->base.complaints, emu_node_spot_of_key(emu_node_get(node, "do")),
        "%s%" PRIu64 " calls of a rank would report a value; %" PRIu64 " are allowed",
        entry->results == UINT64_MAX ? "more than " : "", entry->results, EMU_SCRIPT_MAX_RESULTS);
    emu_complaints_note(r->base.complaints, "repeat less often; a barrier reports none");
}

static void read_entry(struct emu_script_reading *r, const struct emu_node *node, uint32_t number,
                       struct emu_script_entry *entry)
{
    if (node->kind != EMU_NODE_MAP) {
        emu_script_mistake(r, "program", "a list of {ranks, do}", node);
        return;
    }
    entry->line = node->line;
    check_keys(r, node, entry_names, 2);
    const struct emu_node *ranks = emu_node_get(node, "ranks");
    const struct emu_node *ops = emu_node_get(node, "do");
    if (!ranks || !ops)
        emu_complaints_add(r->base.complaints, emu_node_spot(node),
                           "an entry of 'program' needs '%s'", ranks ? "do" : "ranks");
    if (ranks && ranks->kind != EMU_NODE_BROKEN && r->entry_of)
        emu_script_read_ranks(r, ranks, number);
    if (ops && ops->kind != EMU_NODE_BROKEN) {
        emu_script_read_entry_ops(r, ops, entry);
        check_results(r, node, entry);
    }
}

static void read_program(struct emu_script_reading *r, const struct emu_node *node)
{
    if (node->kind != EMU_NODE_LIST) {
        emu_script_mistake(r, "program", "a list of {ranks, do}", node);
        return;
    }
    struct emu_script_entry *entries = emu_store_alloc(r->base.store, node->count, sizeof *entries);
    uint32_t count = 0;
    for (const struct emu_node *e = node->first; entries && e; e = e->next, count++)
        read_entry(r, e, count, &entries[count]);
    r->script->entries = entries;
    r->script->entry_count = count;
}

static void refuse_missing(struct emu_script_reading *r, const char *name, const char *example)
{
    emu_complaints_add(r->base.complaints, (struct emu_spot){r->base.source, 0, 1},
                       "'%s' is missing", name);
    emu_complaints_note(r->base.complaints, "write, for example, %s", example);
}

/* Groups and ranks need the mesh, ops the groups: the order of reading is not that of the file. */
static void read_root(struct emu_script_reading *r, const struct emu_node *root)
{
    if (!root || emu_node_is_null(root) || root->kind != EMU_NODE_MAP) {
        if (!root || root->kind != EMU_NODE_BROKEN)
            emu_complaints_add(r->base.complaints, (struct emu_spot){r->base.source, 0, 1},
                               "a script is a mapping of these keys: " NAMES_HINT);
        return;
    }
    check_keys(r, root, top_names, TOP_COUNT);
    const struct emu_node *node[TOP_COUNT];
    for (size_t i = 0; i < TOP_COUNT; i++)
        node[i] = emu_node_get(root, top_names[i]);
    r->base.mesh_bad = true;
    if (node[0])
        read_mesh(r, node[0]);
    else
        refuse_missing(r, "mesh", "mesh: dp=2,tp=2");
    if (node[1])
        read_semantics(r, node[1]);
    if (node[3] && !r->base.mesh_bad)
        emu_script_read_groups(r, node[3]);
    if (node[4] && !emu_node_is_null(node[4]))
        read_budget(r, node[4], &r->script->stall_after_ns);
    if (node[5])
        read_budget(r, node[5], &r->script->stop_grace_ns);
    if (!node[2])
        refuse_missing(r, "program", "program: [{ranks: all, do: [{barrier: {over: world}}]}]");
    else if (node[2]->kind != EMU_NODE_BROKEN)
        read_program(r, node[2]);
}

static struct keep *make_keep(const struct emu_script_params *params)
{
    struct keep *keep = calloc(1, sizeof *keep);
    if (!keep)
        return NULL;
    const char *name = params->name ? params->name : "script";
    size_t kept = params->size < EMU_SOURCE_MAX_BYTES ? params->size : EMU_SOURCE_MAX_BYTES;
    keep->source.name = emu_store_copy(&keep->store, name, strlen(name));
    keep->source.text = emu_store_copy(&keep->store, params->text, kept);
    keep->source.size = params->size; /* a longer one is refused, and its size reported */
    keep->script.name = keep->source.name;
    keep->script.stop_grace_ns = UINT64_C(2000000000);
    keep->script.keep = keep;
    return keep;
}

static enum emu_status read_script(struct keep *keep, struct emu_complaints *complaints)
{
    struct emu_script_reading r = {
        .base = {.config = &keep->scratch,
                 .store = &keep->store,
                 .complaints = complaints,
                 .source = &keep->source,
                 .directory = ""},
        .script = &keep->script,
    };
    struct emu_node *root = NULL;
    enum emu_status status = emu_document_read(&keep->source, complaints, &root);
    if (status == EMU_OK)
        read_root(&r, root);
    if (keep->store.failed || status == EMU_ENOMEM)
        return EMU_ENOMEM;
    return complaints->total ? EMU_EPARSE : EMU_OK;
}

enum emu_status emu_script_read(const struct emu_script_params *params,
                                struct emu_text *diagnostics, struct emu_script **script)
{
    struct keep *keep = make_keep(params);
    struct emu_complaints *complaints =
        keep ? emu_store_alloc(&keep->store, 1, sizeof *complaints) : NULL;
    enum emu_status status = EMU_ENOMEM;
    if (complaints) {
        complaints->store = &keep->store;
        status = read_script(keep, complaints);
    }
    if (status == EMU_EPARSE)
        emu_complaints_print(complaints, diagnostics);
    if (keep) {
        keep->script.mesh = keep->scratch.mesh;
        keep->script.roster.mesh = &keep->script.mesh;
    }
    if (status == EMU_OK)
        *script = &keep->script;
    else if (keep)
        emu_script_destroy(&keep->script);
    return status;
}

void emu_script_destroy(struct emu_script *script)
{
    if (!script)
        return;
    struct keep *keep = script->keep;
    emu_roster_finish(&script->roster);
    emu_mesh_finish(&script->mesh);
    emu_store_finish(&keep->store);
    free(keep);
}
