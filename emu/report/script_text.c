#include "report/script_text.h"

#include "base/number.h"
#include "check/finding_build.h"
#include "check/text_table.h"
#include "report/verdict_text.h"

#include <meshemu/meshemu.h>

#include <inttypes.h>
#include <string.h>

#define RESULTS_SHOWN 40 /* of more: the first ones, and how many there are */
#define RANKS_SHOWN 16

static const char *plural(uint64_t count)
{
    return count == 1 ? "" : "s";
}

static void add_mesh(const struct emu_script *script, struct emu_text *out)
{
    const struct emu_mesh *mesh = &script->mesh;
    emu_text_puts(out, "mesh       ");
    emu_processes_text(mesh, out);
    emu_text_printf(out, "semantics  %s\n",
                    script->buffered ? "buffered: a send that fits returns at once"
                                     : "strict: a send returns when its receive has met it");
}

static void add_program(const struct emu_script *script, struct emu_text *out)
{
    struct emu_text_table table;
    emu_text_table_init(&table, 4);
    emu_text_table_cell(&table, "rank");
    emu_text_table_cell(&table, "coordinate");
    emu_text_table_cell(&table, "ops");
    emu_text_table_cell(&table, "from line");
    uint32_t world = script->mesh.world;
    uint32_t shown = world <= RANKS_SHOWN ? world : RANKS_SHOWN - 1;
    for (uint32_t rank = 0; rank < shown; rank++) {
        const struct emu_script_entry *entry = emu_script_entry_of(script, rank);
        struct emu_text coordinate = {0};
        emu_coordinate_text(&coordinate, &script->mesh, rank);
        emu_text_table_cell(&table, "%" PRIu32, rank);
        emu_text_table_cell(&table, "%s", emu_text_get(&coordinate));
        emu_text_finish(&coordinate);
        emu_text_table_cell(&table, "%" PRIu64, entry ? entry->steps : 0);
        if (entry)
            emu_text_table_cell(&table, "%" PRIu32, entry->line);
        else
            emu_text_table_cell(&table, "%s", "");
    }
    emu_text_table_print(&table, "           ", out);
    emu_text_table_finish(&table);
    if (shown < world)
        emu_text_printf(out, "           and %" PRIu32 " more\n", world - shown);
}

static void add_value(struct emu_text_table *table, const struct emu_script_result *result)
{
    double real;
    char text[EMU_NUMBER_MAX];
    memcpy(&real, &result->bits, sizeof real);
    bool floating = result->op->dtype == EMU_F64 || result->op->dtype == EMU_F32;
    if (floating)
        emu_text_table_cell(table, "%s", emu_number_f64(real, text));
    else
        emu_text_table_cell(table, "%" PRId64, (int64_t)result->bits);
}

static void add_result(struct emu_text_table *table, const struct emu_script *script,
                       const struct emu_script_result *result)
{
    emu_text_table_cell(table, "%" PRIu32, result->rank);
    emu_text_table_cell(table, "%s", result->op->name);
    if (result->group == EMU_GROUP_SELF)
        emu_text_table_cell(table, "from %" PRId64, result->op->from);
    else
        emu_text_table_cell(
            table, "%s",
            script->roster.families[emu_roster_family_of(&script->roster, result->group)].name);
    emu_text_table_cell(table, "%" PRIu64, result->index);
    add_value(table, result);
}

static void add_results(const struct emu_script_outcome *outcome, struct emu_text *out)
{
    static const char *const headings[] = {"rank", "op", "over", "index", "first element"};
    struct emu_text_table table;
    if (outcome->result_count == 0) {
        emu_text_puts(out, "\nno call that yields data was completed\n");
        return;
    }
    emu_text_table_init(&table, 5);
    for (size_t i = 0; i < 5; i++)
        emu_text_table_cell(&table, "%s", headings[i]);
    uint64_t shown = outcome->result_count;
    if (shown > RESULTS_SHOWN)
        shown = RESULTS_SHOWN;
    for (uint64_t i = 0; i < shown; i++)
        add_result(&table, outcome->script, &outcome->results[i]);
    emu_text_puts(out, "\nresults\n");
    emu_text_table_print(&table, "  ", out);
    emu_text_table_finish(&table);
    if (shown < outcome->result_count)
        emu_text_printf(out, "  and %" PRIu64 " more: --json lists all\n",
                        outcome->result_count - shown);
}

static void add_replay(const struct emu_script_replay *replay, struct emu_text *out)
{
    if (replay->verdict == EMU_REPLAY_PASS)
        emu_text_puts(out, "\nreplayed under strict rules: it needs no buffer\n");
    else if (replay->verdict == EMU_REPLAY_TOO_LONG)
        emu_text_puts(out, "\nnot replayed under strict rules: the program is too long\n");
}

static void add_repeats(const struct emu_script_repeats *repeats, struct emu_text *out)
{
    emu_text_printf(out,
                    "\n%" PRIu64 " of %" PRIu64 " run%s made, %" PRIu64
                    " failed; this is run %" PRIu64 "%s\n",
                    repeats->made, repeats->asked, plural(repeats->asked), repeats->failed,
                    repeats->shown, repeats->differs ? ", which differs from the first" : "");
}

void emu_script_to_text(const struct emu_script_outcome *outcome,
                        const struct emu_script_repeats *repeats, bool colour, struct emu_text *out)
{
    emu_text_printf(out, "meshemu %s: script ", EMU_VERSION);
    emu_text_visible(out, outcome->script->name);
    emu_text_putc(out, '\n');
    add_mesh(outcome->script, out);
    add_program(outcome->script, out);
    add_results(outcome, out);
    add_replay(&outcome->replay, out);
    if (repeats)
        add_repeats(repeats, out);
    emu_text_putc(out, '\n');
    emu_verdict_text(&outcome->findings, outcome->job.interrupted, &outcome->script->mesh, colour,
                     out);
}
