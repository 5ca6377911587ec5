/* Which ranks and which groups does a script speak of? */
#include "base/number.h"
#include "base/suggest.h"
#include "config/script_reading.h"

#include <inttypes.h>
#include <string.h>

#define OVER_NAMES_MAX (EMU_MESH_MAX_AXES + 4)
#define RANKS_HINT "a rank, a list of ranks, \"1-3\", all, even or odd"

void emu_script_mistake(struct emu_script_reading *r, const char *name, const char *expected,
                        const struct emu_node *node)
{
    if (node->kind == EMU_NODE_BROKEN)
        return;
    if (node->kind != EMU_NODE_SCALAR || emu_node_is_null(node))
        emu_complaints_add(r->base.complaints, emu_node_spot(node), "'%s' must be %s, not %s", name,
                           expected, emu_node_describe(node));
    else
        emu_complaints_add(r->base.complaints, emu_node_spot(node), "'%s' must be %s, not '%.60s'",
                           name, expected, node->text);
}

static bool has_leading_zero(const char *text)
{
    text += *text == '-';
    return text[0] == '0' && text[1] >= '0' && text[1] <= '9';
}

bool emu_script_read_integer(struct emu_script_reading *r, const char *name,
                             const struct emu_node *node, int64_t *value)
{
    bool scalar = node->kind == EMU_NODE_SCALAR && node->plain && !emu_node_is_null(node);
    if (scalar && !has_leading_zero(node->text) && emu_parse_i64(node->text, value))
        return true;
    emu_script_mistake(r, name, "a whole number", node);
    return false;
}

static uint32_t world_of(const struct emu_script_reading *r)
{
    return r->base.config->mesh.world;
}

static bool refuse_rank(struct emu_script_reading *r, const struct emu_node *node, uint64_t rank)
{
    emu_complaints_add(r->base.complaints, emu_node_spot(node),
                       "no rank %" PRIu64 ": the mesh has ranks 0 to %" PRIu32, rank,
                       world_of(r) - 1);
    return false;
}

/* Ranks first, first + step, ... up to last. The first one that is taken already ends it: a hostile
 * list of many selectors costs little. */
static void give(struct emu_script_reading *r, const struct emu_node *node, const uint64_t range[3],
                 uint32_t entry)
{
    for (uint64_t rank = range[0]; rank <= range[1]; rank += range[2]) {
        if (r->entry_of[rank] != UINT32_MAX) {
            emu_complaints_add(r->base.complaints, emu_node_spot(node),
                               "rank %" PRIu64 " is named already; entries name each rank at most "
                               "once",
                               rank);
            return;
        }
        r->entry_of[rank] = entry;
    }
}

/* "3" or "1-3"; inside the mesh. */
static bool read_range(struct emu_script_reading *r, const struct emu_node *node, uint64_t range[3])
{
    char text[64];
    if (node->size >= sizeof text) {
        emu_script_mistake(r, "ranks", RANKS_HINT, node);
        return false;
    }
    memcpy(text, node->text, node->size + 1);
    char *dash = strchr(text, '-');
    if (dash)
        *dash = '\0';
    if (!emu_parse_u64(text, &range[0]) || (dash && !emu_parse_u64(dash + 1, &range[1]))) {
        emu_script_mistake(r, "ranks", RANKS_HINT, node);
        static const char *const words[] = {"all", "even", "odd"};
        const char *near = emu_suggest(node->text, words, 3);
        if (near)
            emu_complaints_note(r->base.complaints, "did you mean '%s'?", near);
        return false;
    }
    if (!dash)
        range[1] = range[0];
    range[2] = 1;
    if (range[1] >= world_of(r))
        return refuse_rank(r, node, range[1]);
    if (range[0] <= range[1])
        return true;
    emu_complaints_add(r->base.complaints, emu_node_spot(node),
                       "'%s' runs backwards: write the lower rank first", node->text);
    return false;
}

void emu_script_read_ranks(struct emu_script_reading *r, const struct emu_node *node,
                           uint32_t entry)
{
    if (node->kind == EMU_NODE_LIST) {
        for (const struct emu_node *e = node->first; e; e = e->next)
            if (e->kind == EMU_NODE_SCALAR && !emu_node_is_null(e))
                emu_script_read_ranks(r, e, entry);
            else
                emu_script_mistake(r, "ranks", RANKS_HINT, e);
        return;
    }
    if (node->kind != EMU_NODE_SCALAR || emu_node_is_null(node)) {
        emu_script_mistake(r, "ranks", RANKS_HINT, node);
        return;
    }
    uint64_t range[3] = {0, world_of(r) - 1, 1};
    bool even = !strcmp(node->text, "even");
    bool odd = !strcmp(node->text, "odd");
    if (even || odd) {
        range[0] = odd;
        range[2] = 2;
    } else if (strcmp(node->text, "all") != 0 && !read_range(r, node, range)) {
        return;
    }
    give(r, node, range, entry);
}

/* Why emu_roster_add_list would refuse the name; NULL: it would not for the name. */
static const char *name_trouble(const struct emu_script_reading *r, const char *name)
{
    uint32_t family;
    if (!*name || strlen(name) >= EMU_NAME_MAX || strpbrk(name, ", \t"))
        return "a name of 1 to 31 characters without blanks and commas";
    if (!strcmp(name, "world") || !strcmp(name, "tied"))
        return "another name: this one is reserved";
    if (emu_mesh_find(&r->base.config->mesh, name) >= 0)
        return "another name: this one is an axis";
    if (emu_roster_find(&r->script->roster, name, &family) == EMU_OK)
        return "another name: this one is taken";
    return NULL;
}

