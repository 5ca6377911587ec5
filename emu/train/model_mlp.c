/* The byte-level language model on one stage: embedding (first stage), MLP layers with a residual
 * stream, head and loss (last stage). Between stages the stream goes forward and its gradient
 * backward, as messages. */
#include "train/mlp_state.h"

static const struct emu_model_config *model_of(const struct emu_trainer *trainer)
{
    return &trainer->plan->config->model;
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

/* Every stage reads the examples: the first needs the context, the last the targets, all the hash.
 */
static void load(struct emu_trainer *trainer, uint32_t micro)
{
    struct emu_mlp_slot *slot = emu_mlp_slot_of(trainer, micro);
    uint32_t source = trainer->source_offset + micro;
    uint64_t context = model_of(trainer)->context;
    uint64_t positions = trainer->plan->config->data.sequence;
    uint64_t sequences = emu_plan_sequences(trainer->plan, source).count;
    slot->rows = sequences * positions;
    for (uint64_t i = 0; i < sequences; i++)
        emu_corpus_fill(trainer->corpus, sequence_of(trainer, source, i), context,
                        slot->ids + i * positions * context, slot->target + i * positions,
                        slot->valid + i * positions);
    struct emu_hash parts[4] = {trainer->batch_hash, emu_hash_of(slot->ids, slot->rows * context),
                                emu_hash_of(slot->target, slot->rows),
                                emu_hash_of(slot->valid, slot->rows)};
    trainer->batch_hash = emu_hash_of(parts, sizeof parts);
}

/* A message of (rows, embed) to or from a neighbour stage; forward and backward have tags of their
 * own for each microbatch. */
static struct emu_call message(const struct emu_trainer *trainer, enum emu_kind kind,
                               uint32_t micro, bool backward)
{
    const struct emu_mlp_slot *slot = emu_mlp_slot_of(trainer, micro);
    bool to_following = (kind == EMU_SEND) != backward;
    return (struct emu_call){.kind = kind,
                             .count = slot->rows * model_of(trainer)->embed,
                             .dtype = trainer->nn.kernels->dtype,
                             .peer = to_following ? trainer->model->following
                                                  : trainer->model->previous,
                             .tag = (int32_t)(2 * micro + backward),
                             .label = backward ? "pipeline.backward" : "pipeline.forward",
                             .file = __FILE__,
                             .line = __LINE__};
}

/* Start sending; the buffer stays untouched until the slot is used again. */
static enum emu_status send_stream(struct emu_trainer *trainer, uint32_t micro, bool backward,
                                   const void *stream)
{
    struct emu_call call = message(trainer, EMU_SEND, micro, backward);
    call.input = stream;
    return emu_start(trainer->rank, &call, &emu_mlp_slot_of(trainer, micro)->sent[backward]);
}

static enum emu_status receive_stream(struct emu_trainer *trainer, uint32_t micro, bool backward,
                                      void *stream)
{
    struct emu_call call = message(trainer, EMU_RECV, micro, backward);
    call.output = stream;
    return emu_run_call(trainer->rank, &call);
}

/* Wait for what the slot still sends. */
static enum emu_status release(struct emu_trainer *trainer, struct emu_mlp_slot *slot)
{
    for (int way = 0; way < 2; way++) {
        struct emu_request *sent = slot->sent[way];
        slot->sent[way] = NULL;
        enum emu_status status = sent ? emu_wait(trainer->rank, sent) : EMU_OK;
        if (status != EMU_OK)
            return status;
    }
    return EMU_OK;
}

static enum emu_status settle(struct emu_trainer *trainer)
{
    enum emu_status status = EMU_OK;
    for (uint32_t i = 0; i < trainer->model->slot_count && status == EMU_OK; i++)
        status = release(trainer, &trainer->model->slots[i]);
    return status;
}

/* The buffer that a layer writes its output to: the next layer's input, or the stage's stream. */
static void *output_of(const struct emu_model_state *state, struct emu_mlp_slot *slot, uint64_t i)
{
    return i + 1 < state->own.count ? slot->input[i + 1] : slot->stream;
}

static enum emu_status forward_layers(struct emu_trainer *trainer, struct emu_mlp_slot *slot)
{
    const struct emu_nn *nn = &trainer->nn;
    struct emu_model_state *state = trainer->model;
    for (uint64_t i = 0; i < state->own.count; i++) {
        void *out = output_of(state, slot, i);
        enum emu_status status = emu_mlp_forward(nn, &state->layers[i].mlp, &slot->saved[i],
                                                 slot->input[i], slot->rows, out);
        if (status != EMU_OK)
            return status;
        if (state->own.start + i > 0)
            nn->kernels->add(out, slot->input[i], slot->rows * model_of(trainer)->embed);
    }
    return EMU_OK;
}

static enum emu_status forward(struct emu_trainer *trainer, uint32_t micro)
{
    struct emu_model_state *state = trainer->model;
    struct emu_mlp_slot *slot = emu_mlp_slot_of(trainer, micro);
    enum emu_status status = release(trainer, slot);
    if (status != EMU_OK)
        return status;
    load(trainer, micro);
    if (state->first)
        status = emu_embedding_forward(&trainer->nn, &state->embedding, slot->ids,
                                       slot->rows * model_of(trainer)->context, slot->input[0]);
    else
        status = receive_stream(trainer, micro, false, slot->input[0]);
    if (status == EMU_OK)
        status = forward_layers(trainer, slot);
    if (status == EMU_OK && !state->last)
        status = send_stream(trainer, micro, false, slot->stream);
    return status;
}

/* Head, loss and the gradient of the stream. */
static enum emu_status run_head(struct emu_trainer *trainer, struct emu_mlp_slot *slot)
{
    const struct emu_nn *nn = &trainer->nn;
    struct emu_model_state *state = trainer->model;
    struct emu_targets targets = {slot->target, slot->valid, slot->rows, state->head.first,
                                  state->head.rows};
    /* Tied: head and embedding add to one table, and sources may be added before uses. */
    if (model_of(trainer)->tie_embeddings)
        state->head.shared_terms =
            slot->rows * model_of(trainer)->context + emu_plan_sources(trainer->plan) + 2;
    enum emu_status status = emu_head_forward(nn, &state->head, slot->stream, &targets,
                                              state->logits, state->token_loss, state->scratch);
    if (status != EMU_OK)
        return status;
    nn->kernels->sum(trainer->source_loss, state->token_loss, slot->rows);
    return emu_head_backward(nn, &state->head, slot->stream, state->logits, slot->rows,
                             slot->dstream);
}

static enum emu_status backward_layers(struct emu_trainer *trainer, struct emu_mlp_slot *slot)
{
    const struct emu_nn *nn = &trainer->nn;
    struct emu_model_state *state = trainer->model;
    for (uint64_t i = state->own.count; i-- > 0;) {
        enum emu_status status =
            emu_mlp_backward(nn, &state->layers[i].mlp, &slot->saved[i], slot->input[i],
                             slot->dstream, slot->rows, state->dinput, state->scratch);
        if (status != EMU_OK)
            return status;
        if (state->own.start + i > 0)
            nn->kernels->add(slot->dstream, state->dinput, slot->rows * model_of(trainer)->embed);
    }
    return EMU_OK;
}

static enum emu_status backward(struct emu_trainer *trainer, uint32_t micro)
{
    struct emu_model_state *state = trainer->model;
    struct emu_mlp_slot *slot = emu_mlp_slot_of(trainer, micro);
    enum emu_status status =
        state->last ? run_head(trainer, slot) : receive_stream(trainer, micro, true, slot->dstream);
    if (status == EMU_OK)
        status = backward_layers(trainer, slot);
    if (status != EMU_OK)
        return status;
    if (!state->first)
        return send_stream(trainer, micro, true, slot->dstream);
    return emu_embedding_backward(&trainer->nn, &state->embedding, slot->ids,
                                  slot->rows * model_of(trainer)->context, state->dinput);
}

const struct emu_model_ops emu_model_mlp_ops = {
    emu_mlp_prepare, emu_mlp_carve, emu_mlp_wire, count, forward, backward, settle, emu_mlp_finish};
