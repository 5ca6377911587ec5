#include "plan/model.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define TENSORS_A_LAYER 5

static const struct emu_placement replicated = {EMU_REPLICATE, 0};
static const struct emu_placement by_rows = {EMU_SHARD, 0};
static const struct emu_placement by_columns = {EMU_SHARD, 1};

/* The next row of the list; the caller sets what differs from a replicated vector of zeros. */
static struct emu_tensor_plan *next(struct emu_plan *plan)
{
    struct emu_tensor_plan *tensor = &plan->tensors[plan->tensor_count++];
    *tensor = (struct emu_tensor_plan){.rows = 1, .init = EMU_INIT_ZEROS, .over_tp = replicated};
    return tensor;
}

static void matrix(struct emu_tensor_plan *tensor, uint64_t rows, uint64_t columns,
                   struct emu_placement over_tp)
{
    tensor->rows = rows;
    tensor->columns = columns;
    tensor->init = EMU_INIT_UNIFORM;
    tensor->init_scale = 1.0 / sqrt((double)columns);
    tensor->over_tp = over_tp;
}

static void add_table(struct emu_plan *plan, const char *name, uint32_t stage)
{
    struct emu_tensor_plan *tensor = next(plan);
    tensor->stage = stage;
    snprintf(tensor->name, sizeof tensor->name, "%s", name);
    matrix(tensor, EMU_VOCAB, plan->config->model.embed, by_rows);
}

static struct emu_tensor_plan *in_layer(struct emu_plan *plan, uint64_t layer, const char *part)
{
    struct emu_tensor_plan *tensor = next(plan);
    tensor->stage = emu_plan_stage_of(plan, layer);
    snprintf(tensor->name, sizeof tensor->name, "layers.%llu.%s", (unsigned long long)layer, part);
    return tensor;
}

static void add_layer(struct emu_plan *plan, uint64_t layer)
{
    const struct emu_model_config *model = &plan->config->model;
    uint64_t width = layer == 0 ? model->context * model->embed : model->embed;
    if (model->norm == EMU_NORM_RMS) {
        struct emu_tensor_plan *norm = in_layer(plan, layer, "norm.weight");
        norm->columns = width;
        norm->init = EMU_INIT_ONES;
        norm->sliced = model->sequence_parallel;
    }
    matrix(in_layer(plan, layer, "up.weight"), model->hidden, width, by_rows);
    struct emu_tensor_plan *up_bias = in_layer(plan, layer, "up.bias");
    up_bias->columns = model->hidden;
    up_bias->over_tp = by_columns;
    matrix(in_layer(plan, layer, "down.weight"), model->embed, model->hidden, by_columns);
    struct emu_tensor_plan *down_bias = in_layer(plan, layer, "down.bias");
    down_bias->columns = model->embed;
    down_bias->sliced = model->sequence_parallel;
}

/* linear: one weight vector, token loss w*x. */
static void add_linear(struct emu_plan *plan)
{
    struct emu_tensor_plan *w = next(plan);
    snprintf(w->name, sizeof w->name, "w");
    w->columns = plan->config->model.features;
    w->init = EMU_INIT_UNIFORM;
    w->init_scale = 1.0 / sqrt((double)w->columns);
}

enum emu_status emu_plan_tensors(struct emu_plan *plan)
{
    const struct emu_model_config *model = &plan->config->model;
    uint64_t layers = model->kind == EMU_MODEL_MLP_LM ? model->layers : 0;
    plan->tensors = calloc(layers * TENSORS_A_LAYER + 2, sizeof *plan->tensors);
    if (!plan->tensors)
        return EMU_ENOMEM;
    if (model->kind == EMU_MODEL_LINEAR) {
        add_linear(plan);
        return EMU_OK;
    }
    add_table(plan, "embed.weight", 0);
    plan->tensors[0].tied = model->tie_embeddings;
    for (uint64_t layer = 0; layer < layers; layer++)
        add_layer(plan, layer);
    if (!model->tie_embeddings)
        add_table(plan, "head.weight", plan->pp - 1);
    return EMU_OK;
}
