/* The byte-level language model on one stage: embedding (first stage), MLP layers with a residual
 * stream, head and loss (last stage). Between stages the stream goes forward and its gradient
 * backward, as messages. */
#include "train/deviate.h"
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

/* The runs of positions that the owner of a source has in every sequence. */
static uint32_t runs_of(const struct emu_trainer *trainer, uint32_t source, uint32_t runs[2])
{
    const struct emu_source_shape *shape = &trainer->plan->shape;
    return emu_runs_of(trainer->plan, source / shape->microbatches % shape->cp, runs);
}

/* Positions of a run that hold a byte in a sequence of this length. */
static uint64_t valid_in(const struct emu_trainer *trainer, uint32_t run, uint64_t length)
{
    struct emu_slice positions = emu_run_positions(trainer->plan, run);
    uint64_t left = length > positions.start ? length - positions.start : 0;
    return left < positions.count ? left : positions.count;
}

static uint64_t count(const struct emu_trainer *trainer, uint32_t source)
{
    uint64_t tokens = 0;
    uint32_t runs[2];
    uint32_t run_count = runs_of(trainer, source, runs);
    uint64_t sequences = emu_plan_sequences(trainer->plan, source).count;
    for (uint64_t i = 0; i < sequences; i++) {
        uint64_t n = sequence_of(trainer, source, i);
        for (uint32_t r = 0; r < run_count; r++)
            tokens += valid_in(trainer, runs[r], trainer->corpus->sequences[n].length);
    }
    return tokens;
}

/* Does the first stage exchange embedded bytes with its cp neighbours? The oracle, which runs a
 * slice with the whole text at hand, does not. */
static bool exchanges(const struct emu_trainer *trainer)
{
    return trainer->plan->cp > 1;
}

/* Rows of one sequence: its runs one after the other. */
static void load_sequence(struct emu_trainer *trainer, struct emu_mlp_slot *slot, uint32_t source,
                          uint64_t n)
{
    uint64_t context = model_of(trainer)->context;
    uint32_t runs[2];
    uint32_t run_count = runs_of(trainer, source, runs);
    for (uint32_t r = 0; r < run_count; r++) {
        struct emu_slice part = emu_run_positions(trainer->plan, runs[r]);
        struct emu_corpus_rows rows = {slot->ids + slot->rows * context, slot->target + slot->rows,
                                       slot->valid + slot->rows};
        emu_corpus_fill(trainer->corpus, n, part, context, rows);
        slot->rows += part.count;
    }
}

/* Every stage reads the examples: the first needs the context, the last the targets, all the hash.
 */
static void load(struct emu_trainer *trainer, uint32_t micro)
{
    struct emu_mlp_slot *slot = emu_mlp_slot_of(trainer, micro);
    uint32_t source = emu_trainer_source(trainer, micro);
    slot->sequences = emu_plan_sequences(trainer->plan, source).count;
    slot->rows = 0;
    for (uint64_t i = 0; i < slot->sequences; i++) {
        uint64_t n = sequence_of(trainer, source, i);
        load_sequence(trainer, slot, source, n);
        if (exchanges(trainer) && trainer->model->first)
            emu_halo_load(trainer, &slot->halo, n, i);
    }
    struct emu_hash parts[4] = {
        trainer->batch_hash, emu_hash_of(slot->ids, slot->rows * model_of(trainer)->context),
        emu_hash_of(slot->target, slot->rows), emu_hash_of(slot->valid, slot->rows)};
    trainer->batch_hash = emu_hash_of(parts, sizeof parts);
}

/* Rows of the stream that this rank holds of a microbatch. */
static uint64_t held_of(const struct emu_trainer *trainer, const struct emu_mlp_slot *slot)
{
    return emu_rows_slice(&trainer->nn, slot->rows).count;
}

/* A message of (held, embed) to or from a neighbour stage; forward and backward have tags of their
 * own for each microbatch. */
static struct emu_call message(const struct emu_trainer *trainer, enum emu_kind kind,
                               uint32_t micro, bool backward)
{
    const struct emu_mlp_slot *slot = emu_mlp_slot_of(trainer, micro);
    bool to_following = (kind == EMU_SEND) != backward;
    return (struct emu_call){.kind = kind,
                             .count = held_of(trainer, slot) * model_of(trainer)->embed,
                             .dtype = trainer->nn.kernels->dtype,
                             .peer = to_following ? trainer->model->following
                                                  : trainer->model->previous,
                             .tag = (int32_t)(2 * emu_trainer_turn(trainer, micro) + backward),
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
            nn->kernels->add(out, slot->input[i],
                             held_of(trainer, slot) * model_of(trainer)->embed);
    }
    return EMU_OK;
}

