#include "train/pass.h"

#include <string.h>

void emu_pass_load(struct emu_trainer *trainer, uint32_t micro, uint64_t *tokens,
                   struct emu_hash *hash)
{
    const struct emu_plan *plan = trainer->plan;
    const struct emu_corpus *corpus = trainer->corpus;
    struct emu_batch *batch = &trainer->batch;
    uint64_t context = plan->config->model.context;
    uint64_t positions = plan->config->data.sequence;
    struct emu_slice share = emu_plan_sequences(plan, trainer->dp_index, micro);
    uint64_t first = trainer->step * plan->batch + share.start; /* step is the one before */
    batch->rows = share.count * positions;
    for (uint64_t i = 0; i < share.count; i++)
        emu_corpus_fill(corpus, (first + i) % corpus->count, context,
                        batch->ids + i * positions * context, batch->target + i * positions,
                        batch->valid + i * positions);
    for (uint64_t row = 0; row < batch->rows; row++)
        *tokens += batch->valid[row];
    struct emu_hash parts[4] = {*hash, emu_hash_of(batch->ids, batch->rows * context),
                                emu_hash_of(batch->target, batch->rows),
                                emu_hash_of(batch->valid, batch->rows)};
    *hash = emu_hash_of(parts, sizeof parts);
}

/* The buffer that layer `layer` writes its output to: the next layer's input, or the stream. */
static void *output_of(struct emu_trainer *trainer, uint64_t layer)
{
    uint64_t layers = trainer->plan->config->model.layers;
    return layer + 1 < layers ? trainer->layers[layer + 1].input : trainer->stream;
}

static enum emu_status forward(struct emu_trainer *trainer)
{
    const struct emu_nn *nn = &trainer->nn;
    const struct emu_model_config *model = &trainer->plan->config->model;
    const struct emu_batch *batch = &trainer->batch;
    enum emu_status status =
        emu_embedding_forward(nn, &trainer->embedding, batch->ids, batch->rows * model->context,
                              trainer->layers[0].input);
    for (uint64_t layer = 0; status == EMU_OK && layer < model->layers; layer++) {
        struct emu_layer_state *state = &trainer->layers[layer];
        void *out = output_of(trainer, layer);
        status = emu_mlp_forward(nn, &state->mlp, &state->saved, state->input, batch->rows, out);
        if (status == EMU_OK && layer > 0)
            nn->kernels->add(out, state->input, batch->rows * model->embed);
    }
    return status;
}

static enum emu_status backward(struct emu_trainer *trainer)
{
    const struct emu_nn *nn = &trainer->nn;
    const struct emu_model_config *model = &trainer->plan->config->model;
    const struct emu_batch *batch = &trainer->batch;
    for (uint64_t layer = model->layers; layer-- > 0;) {
        const struct emu_layer_state *state = &trainer->layers[layer];
        enum emu_status status =
            emu_mlp_backward(nn, &state->mlp, &state->saved, state->input, trainer->dstream,
                             batch->rows, trainer->dinput, trainer->scratch);
        if (status != EMU_OK)
            return status;
        if (layer > 0)
            nn->kernels->add(trainer->dstream, trainer->dinput, batch->rows * model->embed);
    }
    emu_embedding_backward(nn, &trainer->embedding, batch->ids, batch->rows * model->context,
                           trainer->dinput);
    return EMU_OK;
}

enum emu_status emu_pass_run(struct emu_trainer *trainer)
{
    const struct emu_nn *nn = &trainer->nn;
    const struct emu_batch *batch = &trainer->batch;
    struct emu_targets targets = {batch->target, batch->valid, batch->rows, trainer->head.first,
                                  trainer->head.rows};
    enum emu_status status = forward(trainer);
    if (status == EMU_OK)
        status = emu_head_forward(nn, &trainer->head, trainer->stream, &targets, trainer->logits,
                                  trainer->token_loss, trainer->scratch);
    if (status != EMU_OK)
        return status;
    nn->kernels->sum(trainer->loss, trainer->token_loss, batch->rows);
    status = emu_head_backward(nn, &trainer->head, trainer->stream, trainer->logits, batch->rows,
                               trainer->dstream);
    return status == EMU_OK ? backward(trainer) : status;
}
