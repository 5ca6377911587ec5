/* The byte-level language model: embedding, MLP layers with a residual stream, head and loss. */
#include "train/model_state.h"

#include <stdio.h>
#include <stdlib.h>

/* Everything of one MLP block that is kept from forward to backward. */
struct layer {
    struct emu_mlp mlp;
    struct emu_mlp_saved saved;
    void *input; /* (rows, width) */
    char label_up[EMU_TENSOR_NAME_MAX], label_down[EMU_TENSOR_NAME_MAX];
};

struct emu_model_state {
    struct layer *layers; /* owned */
    struct emu_embedding embedding;
    struct emu_head head;
    uint64_t rows;                   /* of the source at hand: sequences * positions */
    uint8_t *ids, *target, *valid;   /* (rows, context), (rows), (rows) */
    void *stream, *dstream, *dinput; /* (rows, embed) twice, (rows, widest input) */
    void *logits, *token_loss, *scratch;
};

static const struct emu_model_config *model_of(const struct emu_trainer *trainer)
{
    return &trainer->plan->config->model;
}

static enum emu_status prepare(struct emu_trainer *trainer)
{
    trainer->model = calloc(1, sizeof *trainer->model);
    if (!trainer->model)
        return EMU_ENOMEM;
    trainer->model->layers = calloc(model_of(trainer)->layers, sizeof *trainer->model->layers);
    return trainer->model->layers ? EMU_OK : EMU_ENOMEM;
}

static void finish(struct emu_trainer *trainer)
{
    if (trainer->model)
        free(trainer->model->layers);
    free(trainer->model);
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

static void carve_layer(struct emu_trainer *trainer, struct emu_carver *carver, uint64_t layer)
{
    struct layer *state = &trainer->model->layers[layer];
    uint64_t rows = emu_plan_rows_most(trainer->plan);
    uint64_t width = width_of(trainer, layer);
    uint64_t hidden = parameter_of(trainer, layer, "up.weight")->block.rows;
    state->input = emu_carve(carver, EMU_ACTIVATIONS, rows, width);
    if (trainer->nn.norm == EMU_NORM_RMS) {
        state->saved.normed = emu_carve(carver, EMU_ACTIVATIONS, rows, width);
        state->saved.inverse = emu_carve(carver, EMU_ACTIVATIONS, rows, 1);
    }
    state->saved.before = emu_carve(carver, EMU_ACTIVATIONS, rows, hidden);
    state->saved.after = emu_carve(carver, EMU_ACTIVATIONS, rows, hidden);
}

/* Elements a row of the scratch that the layers and the head ask for (nn/layer.h). */
static uint64_t scratch_of(const struct emu_trainer *trainer)
{
    uint64_t hidden = parameter_of(trainer, 0, "up.weight")->block.rows;
    uint64_t first = 2 * hidden + width_of(trainer, 0);
    uint64_t later = 2 * hidden + width_of(trainer, 1);
    uint64_t most = first > later ? first : later;
    return most < 3 ? 3 : most;
}

static void carve(struct emu_trainer *trainer, struct emu_carver *carver)
{
    struct emu_model_state *state = trainer->model;
    const struct emu_model_config *model = model_of(trainer);
    uint64_t rows = emu_plan_rows_most(trainer->plan);
    for (uint64_t layer = 0; layer < model->layers; layer++)
        carve_layer(trainer, carver, layer);
    state->stream = emu_carve(carver, EMU_ACTIVATIONS, rows, model->embed);
    state->dstream = emu_carve(carver, EMU_ACTIVATIONS, rows, model->embed);
    state->dinput = emu_carve(carver, EMU_ACTIVATIONS, rows, width_of(trainer, 0));
    state->logits = emu_carve(carver, EMU_ACTIVATIONS, rows, trainer->parameters[0].block.rows);
    state->token_loss = emu_carve(carver, EMU_ACTIVATIONS, rows, 1);
    state->scratch = emu_carve(carver, EMU_BUFFERS, rows, scratch_of(trainer));
    state->ids = emu_carve_bytes(carver, EMU_BUFFERS, rows * model->context);
    state->target = emu_carve_bytes(carver, EMU_BUFFERS, rows);
    state->valid = emu_carve_bytes(carver, EMU_BUFFERS, rows);
}

static void wire_layer(struct emu_trainer *trainer, uint64_t index)
{
    struct layer *layer = &trainer->model->layers[index];
    const struct emu_parameter *norm = parameter_of(trainer, index, "norm.weight");
    const struct emu_parameter *up = parameter_of(trainer, index, "up.weight");
    const struct emu_parameter *up_bias = parameter_of(trainer, index, "up.bias");
    const struct emu_parameter *down = parameter_of(trainer, index, "down.weight");
    const struct emu_parameter *down_bias = parameter_of(trainer, index, "down.bias");
    unsigned long long number = index;
    snprintf(layer->label_up, sizeof layer->label_up, "layers.%llu.up", number);
    snprintf(layer->label_down, sizeof layer->label_down, "layers.%llu.down", number);
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
                                  .label_down = layer->label_down};
}

