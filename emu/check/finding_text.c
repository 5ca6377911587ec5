#include "check/call_words.h"
#include "check/consequence_text.h"
#include "check/finding_build.h"
#include "check/finding_values.h"
#include "check/text_table.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define INDENT EMU_FINDING_INDENT
#define MEMBERS_SHOWN 12 /* of larger groups equal members are counted, not listed */
#define KINDS_SHOWN 8
#define CULPRITS_SHOWN 8
#define RANKS_SHOWN 16
#define WAITS_SHOWN 16

void emu_coordinate_text(struct emu_text *out, const struct emu_mesh *mesh, uint32_t rank)
{
    if (!mesh || rank >= mesh->world) {
        emu_text_puts(out, "outside the mesh");
        return;
    }
    uint32_t coords[EMU_MESH_MAX_AXES];
    emu_mesh_coords(mesh, rank, coords);
    for (uint32_t i = 0; i < mesh->axis_count; i++)
        emu_text_printf(out, "%s%s=%" PRIu32, i > 0 ? "," : "", mesh->axes[i].name, coords[i]);
}

void emu_rank_text(struct emu_text *out, const struct emu_mesh *mesh, uint32_t rank)
{
    emu_text_printf(out, "rank %" PRIu32 " (", rank);
    emu_coordinate_text(out, mesh, rank);
    emu_text_putc(out, ')');
}

static bool is_culprit(const struct emu_finding *finding, uint32_t rank)
{
    for (size_t i = 0; i < finding->culprit_count; i++)
        if (finding->culprits[i] == rank)
            return true;
    return false;
}

/* "0, 1, 2": of a long list the first ones and how many there are. */
static void add_ranks(struct emu_text *out, const uint32_t *ranks, size_t count)
{
    size_t shown = count <= RANKS_SHOWN ? count : RANKS_SHOWN - 2;
    for (size_t i = 0; i < shown; i++)
        emu_text_printf(out, "%s%" PRIu32, i > 0 ? ", " : "", ranks[i]);
    if (shown < count)
        emu_text_printf(out, ", ... %" PRIu32 " (%zu ranks)", ranks[count - 1], count);
}

static void add_group(const struct emu_finding *finding, const struct emu_mesh *mesh,
                      struct emu_text *out)
{
    if (finding->group_size == 0)
        return;
    emu_text_printf(out, INDENT "%s%s {", finding->group_name ? "group " : "ranks",
                    finding->group_name ? finding->group_name : "");
    add_ranks(out, finding->group, finding->group_size);
    emu_text_putc(out, '}');
    if (finding->member_count == 0 && finding->group_size <= RANKS_SHOWN) {
        emu_text_puts(out, " at");
        for (size_t i = 0; i < finding->group_size; i++) {
            emu_text_puts(out, i > 0 ? ", (" : " (");
            emu_coordinate_text(out, mesh, finding->group[i]);
            emu_text_putc(out, ')');
        }
    }
    if (finding->has_index)
        emu_text_printf(out, ", call %" PRIu64, finding->index);
    emu_text_putc(out, '\n');
}

static bool members_agree(const struct emu_member_view *a, const struct emu_member_view *b)
{
    return a->has_call == b->has_call && strcmp(a->state, b->state) == 0 &&
           (!a->has_call || emu_call_views_agree(&a->call, &b->call));
}

/* Members by what they do, culprits apart: of each kind the first one, and how many there are. */
struct kinds {
    size_t first[KINDS_SHOWN], like[KINDS_SHOWN];
    size_t count;
    size_t left; /* of further kinds */
};

static void add_to_kinds(const struct emu_finding *finding, size_t member, struct kinds *kinds)
{
    const struct emu_member_view *members = finding->members;
    for (size_t k = 0; k < kinds->count; k++) {
        if (!members_agree(&members[member], &members[kinds->first[k]]))
            continue;
        kinds->like[k]++;
        return;
    }
    if (kinds->count == KINDS_SHOWN) {
        kinds->left++;
        return;
    }
    kinds->first[kinds->count] = member;
    kinds->like[kinds->count++] = 1;
}

