#include "report/breakdown_table.h"

#include "check/finding_build.h"
#include "check/text_table.h"

#include <inttypes.h>
#include <stdio.h>

#define NS_PER_MS 1e6
#define COLUMNS (2 + EMU_SPENT_COUNT + 2)

static void add_heading(struct emu_text_table *table)
{
    emu_text_table_cell(table, "rank");
    emu_text_table_cell(table, "coordinate");
    for (int i = 0; i < EMU_SPENT_COUNT; i++)
        emu_text_table_cell(table, "%s", emu_spent_name((enum emu_spent)i));
    emu_text_table_cell(table, "total");
    emu_text_table_cell(table, "on a core");
}

static void add_times(struct emu_text_table *table, const struct emu_rank_time *time)
{
    for (int i = 0; i < EMU_SPENT_COUNT; i++)
        emu_text_table_cell(table, "%.2f", (double)time->ns[i] / NS_PER_MS);
    emu_text_table_cell(table, "%.2f", (double)emu_rank_time_total(time) / NS_PER_MS);
    emu_text_table_cell(table, "%.2f", (double)time->cpu_ns / NS_PER_MS);
}

static void add_rank(struct emu_text_table *table, const struct emu_mesh *mesh, uint32_t rank,
                     const struct emu_rank_time *time)
{
    struct emu_text coordinate = {0};
    emu_coordinate_text(&coordinate, mesh, rank);
    emu_text_table_cell(table, "%" PRIu32, rank);
    emu_text_table_cell(table, "%s", emu_text_get(&coordinate));
    emu_text_finish(&coordinate);
    add_times(table, time);
}

static struct emu_rank_time sum_of(const struct emu_breakdown *breakdown)
{
    struct emu_rank_time sum = {{0}, 0};
    for (uint32_t rank = 0; rank < breakdown->world; rank++) {
        for (int i = 0; i < EMU_SPENT_COUNT; i++)
            sum.ns[i] += breakdown->ranks[rank].ns[i];
        sum.cpu_ns += breakdown->ranks[rank].cpu_ns;
    }
    return sum;
}

static void add_shares(const struct emu_breakdown *breakdown, struct emu_text *out)
{
    struct emu_rank_time sum = sum_of(breakdown);
    double total = (double)emu_rank_time_total(&sum);
    emu_text_puts(out, "  of all ranks' time:");
    for (int i = 0; i < EMU_SPENT_COUNT && total > 0; i++)
        emu_text_printf(out, "%s %s %.1f %%", i ? "," : "", emu_spent_name((enum emu_spent)i),
                        100.0 * (double)sum.ns[i] / total);
    emu_text_putc(out, '\n');
}

static void add_table(const struct emu_training_result *result, struct emu_text *out)
{
    const struct emu_breakdown *breakdown = result->breakdown;
    uint32_t shown = breakdown->world <= EMU_BREAKDOWN_RANKS_MOST ? breakdown->world
                                                                  : EMU_BREAKDOWN_RANKS_MOST - 1;
    struct emu_text_table table;
    emu_text_table_init(&table, COLUMNS);
    add_heading(&table);
    for (uint32_t rank = 0; rank < shown; rank++)
        add_rank(&table, result->plan->roster.mesh, rank, &breakdown->ranks[rank]);
    emu_text_table_print(&table, "  ", out);
    emu_text_table_finish(&table);
    if (shown < breakdown->world)
        emu_text_printf(out, "  and %" PRIu32 " more\n", breakdown->world - shown);
}

void emu_breakdown_print(const struct emu_training_result *result, struct emu_text *out)
{
    const struct emu_breakdown *breakdown = result->breakdown;
    emu_text_puts(out, "\nwhere the time went");
    if (!breakdown) {
        emu_text_puts(out, "\n  no step was completed\n");
        return;
    }
    emu_text_printf(out, ": %" PRIu64 " step%s, in milliseconds; ranks %s\n", breakdown->steps,
                    breakdown->steps == 1 ? "" : "s",
                    result->pinned ? "pinned to processors" : "not pinned");
    add_table(result, out);
    add_shares(breakdown, out);
    emu_text_printf(out,
                    "  the launcher was on a core for %.2f ms of checks and %.2f ms of the oracle, "
                    "which runs beside the ranks\n",
                    (double)breakdown->audit_cpu_ns / NS_PER_MS,
                    (double)breakdown->oracle_cpu_ns / NS_PER_MS);
}

static void put_rank(struct emu_json *json, uint32_t rank, const struct emu_rank_time *time)
{
    emu_json_object_begin(json);
    emu_json_put_u64(json, "rank", rank);
    for (int i = 0; i < EMU_SPENT_COUNT; i++) {
        char name[32];
        snprintf(name, sizeof name, "%s_ns", emu_spent_name((enum emu_spent)i));
        emu_json_put_u64(json, name, time->ns[i]);
    }
    emu_json_put_u64(json, "total_ns", emu_rank_time_total(time));
    emu_json_put_u64(json, "cpu_ns", time->cpu_ns);
    emu_json_object_end(json);
}

void emu_breakdown_to_json(const struct emu_breakdown *breakdown, struct emu_json *json)
{
    emu_json_object_begin(json);
    emu_json_put_u64(json, "steps", breakdown->steps);
    emu_json_put_u64(json, "audit_cpu_ns", breakdown->audit_cpu_ns);
    emu_json_put_u64(json, "oracle_cpu_ns", breakdown->oracle_cpu_ns);
    emu_json_key(json, "ranks");
    emu_json_array_begin(json);
    for (uint32_t rank = 0; rank < breakdown->world; rank++)
        put_rank(json, rank, &breakdown->ranks[rank]);
    emu_json_array_end(json);
    emu_json_object_end(json);
}
