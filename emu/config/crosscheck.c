#include "base/suggest.h"
#include "config/expression.h"
#include "config/reading.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define PATH_BYTES 64

struct emu_spot emu_reading_spot(const struct emu_source *source, const struct emu_node *root,
                                 const char *path)
{
    bool exact;
    const struct emu_node *node = emu_node_at(root, path, &exact);
    if (node && exact)
        return emu_node_spot(node);
    if (node && node->key)
        return emu_node_spot_of_key(node);
    return (struct emu_spot){source, 0, 1};
}

static struct emu_spot spot(const struct emu_reading *r, const char *path)
{
    return emu_reading_spot(r->source, r->root, path);
}

static uint32_t axis_size(const struct emu_reading *r, const char *axis)
{
    return emu_mesh_size(&r->config->mesh, axis);
}

static void check_microbatches(struct emu_reading *r)
{
    struct emu_data_config *data = &r->config->data;
    if (!data->inline_tokens)
        return;
    bool given;
    emu_node_at(r->root, "data.microbatches", &given);
    if (given && data->microbatches != data->inline_tokens->microbatches)
        emu_complaints_add(r->complaints, spot(r, "data.microbatches"),
                           "'data.microbatches' is %" PRIu64 ", but 'data.tokens' holds %u",
                           data->microbatches, data->inline_tokens->microbatches);
    data->microbatches = data->inline_tokens->microbatches;
}

static void check_inline(struct emu_reading *r)
{
    if (r->config->data.text) {
        emu_complaints_add(r->complaints, spot(r, "data.tokens"),
                           "'data.text' and 'data.tokens' are both given; one of them is allowed");
    } else if (r->config->model.kind != EMU_MODEL_LINEAR) {
        emu_complaints_add(r->complaints, spot(r, "data.tokens"),
                           "'data.tokens' needs model.kind linear");
        emu_complaints_note(r->complaints, "write model: {kind: linear, features: 1}");
    } else if (!r->mesh_bad) {
        emu_tokens_read(r);
        check_microbatches(r);
    }
}

static void check_data(struct emu_reading *r)
{
    const struct emu_config *config = r->config;
    if (!config->has_data || r->data_bad || r->model_bad)
        return;
    if (!config->has_model) {
        emu_complaints_add(r->complaints, spot(r, "data"), "'data' needs 'model'");
        emu_complaints_note(r->complaints, "write model: {kind: mlp_lm}, or linear for tokens");
    } else if (r->tokens) {
        check_inline(r);
    } else if (config->data.text && config->model.kind == EMU_MODEL_LINEAR) {
        emu_complaints_add(r->complaints, spot(r, "data.text"),
                           "model.kind linear reads 'data.tokens', not 'data.text'");
    } else if (!config->data.text) {
        emu_complaints_add(r->complaints, spot(r, "data.text"),
                           "'data' needs 'text' (a file) or 'tokens' (inline numbers)");
    }
}

static void check_stages(struct emu_reading *r)
{
    const struct emu_model_config *model = &r->config->model;
    uint32_t pp = axis_size(r, "pp");
    if (!model->stage_count)
        return;
    uint64_t sum = 0;
    for (size_t i = 0; i < model->stage_count; i++)
        sum += model->stages[i]; /* each at most a million, at most a million of them */
    if (model->stage_count != pp)
        emu_complaints_add(r->complaints, spot(r, "model.stages"),
                           "'model.stages' has %zu entries, but the size of pp is %u",
                           model->stage_count, pp);
    else if (sum != model->layers)
        emu_complaints_add(r->complaints, spot(r, "model.stages"),
                           "'model.stages' adds up to %" PRIu64 ", but 'model.layers' is %" PRIu64,
                           sum, model->layers);
}

static void check_heads(struct emu_reading *r)
{
    struct emu_model_config *model = &r->config->model;
    if (!model->kv_heads)
        model->kv_heads = model->heads;
    if (model->head_dim)
        return;
    model->head_dim = model->hidden / model->heads;
    if (model->hidden % model->heads == 0 || model->has_latent)
        return;
    emu_complaints_add(r->complaints, spot(r, "model.heads"),
                       "'model.hidden' %" PRIu64 " is not a multiple of 'model.heads' %" PRIu64,
                       model->hidden, model->heads);
    emu_complaints_note(r->complaints, "give 'head_dim', or heads that divide hidden");
}

static void check_experts(struct emu_reading *r)
{
    const struct emu_model_config *model = &r->config->model;
    if (!model->ffn && (!model->has_experts || model->experts.from_layer)) {
        emu_complaints_add(r->complaints, spot(r, "model.ffn"),
                           "model.kind transformer needs 'ffn'");
        emu_complaints_note(r->complaints, "ffn: width of the MLP of the dense layers");
    }
    if (!model->has_experts)
        return;
    if (model->experts.active > model->experts.count)
        emu_complaints_add(r->complaints, spot(r, "model.experts.active"),
                           "'model.experts.active' %" PRIu64 " is more than 'count' %" PRIu64,
                           model->experts.active, model->experts.count);
    if (model->experts.from_layer > model->layers)
        emu_complaints_add(r->complaints, spot(r, "model.experts.from_layer"),
                           "'model.experts.from_layer' %" PRIu64
                           " is more than 'model.layers' %" PRIu64,
                           model->experts.from_layer, model->layers);
}

