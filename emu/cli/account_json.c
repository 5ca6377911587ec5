#include "cli/account_request.h"
#include "report/mesh_parts_json.h"

/* Up to here every rank has a row of its own. */
#define ROWS_MOST 4096

static void put_holding(struct emu_json *json, const struct emu_holding *holding)
{
    emu_json_put_u64(json, "elements", holding->elements);
    emu_json_put_u64(json, "weight", holding->weight);
    emu_json_put_u64(json, "gradient", holding->gradient);
    emu_json_put_u64(json, "master", holding->master);
    emu_json_put_u64(json, "moments", holding->moments);
    emu_json_put_u64(json, "activations", holding->activations);
    emu_json_put_u64(json, "total", holding->total);
}

static void put_traffic(struct emu_json *json, const struct emu_traffic *traffic)
{
    emu_json_key(json, "traffic");
    emu_json_object_begin(json);
    if (traffic->has_tp)
        emu_json_put_u64(json, "tp", traffic->tp);
    if (traffic->has_pp)
        emu_json_put_u64(json, "pp", traffic->pp);
    if (traffic->has_cp)
        emu_json_put_u64(json, "cp", traffic->cp);
    if (traffic->has_data)
        emu_json_put_u64(json, "data", traffic->data);
    emu_json_object_end(json);
}

static void put_row(struct emu_json *json, const struct emu_mesh *mesh, uint32_t rank,
                    const struct emu_holding *holding, uint32_t count)
{
    emu_json_object_begin(json);
    emu_json_put_u64(json, "rank", rank);
    emu_json_key(json, "coordinate");
    emu_coordinate_to_json(mesh, rank, json);
    put_holding(json, holding);
    put_traffic(json, &holding->traffic);
    if (count > 1)
        emu_json_put_u64(json, "count", count);
    emu_json_object_end(json);
}

/* Numbers of one rank fit: they are parts of an aggregate that does. */
static void put_one(struct emu_json *json, const struct emu_shapes *shapes, uint32_t rank)
{
    struct emu_rank_class class = emu_rank_class_of(shapes, rank);
    struct emu_holding holding;
    if (emu_holding_of(shapes, &class, &holding))
        put_row(json, &shapes->config->mesh, rank, &holding, 1);
}

static void put_ranks(struct emu_json *json, const struct emu_account_request *request)
{
    const struct emu_books *books = &request->books;
    const struct emu_mesh *mesh = &request->config->mesh;
    emu_json_key(json, "ranks");
    emu_json_array_begin(json);
    if (request->has_rank) {
        put_one(json, &books->shapes, request->rank.rank);
    } else if (mesh->world <= ROWS_MOST) {
        for (uint32_t rank = 0; rank < mesh->world && !json->failed; rank++)
            put_one(json, &books->shapes, rank);
    } else {
        for (size_t i = 0; i < books->classes.count && !json->failed; i++)
            put_row(json, mesh, books->classes.items[i].rank, &books->rows[i],
                    books->classes.items[i].count);
    }
    emu_json_array_end(json);
}

static void put_causes(struct emu_json *json, const struct emu_books *books)
{
    emu_json_key(json, "causes");
    emu_json_array_begin(json);
    for (uint32_t i = 0; i < books->cause_count; i++) {
        emu_json_object_begin(json);
        emu_json_put_string(json, "name", books->causes[i].name);
        emu_json_put_u64(json, "elements", books->causes[i].elements);
        emu_json_object_end(json);
    }
    emu_json_array_end(json);
}

static void put_claim(struct emu_json *json, const struct emu_claim *claim)
{
    emu_json_object_begin(json);
    emu_json_put_string(json, "name", claim->name);
    emu_json_put_u64(json, "unique", claim->unique);
    emu_json_put_u64(json, "smallest", claim->smallest);
    emu_json_put_u64(json, "smallest_rank", claim->smallest_rank);
    emu_json_put_u64(json, "largest", claim->largest);
    emu_json_put_u64(json, "largest_rank", claim->largest_rank);
    emu_json_put_u64(json, "aggregate", claim->aggregate);
    emu_json_put_f64(json, "claimed", claim->claimed);
    emu_json_key(json, "refuted_by");
    if (claim->refuted) {
        emu_json_object_begin(json);
        emu_json_put_string(json, "tensor", claim->tensor);
        emu_json_put_string(json, "axis", *claim->axis ? claim->axis : NULL);
        emu_json_put_string(json, "why", claim->why);
        emu_json_object_end(json);
    } else {
        emu_json_null(json);
    }
    emu_json_object_end(json);
}

