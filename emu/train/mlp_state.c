#include "train/mlp_state.h"

#include "plan/schedule.h"

#include <stdio.h>
#include <stdlib.h>

static const struct emu_model_config *model_of(const struct emu_trainer *trainer)
{
    return &trainer->plan->config->model;
}

static enum emu_status prepare_slots(struct emu_model_state *state)
{
    state->slots = calloc(state->slot_count, sizeof *state->slots);
    for (uint32_t i = 0; state->slots && i < state->slot_count; i++) {
        state->slots[i].input = calloc(state->own.count, sizeof *state->slots[i].input);
        state->slots[i].saved = calloc(state->own.count, sizeof *state->slots[i].saved);
        if (!state->slots[i].input || !state->slots[i].saved)
            return EMU_ENOMEM;
    }
    return state->slots ? EMU_OK : EMU_ENOMEM;
}

enum emu_status emu_mlp_prepare(struct emu_trainer *trainer)
{
    struct emu_model_state *state = calloc(1, sizeof *state);
    trainer->model = state;
    if (!state)
        return EMU_ENOMEM;
    state->own = emu_plan_layers(trainer->plan, trainer->stage);
    state->first = trainer->stage == 0;
    state->last = trainer->stage == trainer->plan->pp - 1;
    state->slot_count = emu_schedule_in_flight(trainer->plan, trainer->stage);
    state->layers = calloc(state->own.count, sizeof *state->layers);
    return state->layers ? prepare_slots(state) : EMU_ENOMEM;
}

void emu_mlp_finish(struct emu_trainer *trainer)
{
    struct emu_model_state *state = trainer->model;
    if (!state)
        return;
    for (uint32_t i = 0; state->slots && i < state->slot_count; i++) {
        free(state->slots[i].input);
        free(state->slots[i].saved);
    }
    free(state->slots);
    free(state->layers);
    free(state);
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
    const struct emu_model_config *model = model_of(trainer);
    return layer == 0 ? model->context * model->embed : model->embed;
}

static uint64_t hidden_of(const struct emu_trainer *trainer, uint64_t layer)
{
    return parameter_of(trainer, layer, "up.weight")->block.rows;
}

/* Widths alone: what nn/layer.h needs to tell the sizes of its buffers. */
static struct emu_mlp shape_of(const struct emu_trainer *trainer, uint64_t layer)
{
    return (struct emu_mlp){.width = width_of(trainer, layer),
                            .hidden = hidden_of(trainer, layer),
                            .out = model_of(trainer)->embed};
}

static void carve_layer(struct emu_trainer *trainer, struct emu_carver *carver,
                        struct emu_mlp_slot *slot, uint64_t i)
{
    const struct emu_nn *nn = &trainer->nn;
    struct emu_mlp shape = shape_of(trainer, trainer->model->own.start + i);
    uint64_t rows = emu_plan_rows_most(trainer->plan);
    struct emu_mlp_saved *saved = &slot->saved[i];
    slot->input[i] = emu_carve(carver, EMU_ACTIVATIONS, emu_rows_most(nn, rows), shape.width);
    saved->normed = emu_carve(carver, EMU_ACTIVATIONS, 1, emu_mlp_normed(nn, &shape, rows));
    saved->inverse = emu_carve(carver, EMU_ACTIVATIONS, 1, emu_mlp_inverse(nn, rows));
    saved->before = emu_carve(carver, EMU_ACTIVATIONS, rows, shape.hidden);
    saved->after = emu_carve(carver, EMU_ACTIVATIONS, rows, shape.hidden);
}

static void carve_slot(struct emu_trainer *trainer, struct emu_carver *carver,
                       struct emu_mlp_slot *slot)
{
    const struct emu_model_config *model = model_of(trainer);
    uint64_t rows = emu_plan_rows_most(trainer->plan);
    for (uint64_t i = 0; i < trainer->model->own.count; i++)
        carve_layer(trainer, carver, slot, i);
    uint64_t held = emu_rows_most(&trainer->nn, rows);
    slot->stream = emu_carve(carver, EMU_ACTIVATIONS, held, model->embed);
    slot->dstream = emu_carve(carver, EMU_ACTIVATIONS, held, model->embed);
    if (trainer->plan->cp > 1 && trainer->model->first)
        emu_halo_carve(trainer->plan, trainer->cp_index, emu_plan_sequences(trainer->plan, 0).count,
                       carver, &slot->halo);
    slot->ids = emu_carve_bytes(carver, EMU_BUFFERS, rows * model->context);
    slot->target = emu_carve_bytes(carver, EMU_BUFFERS, rows);
    slot->valid = emu_carve_bytes(carver, EMU_BUFFERS, rows);
}