static bool read_members(struct emu_script_reading *r, const struct emu_node *node,
                         uint32_t *members)
{
    bool *seen = emu_store_alloc(r->base.store, world_of(r), sizeof *seen);
    bool good = seen != NULL;
    size_t count = 0;
    for (const struct emu_node *e = node->first; seen && e; e = e->next, count++) {
        int64_t rank = 0;
        bool read = emu_script_read_integer(r, "groups", e, &rank);
        good = good && read;
        if (read && (rank < 0 || rank >= world_of(r))) {
            emu_complaints_add(r->base.complaints, emu_node_spot(e),
                               "no rank %" PRId64 ": the mesh has ranks 0 to %" PRIu32, rank,
                               world_of(r) - 1);
            good = false;
        } else if (read && seen[rank]) {
            emu_complaints_add(r->base.complaints, emu_node_spot(e),
                               "rank %" PRId64 " is in the group twice", rank);
            good = false;
        } else if (read) {
            seen[rank] = true;
            members[count] = (uint32_t)rank;
        }
    }
    return good;
}

static void read_group(struct emu_script_reading *r, const struct emu_node *node)
{
    const char *trouble = name_trouble(r, node->key->text);
    if (trouble)
        emu_complaints_add(r->base.complaints, emu_node_spot_of_key(node),
                           "a group needs %s, not '%.60s'", trouble, node->key->text);
    if (node->kind != EMU_NODE_LIST || node->count == 0) {
        emu_script_mistake(r, node->key->text, "a list of one rank or more", node);
        return;
    }
    if (node->count > world_of(r)) {
        emu_complaints_add(r->base.complaints, emu_node_spot(node),
                           "the group has %" PRIu32 " members, the mesh %" PRIu32 " ranks",
                           node->count, world_of(r));
        return;
    }
    uint32_t *members = emu_store_alloc(r->base.store, node->count, sizeof *members);
    if (!members || !read_members(r, node, members) || trouble)
        return;
    uint32_t family;
    enum emu_status status =
        emu_roster_add_list(&r->script->roster, node->key->text, members, node->count, &family);
    if (status == EMU_ENOMEM)
        r->base.store->failed = true;
    else if (status != EMU_OK)
        emu_complaints_add(r->base.complaints, emu_node_spot_of_key(node),
                           "too many kinds of groups: %d are allowed, axes and world included",
                           EMU_ROSTER_MAX_FAMILIES);
}

void emu_script_read_groups(struct emu_script_reading *r, const struct emu_node *node)
{
    size_t before = r->base.complaints->total;
    if (node->kind != EMU_NODE_MAP)
        emu_script_mistake(r, "groups", "a mapping of names to lists of ranks", node);
    else
        for (const struct emu_node *e = node->first; e; e = e->next)
            if (e->kind != EMU_NODE_BROKEN)
                read_group(r, e);
    r->groups_bad = before != r->base.complaints->total || emu_node_is_broken(node);
}

/* "tp", or the names of a list with commas between them, in the store. */
static const char *over_text(struct emu_script_reading *r, const struct emu_node *node)
{
    static const char expected[] = "an axis, a list of axes, a group or world";
    if (node->kind == EMU_NODE_SCALAR && !emu_node_is_null(node))
        return node->text;
    if (node->kind != EMU_NODE_LIST || node->count == 0 || node->count > OVER_NAMES_MAX) {
        emu_script_mistake(r, "over", expected, node);
        return NULL;
    }
    struct emu_text joined = {0};
    for (const struct emu_node *e = node->first; e; e = e->next) {
        if (e->kind != EMU_NODE_SCALAR || emu_node_is_null(e)) {
            emu_script_mistake(r, "over", expected, e);
            emu_text_finish(&joined);
            return NULL;
        }
        emu_text_printf(&joined, "%s%s", e == node->first ? "" : ",", e->text);
    }
    const char *text = emu_store_copy(r->base.store, emu_text_get(&joined), joined.size);
    emu_text_finish(&joined);
    return text;
}

static void refuse_over(struct emu_script_reading *r, const struct emu_node *node, const char *text)
{
    const struct emu_roster *roster = &r->script->roster;
    const char *names[EMU_ROSTER_MAX_FAMILIES];
    struct emu_text known = {0};
    for (uint32_t i = 0; i < roster->family_count; i++) {
        names[i] = roster->families[i].name;
        emu_text_printf(&known, "%s%s", i ? ", " : "", names[i]);
    }
    emu_complaints_add(r->base.complaints, emu_node_spot(node), "no group '%.60s'", text);
    const char *near = emu_suggest(text, names, roster->family_count);
    if (near)
        emu_complaints_note(r->base.complaints, "did you mean '%s'?", near);
    else
        emu_complaints_note(r->base.complaints, "there are: %.200s", emu_text_get(&known));
    emu_text_finish(&known);
}

bool emu_script_read_over(struct emu_script_reading *r, const struct emu_node *node,
                          uint32_t *family)
{
    const char *text = over_text(r, node);
    if (!text || r->base.mesh_bad)
        return false;
    if (emu_roster_find(&r->script->roster, text, family) == EMU_OK)
        return true;
    struct emu_axes axes;
    struct emu_mesh_error error = {0};
    if (emu_axes_parse(&r->base.config->mesh, text, &axes, &error) == EMU_OK) {
        if (emu_roster_add_axes(&r->script->roster, &axes, family) == EMU_OK)
            return true;
        emu_complaints_add(r->base.complaints, emu_node_spot(node),
                           "too many kinds of groups: %d are allowed, axes and world included",
                           EMU_ROSTER_MAX_FAMILIES);
    } else if (strchr(text, ',')) {
        emu_complaints_add(r->base.complaints, emu_node_spot(node), "%s", error.message);
    } else if (!r->groups_bad) {
        refuse_over(r, node, text);
    }
    return false;
}
