#include "train/carve.h"

#include "base/checked.h"

#include <stdio.h>

static void *take_bytes(struct emu_carver *carver, enum emu_category category, uint64_t bytes)
{
    uint64_t rounded;
    if (!emu_round_up_fits(bytes, EMU_ARENA_ALIGN, &rounded) ||
        !emu_add_fits(carver->bytes, rounded, &carver->bytes)) {
        carver->failed = true;
        return NULL;
    }
    if (!carver->arena)
        return NULL;
    void *block = emu_arena_alloc(carver->arena, category, bytes);
    carver->failed = carver->failed || !block;
    return block;
}

/* rows * columns elements of the trainer's kind of number. */
static void *take(const struct emu_trainer *trainer, struct emu_carver *carver,
                  enum emu_category category, const uint64_t shape[2])
{
    uint64_t bytes;
    if (!emu_mul_fits(shape[0], shape[1], &bytes) ||
        !emu_mul_fits(bytes, trainer->nn.kernels->bytes, &bytes)) {
        carver->failed = true;
        return NULL;
    }
    return take_bytes(carver, category, bytes);
}

static void carve_parameter(struct emu_trainer *trainer, struct emu_carver *carver, uint32_t i)
{
    const struct emu_plan *plan = trainer->plan;
    struct emu_parameter *parameter = &trainer->parameters[i];
    parameter->block = emu_tensor_block(plan, i, trainer->tp_index);
    parameter->elements = parameter->block.rows * parameter->block.columns;
    parameter->room = emu_tensor_room(plan, i, trainer->tp_index);
    uint64_t shape[2] = {1, parameter->room};
    parameter->weight = take(trainer, carver, EMU_WEIGHT, shape);
    parameter->gradient = take(trainer, carver, EMU_GRADIENT, shape);
    for (uint32_t m = 0; m < plan->moments; m++)
        parameter->moment[m] = take(trainer, carver, EMU_MOMENTS, shape);
}

static const struct emu_parameter *parameter_of(const struct emu_trainer *trainer, uint64_t layer,
                                                const char *part)
{
    char name[EMU_TENSOR_NAME_MAX];
    snprintf(name, sizeof name, "layers.%llu.%s", (unsigned long long)layer, part);
    int64_t index = emu_plan_tensor(trainer->plan, name);
    return index < 0 ? NULL : &trainer->parameters[index];
}

static uint64_t width_of(const struct emu_trainer *trainer, uint64_t layer)
{
    const struct emu_model_config *model = &trainer->plan->config->model;
    return layer == 0 ? model->context * model->embed : model->embed;
}

static uint64_t rows_of(const struct emu_trainer *trainer)
{
    return emu_plan_sequences_most(trainer->plan) * trainer->plan->config->data.sequence;
}

static void carve_layer(struct emu_trainer *trainer, struct emu_carver *carver, uint64_t layer)
{
    struct emu_layer_state *state = &trainer->layers[layer];
    uint64_t rows = rows_of(trainer);
    uint64_t hidden = parameter_of(trainer, layer, "up.weight")->block.rows;
    uint64_t wide[2] = {rows, width_of(trainer, layer)};
    uint64_t inner[2] = {rows, hidden};
    uint64_t column[2] = {rows, 1};
    state->input = take(trainer, carver, EMU_ACTIVATIONS, wide);
    if (trainer->nn.norm == EMU_NORM_RMS) {
        state->saved.normed = take(trainer, carver, EMU_ACTIVATIONS, wide);
        state->saved.inverse = take(trainer, carver, EMU_ACTIVATIONS, column);
    }
    state->saved.before = take(trainer, carver, EMU_ACTIVATIONS, inner);
    state->saved.after = take(trainer, carver, EMU_ACTIVATIONS, inner);
}

/* Elements of the scratch that the layers and the head ask for (nn/layer.h). */
static uint64_t scratch_of(const struct emu_trainer *trainer)
{
    uint64_t hidden = parameter_of(trainer, 0, "up.weight")->block.rows;
    uint64_t most = 2 * hidden + width_of(trainer, 0);
    if (most < 2 * hidden + width_of(trainer, 1))
        most = 2 * hidden + width_of(trainer, 1);
    return most < 3 ? 3 : most;
}