static void wire(struct emu_trainer *trainer)
{
    const struct emu_model_config *model = model_of(trainer);
    const struct emu_parameter *table = &trainer->parameters[0];
    const struct emu_parameter *head =
        model->tie_embeddings ? table : &trainer->parameters[trainer->plan->tensor_count - 1];
    trainer->model->embedding = (struct emu_embedding){
        table->weight, table->fresh, table->block.first_row, table->block.rows, model->embed};
    trainer->model->head = (struct emu_head){.table = head->weight,
                                             .dtable = head->fresh,
                                             .first = head->block.first_row,
                                             .rows = head->block.rows,
                                             .width = model->embed,
                                             .loss = model->loss};
    for (uint64_t layer = 0; layer < model->layers; layer++)
        wire_layer(trainer, layer);
}

/* Number, in the file, of the i-th sequence of a source in the step after trainer->step. */
static uint64_t sequence_of(const struct emu_trainer *trainer, uint32_t source, uint64_t i)
{
    uint64_t first =
        trainer->step * trainer->plan->batch + emu_plan_sequences(trainer->plan, source).start;
    return (first + i) % trainer->corpus->count;
}

static uint64_t count(const struct emu_trainer *trainer, uint32_t source)
{
    uint64_t tokens = 0;
    uint64_t sequences = emu_plan_sequences(trainer->plan, source).count;
    for (uint64_t i = 0; i < sequences; i++)
        tokens += trainer->corpus->sequences[sequence_of(trainer, source, i)].length;
    return tokens;
}

static void load(struct emu_trainer *trainer, uint32_t source, struct emu_hash *hash)
{
    struct emu_model_state *state = trainer->model;
    uint64_t context = model_of(trainer)->context;
    uint64_t positions = trainer->plan->config->data.sequence;
    uint64_t sequences = emu_plan_sequences(trainer->plan, source).count;
    state->rows = sequences * positions;
    if (model_of(trainer)->tie_embeddings)
        state->head.shared_terms = state->rows * context;
    for (uint64_t i = 0; i < sequences; i++)
        emu_corpus_fill(trainer->corpus, sequence_of(trainer, source, i), context,
                        state->ids + i * positions * context, state->target + i * positions,
                        state->valid + i * positions);
    struct emu_hash parts[4] = {*hash, emu_hash_of(state->ids, state->rows * context),
                                emu_hash_of(state->target, state->rows),
                                emu_hash_of(state->valid, state->rows)};
    *hash = emu_hash_of(parts, sizeof parts);
}

/* The buffer that a layer writes its output to: the next layer's input, or the stream. */
static void *output_of(struct emu_trainer *trainer, uint64_t layer)
{
    struct emu_model_state *state = trainer->model;
    return layer + 1 < model_of(trainer)->layers ? state->layers[layer + 1].input : state->stream;
}

static enum emu_status forward(struct emu_trainer *trainer)
{
    const struct emu_nn *nn = &trainer->nn;
    struct emu_model_state *state = trainer->model;
    const struct emu_model_config *model = model_of(trainer);
    enum emu_status status = emu_embedding_forward(
        nn, &state->embedding, state->ids, state->rows * model->context, state->layers[0].input);
    for (uint64_t i = 0; status == EMU_OK && i < model->layers; i++) {
        struct layer *layer = &state->layers[i];
        void *out = output_of(trainer, i);
        status = emu_mlp_forward(nn, &layer->mlp, &layer->saved, layer->input, state->rows, out);
        if (status == EMU_OK && i > 0)
            nn->kernels->add(out, layer->input, state->rows * model->embed);
    }
    return status;
}

static enum emu_status backward(struct emu_trainer *trainer)
{
    const struct emu_nn *nn = &trainer->nn;
    struct emu_model_state *state = trainer->model;
    const struct emu_model_config *model = model_of(trainer);
    for (uint64_t i = model->layers; i-- > 0;) {
        const struct layer *layer = &state->layers[i];
        enum emu_status status =
            emu_mlp_backward(nn, &layer->mlp, &layer->saved, layer->input, state->dstream,
                             state->rows, state->dinput, state->scratch);
        if (status != EMU_OK)
            return status;
        if (i > 0)
            nn->kernels->add(state->dstream, state->dinput, state->rows * model->embed);
    }
    emu_embedding_backward(nn, &state->embedding, state->ids, state->rows * model->context,
                           state->dinput);
    return EMU_OK;
}

static enum emu_status run(struct emu_trainer *trainer)
{
    const struct emu_nn *nn = &trainer->nn;
    struct emu_model_state *state = trainer->model;
    struct emu_targets targets = {state->target, state->valid, state->rows, state->head.first,
                                  state->head.rows};
    enum emu_status status = forward(trainer);
    if (status == EMU_OK)
        status = emu_head_forward(nn, &state->head, state->stream, &targets, state->logits,
                                  state->token_loss, state->scratch);
    if (status != EMU_OK)
        return status;
    nn->kernels->sum(trainer->source_loss, state->token_loss, state->rows);
    status = emu_head_backward(nn, &state->head, state->stream, state->logits, state->rows,
                               state->dstream);
    return status == EMU_OK ? backward(trainer) : status;
}

const struct emu_model_ops emu_model_mlp_ops = {prepare, carve, wire, count, load, run, finish};