static struct kinds kinds_of(const struct emu_finding *finding)
{
    struct kinds kinds = {.count = 0};
    for (size_t i = 0; i < finding->member_count; i++)
        if (!is_culprit(finding, finding->members[i].rank))
            add_to_kinds(finding, i, &kinds);
    return kinds;
}

static bool is_first(const struct kinds *kinds, size_t member)
{
    for (size_t k = 0; k < kinds->count; k++)
        if (kinds->first[k] == member)
            return true;
    return false;
}

static void cell_if(struct emu_text_table *table, bool given, const char *text)
{
    emu_text_table_cell(table, "%s", given ? text : "");
}

static void cell_number_if(struct emu_text_table *table, bool given, int64_t number)
{
    if (given)
        emu_text_table_cell(table, "%" PRId64, number);
    else
        emu_text_table_cell(table, "%s", "");
}

static const char *const headings[] = {"",      "rank",  "coordinate", "state", "call",
                                       "group", "count", "dtype",      "op",    "root",
                                       "peer",  "tag",   "label",      "at"};
#define HEADINGS (sizeof headings / sizeof *headings)

static void add_call_cells(struct emu_text_table *table, const struct emu_call_view *call)
{
    bool message = emu_kind_is_message(call->kind);
    bool data = call->kind != EMU_BARRIER;
    emu_text_table_cell(table, "%s", emu_kind_name(call->kind));
    emu_text_table_cell(table, "%.*s", EMU_NAME_MAX, message ? "" : call->group_name);
    if (data)
        emu_text_table_cell(table, "%" PRIu64, call->count);
    else
        emu_text_table_cell(table, "%s", "");
    cell_if(table, data, emu_dtype_name(call->dtype));
    cell_if(table, emu_kind_reduces(call->kind), emu_op_name(call->op));
    cell_number_if(table, emu_kind_has_root(call->kind), call->root);
    cell_number_if(table, message, call->peer);
    cell_number_if(table, message, call->tag);
    emu_text_table_cell(table, "%.*s", EMU_NAME_MAX, call->label);
    if (call->line > 0)
        emu_text_table_cell(table, "%.*s:%" PRIu32, (int)sizeof call->file, call->file, call->line);
    else
        emu_text_table_cell(table, "%.*s", (int)sizeof call->file, call->file);
}

static void add_member_row(struct emu_text_table *table, const struct emu_finding *finding,
                           const struct emu_mesh *mesh, size_t member)
{
    const struct emu_member_view *view = &finding->members[member];
    struct emu_text coordinate = {0};
    emu_coordinate_text(&coordinate, mesh, view->rank);
    emu_text_table_cell(table, "%s", is_culprit(finding, view->rank) ? ">" : "");
    emu_text_table_cell(table, "%" PRIu32, view->rank);
    emu_text_table_cell(table, "%s", emu_text_get(&coordinate));
    emu_text_table_cell(table, "%.*s", (int)sizeof view->state, view->state);
    emu_text_finish(&coordinate);
    if (view->has_call) {
        add_call_cells(table, &view->call);
        return;
    }
    while (table->count % table->columns != 0 && !table->failed)
        emu_text_table_cell(table, "%s", "");
}

static void add_like(const struct emu_finding *finding, const struct kinds *kinds, size_t culprits,
                     struct emu_text *out)
{
    for (size_t k = 0; k < kinds->count; k++)
        if (kinds->like[k] > 1)
            emu_text_printf(out, INDENT "and %zu more like rank %" PRIu32 "\n", kinds->like[k] - 1,
                            finding->members[kinds->first[k]].rank);
    if (kinds->left > 0)
        emu_text_printf(out, INDENT "and %zu more that differ from these\n", kinds->left);
    if (culprits > CULPRITS_SHOWN)
        emu_text_printf(out, INDENT "and %zu more culprits\n", culprits - CULPRITS_SHOWN);
}