/* Elements of the scratch that the layers and the head ask for. */
static uint64_t scratch_of(const struct emu_trainer *trainer)
{
    uint64_t rows = emu_plan_rows_most(trainer->plan);
    uint64_t most = emu_head_scratch(rows);
    const struct emu_slice *own = &trainer->model->own;
    for (uint64_t layer = own->start; layer < own->start + own->count; layer++) {
        struct emu_mlp shape = shape_of(trainer, layer);
        uint64_t here = emu_mlp_scratch(&trainer->nn, &shape, rows);
        most = here > most ? here : most;
    }
    return most;
}

/* Vocabulary rows of the head that this rank holds; 0 where it is on another stage. */
static uint64_t columns_of(const struct emu_trainer *trainer)
{
    uint32_t head = model_of(trainer)->tie_embeddings ? 0 : trainer->plan->tensor_count - 1;
    return trainer->parameters[head].block.rows;
}

void emu_mlp_carve(struct emu_trainer *trainer, struct emu_carver *carver)
{
    struct emu_model_state *state = trainer->model;
    uint64_t rows = emu_plan_rows_most(trainer->plan);
    for (uint32_t i = 0; i < state->slot_count; i++)
        carve_slot(trainer, carver, &state->slots[i]);
    state->dinput = emu_carve(carver, EMU_ACTIVATIONS, emu_rows_most(&trainer->nn, rows),
                              width_of(trainer, state->own.start));
    if (state->last) {
        state->logits = emu_carve(carver, EMU_ACTIVATIONS, rows, columns_of(trainer));
        state->token_loss = emu_carve(carver, EMU_ACTIVATIONS, rows, 1);
    }
    state->scratch = emu_carve(carver, EMU_BUFFERS, 1, scratch_of(trainer));
    trainer->nn.whole =
        emu_carve(carver, EMU_BUFFERS, 1,
                  emu_rows_room(&trainer->nn, rows, width_of(trainer, state->own.start)));
}

static void wire_layer(struct emu_trainer *trainer, uint64_t i)
{
    struct emu_mlp_layer *layer = &trainer->model->layers[i];
    uint64_t index = trainer->model->own.start + i;
    const struct emu_parameter *norm = parameter_of(trainer, index, "norm.weight");
    const struct emu_parameter *up = parameter_of(trainer, index, "up.weight");
    const struct emu_parameter *up_bias = parameter_of(trainer, index, "up.bias");
    const struct emu_parameter *down = parameter_of(trainer, index, "down.weight");
    const struct emu_parameter *down_bias = parameter_of(trainer, index, "down.bias");
    unsigned long long number = index;
    snprintf(layer->label_up, sizeof layer->label_up, "layers.%llu.up", number);
    snprintf(layer->label_down, sizeof layer->label_down, "layers.%llu.down", number);
    snprintf(layer->label_up_gather, sizeof layer->label_up_gather, "layers.%llu.up.gather",
             number);
    snprintf(layer->label_down_gather, sizeof layer->label_down_gather, "layers.%llu.down.gather",
             number);
    layer->mlp = (struct emu_mlp){.width = width_of(trainer, index),
                                  .hidden = up->block.rows,
                                  .out = model_of(trainer)->embed,
                                  .norm = norm ? norm->weight : NULL,
                                  .dnorm = norm ? norm->fresh : NULL,
                                  .up = up->weight,
                                  .dup = up->fresh,
                                  .up_bias = up_bias->weight,
                                  .dup_bias = up_bias->fresh,
                                  .down = down->weight,
                                  .ddown = down->fresh,
                                  .down_bias = down_bias->weight,
                                  .ddown_bias = down_bias->fresh,
                                  .label_up = layer->label_up,
                                  .label_down = layer->label_down,
                                  .label_up_gather = layer->label_up_gather,
                                  .label_down_gather = layer->label_down_gather};
}

void emu_mlp_wire(struct emu_trainer *trainer)
{
    const struct emu_model_config *model = model_of(trainer);
    const struct emu_parameter *table = &trainer->parameters[0];
    const struct emu_parameter *head =
        model->tie_embeddings ? table : &trainer->parameters[trainer->plan->tensor_count - 1];
    trainer->model->embedding = (struct emu_embedding){.table = table->weight,
                                                       .dtable = table->fresh,
                                                       .first = table->block.first_row,
                                                       .rows = table->block.rows,
                                                       .width = model->embed,
                                                       .window = model->context};
    trainer->model->head = (struct emu_head){.table = head->weight,
                                             .dtable = head->fresh,
                                             .first = head->block.first_row,
                                             .rows = head->block.rows,
                                             .width = model->embed,
                                             .loss = model->loss,
                                             .whole = trainer->nn.whole};
    for (uint64_t i = 0; i < trainer->model->own.count; i++)
        wire_layer(trainer, i);
    trainer->model->previous = emu_trainer_neighbour(trainer, -1);
    trainer->model->following = emu_trainer_neighbour(trainer, 1);
}