static void put_claims(struct emu_json *json, const struct emu_account_request *request)
{
    emu_json_key(json, "categories");
    emu_json_array_begin(json);
    for (int i = 0; i < EMU_BOOK_CATEGORIES; i++)
        put_claim(json, &request->claims[i]);
    emu_json_array_end(json);
}

static const char *const state_names[EMU_STATE_COUNT] = {"weights", "optimizer"};

/* The probability after one more loss. false: memory ran out. */
static bool put_odds(struct emu_json *json, const char *name, struct emu_odds *odds)
{
    struct emu_text exact = {0};
    double probability;
    bool good = emu_odds_next_text(odds, &probability, &exact);
    if (good) {
        emu_json_key(json, name);
        emu_json_object_begin(json);
        emu_json_put_f64(json, "probability", probability);
        emu_json_put_string(json, "exact", emu_text_get(&exact));
        emu_json_object_end(json);
    }
    emu_text_finish(&exact);
    return good;
}

static bool put_survival_rows(struct emu_json *json, const struct emu_account_request *request)
{
    const struct emu_holder_sets *sets = request->survival.sets;
    struct emu_odds odds[EMU_STATE_COUNT];
    bool good = true;
    for (int part = 0; part < EMU_STATE_COUNT; part++)
        emu_odds_begin(&odds[part], sets[part]);
    emu_json_key(json, "survival");
    emu_json_array_begin(json);
    for (uint64_t lost = 1; lost <= request->survive && good && !json->failed; lost++) {
        emu_json_object_begin(json);
        emu_json_put_u64(json, "lost", lost);
        emu_json_put_u64(json, "capacity",
                         emu_survival_capacity(&request->books, sets[0].units, lost));
        for (int part = 0; part < EMU_STATE_COUNT && good; part++)
            good = put_odds(json, state_names[part], &odds[part]);
        emu_json_object_end(json);
    }
    emu_json_array_end(json);
    for (int part = 0; part < EMU_STATE_COUNT; part++)
        emu_odds_finish(&odds[part]);
    return good;
}

static void put_killing(struct emu_json *json, const struct emu_survival *survival)
{
    emu_json_key(json, "killing");
    emu_json_object_begin(json);
    emu_json_put_u64(json, "node_size", survival->node_size);
    for (int part = 0; part < EMU_STATE_COUNT; part++) {
        emu_json_key(json, state_names[part]);
        emu_json_object_begin(json);
        emu_json_put_u64(json, "size", survival->sets[part].per_set);
        emu_json_put_u64(json, "sets", survival->sets[part].sets);
        emu_json_key(json, "first");
        emu_json_array_begin(json);
        for (uint32_t i = 0; i < survival->shown[part]; i++)
            emu_json_u64(json, survival->killing[part][i]);
        emu_json_array_end(json);
        emu_json_object_end(json);
    }
    emu_json_object_end(json);
}

bool emu_account_write_json(const struct emu_account_request *request, FILE *out)
{
    const struct emu_books *books = &request->books;
    struct emu_json json;
    bool good = true;
    emu_json_init_file(&json, out);
    emu_json_report_begin(&json, "account");
    emu_mesh_to_json(&request->config->mesh, &json);
    emu_json_key(&json, "unique");
    emu_json_object_begin(&json);
    emu_json_put_u64(&json, "elements", books->unique_elements);
    emu_json_put_u64(&json, "bytes", books->unique_bytes);
    emu_json_object_end(&json);
    put_ranks(&json, request);
    emu_json_key(&json, "aggregate");
    emu_json_object_begin(&json);
    put_holding(&json, &books->aggregate);
    emu_json_object_end(&json);
    emu_json_put_f64(&json, "redundancy",
                     (double)books->aggregate.elements / (double)books->unique_elements);
    put_causes(&json, books);
    put_claims(&json, request);
    if (request->survive) {
        good = put_survival_rows(&json, request);
        put_killing(&json, &request->survival);
    }
    emu_json_object_end(&json);
    return emu_json_finish(&json) && good;
}