static int32_t halo_tag(const struct emu_trainer *trainer, uint32_t micro, bool backward)
{
    return (int32_t)(2 * emu_trainer_turn(trainer, micro) + backward);
}

/* The layers' settings for the embedding of a halo, which works on whole rows. */
static struct emu_nn unsliced(const struct emu_trainer *trainer)
{
    struct emu_nn nn = trainer->nn;
    nn.sequence_parallel = false;
    return nn;
}

/* Windows across slices: embed what this rank owns, fetch the halo, and keep the rows of the stream
 * that this rank holds. */
static enum emu_status embed_with_halo(struct emu_trainer *trainer, struct emu_mlp_slot *slot,
                                       uint32_t micro)
{
    const struct emu_nn *nn = &trainer->nn;
    struct emu_halo *halo = &slot->halo;
    struct emu_nn whole = unsliced(trainer);
    uint64_t width = model_of(trainer)->context * model_of(trainer)->embed;
    struct emu_slice held = emu_rows_slice(nn, slot->rows);
    enum emu_status status = emu_embedding_forward(&whole, &trainer->model->embedding, halo->bytes,
                                                   slot->sequences * halo->extended, halo->values);
    if (status == EMU_OK)
        status = emu_halo_forward(trainer, halo, halo_tag(trainer, micro, false), slot->sequences);
    if (status != EMU_OK)
        return status;
    void *windows = nn->sequence_parallel ? nn->whole : slot->input[0];
    emu_halo_gather(trainer, halo, slot->sequences, windows);
    if (nn->sequence_parallel)
        emu_rows_copy(nn, slot->input[0], emu_rows_at(nn, windows, held.start * width),
                      held.count * width);
    return EMU_OK;
}

static enum emu_status unembed_with_halo(struct emu_trainer *trainer, struct emu_mlp_slot *slot,
                                         uint32_t micro)
{
    const struct emu_nn *nn = &trainer->nn;
    struct emu_halo *halo = &slot->halo;
    struct emu_nn whole = unsliced(trainer);
    uint64_t width = model_of(trainer)->context * model_of(trainer)->embed;
    void *windows = trainer->model->dinput;
    enum emu_status status = EMU_OK;
    if (nn->sequence_parallel) {
        emu_rows_copy(nn, nn->whole, windows, held_of(trainer, slot) * width);
        windows = nn->whole;
        status = emu_rows_gather(nn, windows, slot->rows, width, "embed.gather");
    }
    if (status != EMU_OK)
        return status;
    emu_halo_scatter(trainer, halo, slot->sequences, windows);
    status = emu_halo_backward(trainer, halo, halo_tag(trainer, micro, true), slot->sequences);
    if (status != EMU_OK)
        return status;
    return emu_embedding_backward(&whole, &trainer->model->embedding, halo->bytes,
                                  slot->sequences * halo->extended, halo->gradients);
}

/* The windows of all rows, embedded. */
static enum emu_status embed(struct emu_trainer *trainer, struct emu_mlp_slot *slot, uint32_t micro)
{
    if (exchanges(trainer))
        return embed_with_halo(trainer, slot, micro);
    return emu_embedding_forward(&trainer->nn, &trainer->model->embedding, slot->ids,
                                 slot->rows * model_of(trainer)->context, slot->input[0]);
}

/* The gradient of the windows, back to the table. */
static enum emu_status unembed(struct emu_trainer *trainer, struct emu_mlp_slot *slot,
                               uint32_t micro)
{
    if (exchanges(trainer))
        return unembed_with_halo(trainer, slot, micro);
    return emu_embedding_backward(&trainer->nn, &trainer->model->embedding, slot->ids,
                                  slot->rows * model_of(trainer)->context, trainer->model->dinput);
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
        status = embed(trainer, slot, micro);
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
            nn->kernels->add(slot->dstream, state->dinput,
                             held_of(trainer, slot) * model_of(trainer)->embed);
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
    return unembed(trainer, slot, micro);
}

const struct emu_model_ops emu_model_mlp_ops = {
    emu_mlp_prepare, emu_mlp_carve, emu_mlp_wire, count, forward, backward, settle, emu_mlp_finish};
