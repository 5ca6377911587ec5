#include "tiny_model.h"

#include "comm/rank.h"
#include "nn_random.h"

#include <stdlib.h>
#include <string.h>

struct tiny_shape tiny_shape_of(const struct tiny *model, enum tensor tensor)
{
    const uint64_t wide = model->context * model->embed;
    switch (tensor) {
    case EMBED:
    case HEAD:
        return (struct tiny_shape){model->vocab, model->embed, 0};
    case NORM0:
        return (struct tiny_shape){1, wide, -1};
    case NORM1:
    case DOWN_BIAS0:
    case DOWN_BIAS1:
        return (struct tiny_shape){1, model->embed, -1};
    case UP0:
        return (struct tiny_shape){model->hidden, wide, 0};
    case UP1:
        return (struct tiny_shape){model->hidden, model->embed, 0};
    case UP_BIAS0:
    case UP_BIAS1:
        return (struct tiny_shape){1, model->hidden, 1};
    default:
        return (struct tiny_shape){model->embed, model->hidden, 1};
    }
}

void tiny_draw(struct tiny *model, struct tiny_values *weights, uint64_t *random)
{
    for (int t = 0; t < TENSORS; t++)
        for (int i = 0; i < TINY_ELEMENTS; i++) {
            const double x = (double)(float)(0.5 * draw_real(random));
            weights->element[t][i] =
                (struct emu_bounded){t == NORM0 || t == NORM1 ? 1.0 + x : x, 0.0};
        }
    for (uint64_t i = 0; i < model->rows * model->context; i++)
        model->ids[i] = (uint8_t)draw_below(random, model->vocab);
    for (uint64_t i = 0; i < model->rows; i++) {
        model->target[i] = (uint8_t)draw_below(random, model->vocab);
        model->valid[i] = draw_below(random, 4) > 0;
    }
}

/* What one rank holds. */
struct held {
    const struct tiny *model;
    const struct tiny_rank *at;
    struct emu_nn nn;
    uint64_t held; /* rows of the stream */
    void *weight[TENSORS], *gradient[TENSORS];
    struct emu_slice rows[TENSORS], columns[TENSORS];
    struct emu_mlp mlp[2];
    struct emu_mlp_saved saved[2];
    void *input[2], *stream, *logits, *loss, *dstream, *dinput, *scratch;
    void *whole, *head_whole;
};

/* Terms that meet in a sum over slices: one source and at most 9 ranks here. */
enum { SLICE_TERMS = 10 };

/* `count` elements and not one more. */
static void *room(const struct held *held, uint64_t count)
{
    void *memory = calloc(count > 0 ? count : 1, held->at->kernels->bytes);
    if (!memory)
        abort();
    return memory;
}

/* The same, full of NaN: nothing may count on what a buffer held before. */
static void *soiled_room(const struct held *held, uint64_t count)
{
    void *memory = room(held, count);
    memset(memory, 0xff, count * held->at->kernels->bytes);
    return memory;
}

static void take_tensor(struct held *held, const struct tiny_values *weights, enum tensor t)
{
    const struct tiny_shape shape = tiny_shape_of(held->model, t);
    const struct tiny_rank *at = held->at;
    held->rows[t] = (struct emu_slice){0, shape.rows};
    held->columns[t] = (struct emu_slice){0, shape.columns};
    if (shape.split == 0)
        held->rows[t] = emu_slice_chunk(shape.rows, at->size, at->index);
    if (shape.split == 1)
        held->columns[t] = emu_slice_chunk(shape.columns, at->size, at->index);
    const struct emu_slice rows = held->rows[t], columns = held->columns[t];
    held->weight[t] = room(held, rows.count * columns.count);
    held->gradient[t] = room(held, rows.count * columns.count);
    for (uint64_t i = 0; i < rows.count; i++)
        for (uint64_t j = 0; j < columns.count; j++)
            at->kernels->set(
                held->weight[t], i * columns.count + j,
                weights->element[t][(rows.start + i) * shape.columns + columns.start + j].value);
}

static void give_gradient(const struct held *held, enum tensor t, struct tiny_values *out)
{
    const struct tiny_shape shape = tiny_shape_of(held->model, t);
    const struct emu_slice rows = held->rows[t], columns = held->columns[t];
    const struct emu_kernels *k = held->at->kernels;
    for (uint64_t i = 0; i < rows.count; i++)
        for (uint64_t j = 0; j < columns.count; j++)
            out->element[t][(rows.start + i) * shape.columns + columns.start + j] =
                (struct emu_bounded){k->get(held->gradient[t], i * columns.count + j),
                                     k->bound(held->gradient[t], i * columns.count + j)};
}