/* All members, or of a large group the first culprits and one of each kind of the others. */
static void add_members(const struct emu_finding *finding, const struct emu_mesh *mesh,
                        struct emu_text *out)
{
    if (finding->member_count == 0)
        return;
    bool all = finding->member_count <= MEMBERS_SHOWN;
    struct kinds kinds = kinds_of(finding);
    size_t culprits = 0;
    struct emu_text_table table;
    emu_text_table_init(&table, HEADINGS);
    for (size_t i = 0; i < HEADINGS; i++)
        emu_text_table_cell(&table, "%s", headings[i]);
    for (size_t i = 0; i < finding->member_count; i++) {
        bool culprit = is_culprit(finding, finding->members[i].rank);
        culprits += culprit;
        if (all || (culprit ? culprits <= CULPRITS_SHOWN : is_first(&kinds, i)))
            add_member_row(&table, finding, mesh, i);
    }
    emu_text_table_print(&table, INDENT, out);
    emu_text_table_finish(&table);
    if (!all)
        add_like(finding, &kinds, culprits, out);
}

static void add_waits(const struct emu_finding *finding, struct emu_text *out)
{
    for (size_t i = 0; i < finding->wait_count && i < WAITS_SHOWN; i++) {
        const struct emu_wait_view *wait = &finding->waits[i];
        emu_text_printf(out, INDENT "rank %" PRIu32 " waits for %s ", wait->rank,
                        wait->target_count == 1 ? "rank" : "ranks");
        add_ranks(out, wait->targets, wait->target_count);
        emu_text_printf(out, " in %s, call %" PRIu64 "\n", emu_kind_name(wait->kind), wait->index);
    }
    if (finding->wait_count > WAITS_SHOWN)
        emu_text_printf(out, INDENT "and %zu more waits\n", finding->wait_count - WAITS_SHOWN);
}

static void add_culprits(const struct emu_finding *finding, const struct emu_mesh *mesh,
                         struct emu_text *out)
{
    if (finding->culprit_count == 0 && !finding->undecided)
        return;
    emu_text_puts(out, INDENT "culprit");
    emu_text_puts(out, finding->culprit_count > 1 ? "s: " : ": ");
    if (finding->culprit_count == 0)
        emu_text_puts(out, "undecided: no minority among them");
    for (size_t i = 0; i < finding->culprit_count && i < RANKS_SHOWN; i++) {
        emu_text_puts(out, i > 0 ? ", " : "");
        emu_rank_text(out, mesh, finding->culprits[i]);
    }
    if (finding->culprit_count > RANKS_SHOWN)
        emu_text_printf(out, ", ... (%zu ranks)", finding->culprit_count);
    emu_text_putc(out, '\n');
}

static void add_line(struct emu_text *out, const char *what, const char *text)
{
    if (!text)
        return;
    emu_text_printf(out, INDENT "%s: ", what);
    emu_text_visible(out, text);
    emu_text_putc(out, '\n');
}

static void add_delay(const struct emu_finding *finding, struct emu_text *out)
{
    if (finding->after_ns < 0)
        return;
    emu_text_puts(out, INDENT "found after: ");
    emu_delay_text((uint64_t)finding->after_ns, out);
    emu_text_putc(out, '\n');
}

void emu_finding_to_text(const struct emu_finding *finding, const struct emu_mesh *mesh,
                         struct emu_text *out)
{
    emu_text_printf(out, "  %s%s: ", emu_class_name(finding->class_id),
                    finding->note ? " (note)" : "");
    emu_text_visible(out, finding->message ? finding->message : "no memory was left to say more");
    emu_text_putc(out, '\n');
    if (finding->note && finding->group_size + finding->member_count == 0)
        return; /* nothing to act on: one line */
    add_group(finding, mesh, out);
    add_members(finding, mesh, out);
    add_waits(finding, out);
    add_culprits(finding, mesh, out);
    emu_finding_values_text(finding, out);
    emu_consequences_text(finding, out);
    add_delay(finding, out);
    add_line(out, "replay", finding->replay);
}
