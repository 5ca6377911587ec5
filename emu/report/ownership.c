#include "report/ownership.h"

#include "check/text_table.h"
#include "plan/holders.h"

#include <inttypes.h>
#include <stdlib.h>

#define SHARDS_SHOWN 12
#define RANKS_SHOWN 8

static const char *const names[EMU_HELD_COUNT] = {"weights", "optimizer"};

struct ownership {
    bool *dead; /* world entries; NULL: nobody died */
    uint32_t dead_count;
    struct emu_holders holders[EMU_HELD_COUNT];
};

static void mark_dead(const struct emu_training_result *result, struct ownership *own)
{
    uint32_t world = result->plan->roster.mesh->world;
    for (size_t i = 0; i < result->findings.count; i++) {
        const struct emu_finding *finding = &result->findings.items[i];
        if (finding->class_id != EMU_CLASS_CRASH && finding->class_id != EMU_CLASS_EARLY_EXIT)
            continue;
        for (size_t k = 0; k < finding->culprit_count; k++) {
            uint32_t rank = finding->culprits[k];
            if (rank >= world || own->dead[rank])
                continue;
            own->dead[rank] = true;
            own->dead_count++;
        }
    }
}

static void finish(struct ownership *own)
{
    for (int what = 0; what < EMU_HELD_COUNT; what++)
        emu_holders_finish(&own->holders[what]);
    free(own->dead);
}

/* false: no memory. With dead_count 0 there is nothing more to say. */
static bool find(const struct emu_training_result *result, struct ownership *own)
{
    *own = (struct ownership){.dead = calloc(result->plan->roster.mesh->world, sizeof *own->dead)};
    if (!own->dead)
        return false;
    mark_dead(result, own);
    for (int what = 0; own->dead_count > 0 && what < EMU_HELD_COUNT; what++)
        if (emu_holders_find(result->plan, (enum emu_held)what, own->dead, &own->holders[what]) !=
            EMU_OK) {
            finish(own);
            return false;
        }
    return true;
}

/* "pp=0, tp=1, part 2 of 4"; "every rank" where nothing is cut. */
static void add_where(const struct emu_plan *plan, const struct emu_held_shard *shard,
                      struct emu_text *out)
{
    size_t before = out->size;
    if (plan->pp > 1)
        emu_text_printf(out, "pp=%" PRIu32, shard->stage);
    if (shard->tied)
        emu_text_printf(out, " and %" PRIu32, plan->pp - 1);
    if (shard->tp != EMU_HELD_BY_ALL)
        emu_text_printf(out, "%stp=%" PRIu32, out->size > before ? ", " : "", shard->tp);
    if (shard->part != EMU_HELD_BY_ALL)
        emu_text_printf(out, "%spart %" PRIu32 " of %" PRIu32, out->size > before ? ", " : "",
                        shard->part, plan->shard_parts);
    if (out->size == before)
        emu_text_puts(out, "every rank");
}

static void add_holders(const struct emu_held_shard *shard, const bool *dead, bool alive,
                        struct emu_text *out)
{
    uint32_t shown = 0;
    for (uint32_t i = 0; i < shard->count; i++) {
        if (dead[shard->holders[i]] == alive)
            continue;
        if (shown < RANKS_SHOWN)
            emu_text_printf(out, "%s%" PRIu32, shown ? " " : "", shard->holders[i]);
        shown++;
    }
    if (shown > RANKS_SHOWN)
        emu_text_printf(out, " and %" PRIu32 " more", shown - RANKS_SHOWN);
    if (shown == 0)
        emu_text_puts(out, alive ? "nobody" : "none");
}

static void add_row(const struct emu_plan *plan, const struct ownership *own, int what,
                    const struct emu_held_shard *shard, struct emu_text_table *table)
{
    struct emu_text cells[3] = {{0}};
    add_where(plan, shard, &cells[0]);
    add_holders(shard, own->dead, false, &cells[1]);
    add_holders(shard, own->dead, true, &cells[2]);
    emu_text_table_cell(table, "%s", names[what]);
    emu_text_table_cell(table, "%s", emu_text_get(&cells[0]));
    if (shard->tensors > 1)
        emu_text_table_cell(table, "%s and %" PRIu32 " more",
                            plan->tensors[shard->first_tensor].name, shard->tensors - 1);
    else
        emu_text_table_cell(table, "%s", plan->tensors[shard->first_tensor].name);
    emu_text_table_cell(table, "%" PRIu64, shard->elements);
    for (int i = 1; i < 3; i++)
        emu_text_table_cell(table, "%s", emu_text_get(&cells[i]));
    for (int i = 0; i < 3; i++)
        emu_text_finish(&cells[i]);
}

/* Those with the fewest living holders first. */
static void add_rows(const struct emu_plan *plan, const struct ownership *own, int what,
                     struct emu_text_table *table)
{
    const struct emu_holders *holders = &own->holders[what];
    size_t shown = 0;
    for (uint64_t alive = holders->fewest; shown < holders->count && shown < SHARDS_SHOWN;) {
        uint64_t next = UINT64_MAX;
        for (size_t i = 0; i < holders->count && shown < SHARDS_SHOWN; i++) {
            if (holders->shards[i].alive == alive) {
                add_row(plan, own, what, &holders->shards[i], table);
                shown++;
            } else if (holders->shards[i].alive > alive && holders->shards[i].alive < next) {
                next = holders->shards[i].alive;
            }
        }
        alive = next;
    }
}