static void make_mlp(struct held *held, int layer)
{
    const int first = layer == 0 ? NORM0 : NORM1;
    void **w = held->weight + first, **g = held->gradient + first;
    const uint64_t width =
        layer == 0 ? held->model->context * held->model->embed : held->model->embed;
    const uint64_t hidden = held->columns[first + 2].count, rows = held->model->rows;
    const struct emu_nn *nn = &held->nn;
    held->mlp[layer] = (struct emu_mlp){.width = width,
                                        .hidden = hidden,
                                        .out = held->model->embed,
                                        .norm = w[0],
                                        .up = w[1],
                                        .up_bias = w[2],
                                        .down = w[3],
                                        .down_bias = w[4],
                                        .dnorm = g[0],
                                        .dup = g[1],
                                        .dup_bias = g[2],
                                        .ddown = g[3],
                                        .ddown_bias = g[4],
                                        .label_down = "layers.N.down",
                                        .label_up = "layers.N.up",
                                        .label_up_gather = "layers.N.up.gather",
                                        .label_down_gather = "layers.N.down.gather"};
    held->saved[layer] =
        (struct emu_mlp_saved){room(held, emu_mlp_normed(nn, &held->mlp[layer], rows)),
                               soiled_room(held, emu_mlp_inverse(nn, rows)),
                               soiled_room(held, rows * hidden), soiled_room(held, rows * hidden)};
    held->input[layer] = soiled_room(held, held->held * width);
}

static uint64_t scratch_of(const struct held *held)
{
    uint64_t most = emu_head_scratch(held->model->rows);
    for (int layer = 0; layer < 2; layer++) {
        const uint64_t here = emu_mlp_scratch(&held->nn, &held->mlp[layer], held->model->rows);
        most = here > most ? here : most;
    }
    return most;
}

static void hold(struct held *held, const struct tiny_values *weights)
{
    const struct tiny *model = held->model;
    const uint64_t wide = model->context * model->embed, rows = model->rows;
    for (int t = 0; t < TENSORS; t++)
        take_tensor(held, weights, (enum tensor)t);
    make_mlp(held, 0);
    make_mlp(held, 1);
    held->stream = soiled_room(held, held->held * model->embed);
    held->logits = soiled_room(held, rows * model->vocab);
    held->loss = soiled_room(held, rows);
    held->dstream = soiled_room(held, held->held * model->embed);
    held->dinput = soiled_room(held, held->held * wide);
    held->scratch = soiled_room(held, scratch_of(held));
    held->whole = held->nn.whole = soiled_room(held, emu_rows_room(&held->nn, rows, wide));
    held->head_whole = soiled_room(held, emu_rows_room(&held->nn, rows, model->embed));
}

static void let_go(struct held *held)
{
    for (int t = 0; t < TENSORS; t++) {
        free(held->weight[t]);
        free(held->gradient[t]);
    }
    for (int layer = 0; layer < 2; layer++) {
        free(held->saved[layer].normed);
        free(held->saved[layer].inverse);
        free(held->saved[layer].before);
        free(held->saved[layer].after);
        free(held->input[layer]);
    }
    free(held->stream);
    free(held->logits);
    free(held->loss);
    free(held->dstream);
    free(held->dinput);
    free(held->scratch);
    free(held->whole);
    free(held->head_whole);
}

static enum emu_status forward(struct held *held, const struct emu_nn *nn,
                               const struct emu_embedding *table)
{
    const struct tiny *model = held->model;
    const uint64_t rows = model->rows;
    enum emu_status status =
        emu_embedding_forward(nn, table, model->ids, rows * model->context, held->input[0]);
    if (status == EMU_OK)
        status = emu_mlp_forward(nn, &held->mlp[0], &held->saved[0], held->input[0], rows,
                                 held->input[1]);
    if (status == EMU_OK)
        status =
            emu_mlp_forward(nn, &held->mlp[1], &held->saved[1], held->input[1], rows, held->stream);
    if (status == EMU_OK)
        nn->kernels->add(held->stream, held->input[1], held->held * model->embed);
    return status;
}