/* The key may stand in the model or beside `flash`: the two values are made one. */
static void check_dropout(struct emu_reading *r)
{
    struct emu_config *config = r->config;
    bool outside;
    bool inside;
    emu_node_at(r->root, "dropout", &outside);
    emu_node_at(r->root, "model.dropout", &inside);
    if (outside && inside && config->dropout != config->model.dropout)
        emu_complaints_add(
            r->complaints, spot(r, "dropout"), "'dropout' is %s, but 'model.dropout' is %s",
            config->dropout ? "true" : "false", config->model.dropout ? "true" : "false");
    if (inside)
        config->dropout = config->model.dropout;
    else
        config->model.dropout = config->dropout;
}

static void check_model(struct emu_reading *r)
{
    if (!r->config->has_model || r->model_bad)
        return;
    if (r->config->model.kind == EMU_MODEL_TRANSFORMER) {
        check_heads(r);
        check_experts(r);
        check_dropout(r);
    }
    if (r->mesh_bad)
        return;
    check_stages(r);
    if (r->config->model.kind == EMU_MODEL_LINEAR && axis_size(r, "pp") > 1)
        emu_complaints_add(r->complaints, spot(r, "mesh"),
                           "model.kind linear has one layer: pp must be 1, not %u",
                           axis_size(r, "pp"));
}

static void check_expression(struct emu_reading *r, const char *path, const char *text,
                             bool inside_microbatch)
{
    struct emu_expression expression;
    struct emu_expression_error error;
    if (!text) /* complained about already */
        return;
    if (emu_expression_parse(text, &expression, &error) &&
        (r->mesh_bad ||
         emu_expression_check(&expression, &r->config->mesh, inside_microbatch, &error)))
        return;
    bool exact;
    const struct emu_node *node = emu_node_at(r->root, path, &exact);
    struct emu_spot at = exact ? emu_node_spot_within(node, error.column - 1) : spot(r, path);
    emu_complaints_add(r->complaints, at, "'%s': %s", path, error.message);
}

static bool is_axis(const struct emu_reading *r, const char *name)
{
    static const char *const known[] = {"dp", "tp", "cp", "pp"};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (!strcmp(name, known[i]))
            return true;
    }
    return emu_mesh_find(&r->config->mesh, name) >= 0;
}

static void refuse_axis(struct emu_reading *r, const char *path, const char *name)
{
    const char *names[EMU_MESH_MAX_AXES + 6] = {"dp", "tp", "cp", "pp", "world", "tied"};
    size_t count = 6;
    for (uint32_t i = 0; i < r->config->mesh.axis_count; i++)
        names[count++] = r->config->mesh.axes[i].name;
    const char *near = emu_suggest(name, names, count);
    emu_complaints_add(r->complaints, spot(r, path),
                       "'%.60s' is no axis of the mesh, none of dp, tp, cp, pp, and neither world "
                       "nor tied",
                       name);
    if (near)
        emu_complaints_note(r->complaints, "did you mean '%s'?", near);
}

static void check_over(struct emu_reading *r, const struct emu_reduce_config *reduce, size_t index)
{
    char path[PATH_BYTES];
    snprintf(path, sizeof path, "recipe.reduce[%zu].over", index);
    if (reduce->over && !reduce->over_count)
        emu_complaints_add(r->complaints, spot(r, path), "'over' needs at least one axis");
    for (size_t i = 0; i < reduce->over_count; i++) {
        const char *name = reduce->over[i];
        bool alone = !strcmp(name, "world") || !strcmp(name, "tied");
        snprintf(path, sizeof path, "recipe.reduce[%zu].over[%zu]", index, i);
        bool exact;
        emu_node_at(r->root, path, &exact);
        if (!exact) /* one word instead of a list */
            snprintf(path, sizeof path, "recipe.reduce[%zu].over", index);
        if (alone && reduce->over_count > 1) {
            emu_complaints_add(r->complaints, spot(r, path), "'%s' must stand alone", name);
        } else if (!alone && !is_axis(r, name)) {
            refuse_axis(r, path, name);
            return;
        }
        for (size_t k = 0; k < i; k++) {
            if (!strcmp(name, reduce->over[k])) {
                emu_complaints_add(r->complaints, spot(r, path), "'%.60s' is given twice", name);
                return;
            }
        }
    }
}

static void check_recipe(struct emu_reading *r)
{
    struct emu_recipe_config *recipe = &r->config->recipe;
    if (!recipe->given) {
        recipe->scale_grad = emu_store_copy(r->store, "1/tokens", strlen("1/tokens"));
        return;
    }
    check_expression(r, "recipe.scale_loss", recipe->scale_loss, true);
    check_expression(r, "recipe.scale_grad", recipe->scale_grad, false);
    for (size_t i = 0; i < recipe->reduce_count; i++) {
        char path[PATH_BYTES];
        snprintf(path, sizeof path, "recipe.reduce[%zu].scale", i);
        check_expression(r, path, recipe->reduce[i].scale, recipe->reduce[i].when != EMU_WHEN_STEP);
        if (!r->mesh_bad && emu_complaints_room(r->complaints))
            check_over(r, &recipe->reduce[i], i);
    }
}

void emu_config_crosscheck(struct emu_reading *r)
{
    check_model(r);
    check_data(r);
    check_recipe(r);
}