static void add_verdict(const struct ownership *own, int what, struct emu_text *out)
{
    const struct emu_holders *holders = &own->holders[what];
    uint64_t elements = 0;
    for (size_t i = 0; i < holders->count; i++)
        elements += holders->shards[i].alive ? 0 : holders->shards[i].elements;
    if (holders->count == 0)
        emu_text_printf(out, "  %s: it has no state\n", names[what]);
    else if (holders->lost == 0)
        emu_text_printf(out,
                        "  %s: each of %zu shards has a living holder, the rarest %" PRIu32 "\n",
                        names[what], holders->count, holders->fewest);
    else
        emu_text_printf(out,
                        "  %s: %zu of %zu shards lost the last owner, with the state of %" PRIu64
                        " parameters\n",
                        names[what], holders->lost, holders->count, elements);
    if (holders->count > SHARDS_SHOWN)
        emu_text_printf(out, "    (%d of them are shown above, the rarest first)\n", SHARDS_SHOWN);
}

static void print(const struct emu_plan *plan, const struct ownership *own, struct emu_text *out)
{
    static const char *const headings[] = {"state",    "shard", "parameters",
                                           "elements", "dead",  "alive"};
    uint32_t world = plan->roster.mesh->world;
    struct emu_text_table table;
    emu_text_printf(out,
                    "\nownership after the death of %" PRIu32 " of %" PRIu32
                    " ranks (the others were ended): who held what by the plan\n",
                    own->dead_count, world);
    emu_text_table_init(&table, 6);
    for (size_t i = 0; i < 6; i++)
        emu_text_table_cell(&table, "%s", headings[i]);
    for (int what = 0; what < EMU_HELD_COUNT; what++)
        add_rows(plan, own, what, &table);
    emu_text_table_print(&table, "  ", out);
    out->failed = out->failed || table.failed;
    emu_text_table_finish(&table);
    for (int what = 0; what < EMU_HELD_COUNT; what++)
        add_verdict(own, what, out);
}

void emu_ownership_print(const struct emu_training_result *result, struct emu_text *out)
{
    struct ownership own;
    if (!find(result, &own)) {
        out->failed = true;
        return;
    }
    if (own.dead_count > 0)
        print(result->plan, &own, out);
    finish(&own);
}

static void put_ranks(struct emu_json *json, const struct emu_held_shard *shard, const bool *dead)
{
    emu_json_key(json, "ranks");
    emu_json_array_begin(json);
    for (uint32_t i = 0; i < shard->count; i++)
        emu_json_u64(json, shard->holders[i]);
    emu_json_array_end(json);
    emu_json_key(json, "alive");
    emu_json_array_begin(json);
    for (uint32_t i = 0; i < shard->count; i++)
        if (!dead[shard->holders[i]])
            emu_json_u64(json, shard->holders[i]);
    emu_json_array_end(json);
}

static void put_shard(struct emu_json *json, const struct emu_plan *plan,
                      const struct emu_held_shard *shard, size_t number, const bool *dead)
{
    struct emu_text where = {0};
    add_where(plan, shard, &where);
    emu_json_object_begin(json);
    emu_json_put_u64(json, "shard", number);
    emu_json_put_string(json, "where", emu_text_get(&where));
    emu_json_put_string(json, "parameter", plan->tensors[shard->first_tensor].name);
    emu_json_put_u64(json, "parameters", shard->tensors);
    emu_json_put_u64(json, "elements", shard->elements);
    put_ranks(json, shard, dead);
    emu_json_object_end(json);
    json->failed = json->failed || where.failed;
    emu_text_finish(&where);
}

static void put_state(struct emu_json *json, const struct emu_plan *plan,
                      const struct emu_holders *holders, const bool *dead)
{
    emu_json_object_begin(json);
    emu_json_put_u64(json, "shards", holders->count);
    emu_json_put_u64(json, "distinct_alive", holders->count - holders->lost);
    emu_json_key(json, "lost");
    emu_json_array_begin(json);
    for (size_t i = 0; i < holders->count; i++)
        if (holders->shards[i].alive == 0)
            emu_json_u64(json, i);
    emu_json_array_end(json);
    emu_json_put_u64(json, "fewest", holders->fewest);
    emu_json_key(json, "holders");
    emu_json_array_begin(json);
    for (size_t i = 0; i < holders->count && !json->failed; i++)
        put_shard(json, plan, &holders->shards[i], i, dead);
    emu_json_array_end(json);
    emu_json_object_end(json);
}

static void put(struct emu_json *json, const struct emu_plan *plan, const struct ownership *own)
{
    emu_json_key(json, "ownership");
    emu_json_object_begin(json);
    emu_json_key(json, "dead");
    emu_json_array_begin(json);
    for (uint32_t rank = 0; rank < plan->roster.mesh->world; rank++)
        if (own->dead[rank])
            emu_json_u64(json, rank);
    emu_json_array_end(json);
    for (int what = 0; what < EMU_HELD_COUNT; what++) {
        emu_json_key(json, names[what]);
        put_state(json, plan, &own->holders[what], own->dead);
    }
    emu_json_object_end(json);
}

void emu_ownership_to_json(const struct emu_training_result *result, struct emu_json *json)
{
    struct ownership own;
    if (!find(result, &own)) {
        json->failed = true;
        return;
    }
    if (own.dead_count > 0)
        put(json, result->plan, &own);
    finish(&own);
}
