#include "report/books_json.h"

#include "report/traffic_map.h"

#include <stdlib.h>

static void put_categories(struct emu_json *json, const char *key, const uint64_t *bytes)
{
    emu_json_key(json, key);
    emu_json_object_begin(json);
    for (int i = 0; i < EMU_CATEGORY_COUNT; i++)
        emu_json_put_u64(json, emu_category_name((enum emu_category)i), bytes[i]);
    emu_json_object_end(json);
}

static void put_memory(struct emu_json *json, const struct emu_rank_books *books)
{
    put_categories(json, "requested", books->requested);
    put_categories(json, "rounded", books->rounded);
    emu_json_key(json, "pss");
    if (books->pss == UINT64_MAX)
        emu_json_null(json);
    else
        emu_json_u64(json, books->pss);
}

static void put_nonzero(struct emu_json *json, const char *name, uint64_t bytes)
{
    if (bytes > 0)
        emu_json_put_u64(json, name, bytes);
}

static void put_traffic(struct emu_json *json, const struct emu_plan *plan,
                        const struct emu_rank_books *books)
{
    const struct emu_roster *roster = &plan->roster;
    emu_json_key(json, "collectives");
    emu_json_object_begin(json);
    for (uint32_t i = 0; i < roster->family_count; i++)
        put_nonzero(json, roster->families[i].name, books->family_bytes[i]);
    emu_json_object_end(json);
    emu_json_key(json, "messages");
    emu_json_object_begin(json);
    for (uint32_t i = 0; i < roster->mesh->axis_count; i++)
        put_nonzero(json, roster->mesh->axes[i].name, books->message_bytes[i]);
    emu_json_object_end(json);
    emu_json_put_u64(json, "lent_calls", books->lent_calls);
}

static void put_pairs(const struct emu_training_result *result, struct emu_json *json)
{
    const struct emu_plan *plan = result->plan;
    uint32_t world = plan->roster.mesh->world;
    uint64_t *row = calloc(world, sizeof *row);
    json->failed = json->failed || !row;
    emu_json_key(json, "pairs");
    emu_json_array_begin(json);
    for (uint32_t from = 0; from < world && !json->failed; from++) {
        emu_traffic_row(plan, &result->books[from], from, row);
        for (uint32_t to = 0; to < world; to++) {
            if (row[to] == 0)
                continue;
            emu_json_object_begin(json);
            emu_json_put_u64(json, "from", from);
            emu_json_put_u64(json, "to", to);
            emu_json_put_u64(json, "bytes", row[to]);
            emu_json_object_end(json);
        }
    }
    emu_json_array_end(json);
    free(row);
}

static void put_book(const struct emu_training_result *result, struct emu_json *json,
                     const char *name, bool memory)
{
    emu_json_key(json, name);
    emu_json_object_begin(json);
    if (result->books) {
        emu_json_key(json, "ranks");
        emu_json_array_begin(json);
        for (uint32_t rank = 0; rank < result->plan->roster.mesh->world; rank++) {
            emu_json_object_begin(json);
            emu_json_put_u64(json, "rank", rank);
            if (memory)
                put_memory(json, &result->books[rank]);
            else
                put_traffic(json, result->plan, &result->books[rank]);
            emu_json_object_end(json);
        }
        emu_json_array_end(json);
        if (!memory)
            put_pairs(result, json);
    }
    emu_json_object_end(json);
}

void emu_books_to_json(const struct emu_training_result *result, struct emu_json *json)
{
    put_book(result, json, "memory", true);
    put_book(result, json, "traffic", false);
}