static void carve_step(struct emu_trainer *trainer, struct emu_carver *carver)
{
    const struct emu_model_config *model = &trainer->plan->config->model;
    uint64_t rows = rows_of(trainer);
    uint64_t widest = model->context * model->embed;
    uint64_t stream[2] = {rows, model->embed};
    uint64_t input[2] = {rows, widest};
    uint64_t logits[2] = {rows, trainer->parameters[0].block.rows};
    uint64_t column[2] = {rows, 1};
    uint64_t scratch[2] = {rows, scratch_of(trainer)};
    uint64_t one[2] = {1, 1};
    trainer->stream = take(trainer, carver, EMU_ACTIVATIONS, stream);
    trainer->dstream = take(trainer, carver, EMU_ACTIVATIONS, stream);
    trainer->dinput = take(trainer, carver, EMU_ACTIVATIONS, input);
    trainer->logits = take(trainer, carver, EMU_ACTIVATIONS, logits);
    trainer->token_loss = take(trainer, carver, EMU_ACTIVATIONS, column);
    trainer->scratch = take(trainer, carver, EMU_BUFFERS, scratch);
    trainer->loss = take(trainer, carver, EMU_BUFFERS, one);
    trainer->squares = take(trainer, carver, EMU_BUFFERS, one);
    trainer->norm = take(trainer, carver, EMU_BUFFERS, one);
    trainer->factor = take(trainer, carver, EMU_BUFFERS, one);
    trainer->batch.ids = take_bytes(carver, EMU_BUFFERS, rows * model->context);
    trainer->batch.target = take_bytes(carver, EMU_BUFFERS, rows);
    trainer->batch.valid = take_bytes(carver, EMU_BUFFERS, rows);
}

void emu_trainer_carve(struct emu_trainer *trainer, struct emu_carver *carver)
{
    for (uint32_t i = 0; i < trainer->plan->tensor_count; i++)
        carve_parameter(trainer, carver, i);
    for (uint64_t layer = 0; layer < trainer->plan->config->model.layers; layer++)
        carve_layer(trainer, carver, layer);
    carve_step(trainer, carver);
}

static void wire_layer(struct emu_trainer *trainer, uint64_t layer)
{
    struct emu_layer_state *state = &trainer->layers[layer];
    struct emu_mlp *mlp = &state->mlp;
    const struct emu_parameter *norm = parameter_of(trainer, layer, "norm.weight");
    const struct emu_parameter *up = parameter_of(trainer, layer, "up.weight");
    const struct emu_parameter *up_bias = parameter_of(trainer, layer, "up.bias");
    const struct emu_parameter *down = parameter_of(trainer, layer, "down.weight");
    const struct emu_parameter *down_bias = parameter_of(trainer, layer, "down.bias");
    snprintf(state->label_up, sizeof state->label_up, "layers.%llu.up", (unsigned long long)layer);
    snprintf(state->label_down, sizeof state->label_down, "layers.%llu.down",
             (unsigned long long)layer);
    *mlp = (struct emu_mlp){.width = width_of(trainer, layer),
                            .hidden = up->block.rows,
                            .out = trainer->plan->config->model.embed,
                            .norm = norm ? norm->weight : NULL,
                            .dnorm = norm ? norm->gradient : NULL,
                            .up = up->weight,
                            .dup = up->gradient,
                            .up_bias = up_bias->weight,
                            .dup_bias = up_bias->gradient,
                            .down = down->weight,
                            .ddown = down->gradient,
                            .down_bias = down_bias->weight,
                            .ddown_bias = down_bias->gradient,
                            .label_up = state->label_up,
                            .label_down = state->label_down};
}

void emu_trainer_wire(struct emu_trainer *trainer)
{
    const struct emu_model_config *model = &trainer->plan->config->model;
    const struct emu_parameter *table = &trainer->parameters[0];
    const struct emu_parameter *head =
        model->tie_embeddings ? table : &trainer->parameters[trainer->plan->tensor_count - 1];
    trainer->embedding = (struct emu_embedding){
        table->weight, table->gradient, table->block.first_row, table->block.rows, model->embed};
    trainer->head = (struct emu_head){
        .table = head->weight,
        .dtable = head->gradient,
        .first = head->block.first_row,
        .rows = head->block.rows,
        .width = model->embed,
        .loss = model->loss,
        .shared_terms = model->tie_embeddings ? rows_of(trainer) * model->context : 0};
    for (uint64_t layer = 0; layer < model->layers; layer++)
        wire_layer(trainer, layer);
}