static enum emu_status backward(struct held *held, const struct emu_nn *nn,
                                const struct emu_embedding *table)
{
    const struct tiny *model = held->model;
    const uint64_t rows = model->rows;
    enum emu_status status = emu_mlp_backward(nn, &held->mlp[1], &held->saved[1], held->input[1],
                                              held->dstream, rows, held->dinput, held->scratch);
    if (status != EMU_OK)
        return status;
    nn->kernels->add(held->dstream, held->dinput, held->held * model->embed);
    status = emu_mlp_backward(nn, &held->mlp[0], &held->saved[0], held->input[0], held->dstream,
                              rows, held->dinput, held->scratch);
    if (status != EMU_OK)
        return status;
    return emu_embedding_backward(nn, table, model->ids, rows * model->context, held->dinput);
}

static enum emu_status pass(struct held *held)
{
    const struct tiny *model = held->model;
    const struct emu_nn *nn = &held->nn;
    const enum tensor top = model->tied ? EMBED : HEAD;
    const struct emu_slice part = held->rows[EMBED];
    const struct emu_embedding table = {.table = held->weight[EMBED],
                                        .dtable = held->gradient[EMBED],
                                        .first = part.start,
                                        .rows = part.count,
                                        .width = model->embed,
                                        .window = model->context};
    const struct emu_head head = {.table = held->weight[top],
                                  .dtable = held->gradient[top],
                                  .first = part.start,
                                  .rows = part.count,
                                  .width = model->embed,
                                  .loss = model->loss,
                                  .shared_terms = model->tied ? model->rows * model->context : 0,
                                  .whole = held->head_whole};
    const struct emu_targets targets = {model->target, model->valid, model->rows, part.start,
                                        part.count};
    enum emu_status status = forward(held, nn, &table);
    if (status == EMU_OK)
        status = emu_head_forward(nn, &head, held->stream, &targets, held->logits, held->loss,
                                  held->scratch);
    if (status == EMU_OK)
        status =
            emu_head_backward(nn, &head, held->stream, held->logits, model->rows, held->dstream);
    return status == EMU_OK ? backward(held, nn, &table) : status;
}

static struct emu_nn nn_of(const struct tiny *model, const struct tiny_rank *at)
{
    return (struct emu_nn){.kernels = at->kernels,
                           .rank = at->rank,
                           .tp_group = at->group,
                           .activation = model->activation,
                           .norm = model->norm,
                           .sequence_parallel = at->sequence_parallel,
                           .tp_size = at->size,
                           .tp_index = at->index,
                           .slice_terms = SLICE_TERMS};
}

enum emu_status tiny_run(const struct tiny *model, const struct tiny_rank *at,
                         const struct tiny_values *weights, struct tiny_values *out)
{
    struct held held = {.model = model, .at = at, .nn = nn_of(model, at)};
    held.held = emu_rows_slice(&held.nn, model->rows).count;
    hold(&held, weights);
    const enum emu_status status = pass(&held);
    for (int t = 0; t < TENSORS; t++)
        give_gradient(&held, (enum tensor)t, out);
    for (uint64_t i = 0; i < model->rows; i++)
        out->loss[i] =
            (struct emu_bounded){at->kernels->get(held.loss, i), at->kernels->bound(held.loss, i)};
    let_go(&held);
    return status;
}

static void run_alone(const struct tiny *model, const struct tiny_rank *alone,
                      const struct tiny_values *weights, struct tiny_values *out)
{
    struct emu_mesh mesh = {0};
    struct emu_roster *roster = calloc(1, sizeof(*roster));
    struct tiny_rank at = *alone;
    if (!roster || emu_mesh_parse("tp=1", &mesh, NULL) != EMU_OK)
        abort();
    emu_roster_init(roster, &mesh);
    if (emu_rank_create_self(roster, NULL, 0, &at.rank) != EMU_OK)
        abort();
    if (tiny_run(model, &at, weights, out) != EMU_OK)
        abort();
    emu_rank_destroy(at.rank);
    emu_roster_finish(roster);
    emu_mesh_finish(&mesh);
    free(roster);
}

void tiny_run_alone(const struct tiny *model, const struct emu_kernels *kernels,
                    const struct tiny_values *weights, struct tiny_values *out)
{
    const struct tiny_rank at = {.kernels = kernels, .group = EMU_GROUP_SELF, .size = 1};
    run_alone(model, &at, weights, out);
}

void tiny_run_alone_sliced(const struct tiny *model, const struct emu_kernels *kernels,
                           const struct tiny_values *weights, struct tiny_values *out)
{
    const struct tiny_rank at = {
        .kernels = kernels, .group = EMU_GROUP_SELF, .size = 1, .sequence_parallel = true};
    run_alone(model, &at, weights, out);
}
