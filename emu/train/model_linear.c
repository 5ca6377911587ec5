/* The model for arithmetic cases: one weight vector w, token loss w*x, so that its gradient is x.
 */
#include "train/deviate.h"
#include "train/model_state.h"

#include <stdlib.h>

struct emu_model_state {
    uint64_t rows; /* tokens of the source at hand, masked ones included */
    void *x;       /* (rows, features), zeros where masked */
    void *token_loss;
};

static enum emu_status prepare(struct emu_trainer *trainer)
{
    trainer->model = calloc(1, sizeof *trainer->model);
    return trainer->model ? EMU_OK : EMU_ENOMEM;
}

static void finish(struct emu_trainer *trainer)
{
    free(trainer->model);
}

static void carve(struct emu_trainer *trainer, struct emu_carver *carver)
{
    uint64_t rows = emu_plan_rows_most(trainer->plan);
    trainer->model->x =
        emu_carve(carver, EMU_ACTIVATIONS, rows, trainer->plan->config->model.features);
    trainer->model->token_loss = emu_carve(carver, EMU_ACTIVATIONS, rows, 1);
}

static void wire(struct emu_trainer *trainer)
{
    (void)trainer; /* nothing points anywhere */
}

static const struct emu_token_list *tokens_of(const struct emu_trainer *trainer)
{
    return trainer->plan->config->data.inline_tokens;
}

static uint64_t count(const struct emu_trainer *trainer, uint32_t source)
{
    const struct emu_token_list *tokens = tokens_of(trainer);
    uint64_t valid = 0;
    for (uint64_t i = tokens->first[source]; i < tokens->first[source + 1]; i++)
        valid += !tokens->masked[i];
    return valid;
}

static void load(struct emu_trainer *trainer, uint32_t source)
{
    const struct emu_token_list *tokens = tokens_of(trainer);
    const struct emu_kernels *kernels = trainer->nn.kernels;
    uint64_t features = tokens->features;
    uint64_t first = tokens->first[source];
    trainer->model->rows = tokens->first[source + 1] - first;
    for (uint64_t i = 0; i < trainer->model->rows; i++)
        for (uint64_t f = 0; f < features; f++)
            kernels->set(trainer->model->x, i * features + f,
                         tokens->masked[first + i] ? 0.0
                                                   : tokens->value[(first + i) * features + f]);
    struct emu_hash parts[2] = {
        trainer->batch_hash,
        emu_hash_of(trainer->model->x, trainer->model->rows * features * kernels->bytes)};
    trainer->batch_hash = emu_hash_of(parts, sizeof parts);
}

static enum emu_status forward(struct emu_trainer *trainer, uint32_t micro)
{
    struct emu_model_state *state = trainer->model;
    load(trainer, emu_trainer_source(trainer, micro));
    struct emu_matmul product = {.a = state->x,
                                 .b = trainer->parameters[0].weight,
                                 .c = state->token_loss,
                                 .m = state->rows,
                                 .n = 1,
                                 .k = trainer->plan->config->model.features};
    trainer->nn.kernels->matmul_nt(&product);
    return EMU_OK;
}

static enum emu_status backward(struct emu_trainer *trainer, uint32_t micro)
{
    const struct emu_kernels *kernels = trainer->nn.kernels;
    struct emu_model_state *state = trainer->model;
    (void)micro; /* one stage: the microbatch just run forward is the one in the buffer */
    kernels->sum(trainer->source_loss, state->token_loss, state->rows);
    kernels->sum_rows(trainer->parameters[0].fresh, state->x, state->rows,
                      trainer->plan->config->model.features);
    return EMU_OK;
}

static enum emu_status settle(struct emu_trainer *trainer)
{
    (void)trainer; /* nothing is ever under way */
    return EMU_OK;
}

const struct emu_model_ops emu_model_linear_ops = {prepare, carve,    wire,   count,
                                                   forward, backward, settle, finish};
