/* The MLP block: column-parallel up, row-parallel down. */
#include "nn/layer.h"

#include <stddef.h>

/* Input of up, all rows -> this rank's pending part of down's output, all rows. */
static void through_products(const struct emu_nn *nn, const struct emu_mlp *layer,
                             struct emu_mlp_saved *saved, const void *input, uint64_t rows, void *y)
{
    const struct emu_kernels *k = nn->kernels;
    k->matmul_nt(&(struct emu_matmul){.a = input,
                                      .b = layer->up,
                                      .c = saved->before,
                                      .m = rows,
                                      .n = layer->hidden,
                                      .k = layer->width});
    k->add_row(saved->before, layer->up_bias, rows, layer->hidden);
    k->activate(nn->activation, saved->after, saved->before, rows * layer->hidden);
    k->matmul_nt(&(struct emu_matmul){.a = saved->after,
                                      .b = layer->down,
                                      .c = y,
                                      .m = rows,
                                      .n = layer->out,
                                      .k = layer->hidden});
}

static enum emu_status whole_forward(const struct emu_nn *nn, const struct emu_mlp *layer,
                                     struct emu_mlp_saved *saved, const void *x, uint64_t rows,
                                     void *y)
{
    const void *input = x;
    if (nn->norm == EMU_NORM_RMS) {
        nn->kernels->rms(saved->normed, saved->inverse, x, layer->norm, rows, layer->width);
        input = saved->normed;
    }
    through_products(nn, layer, saved, input, rows, y);
    return emu_tp_sum(nn, y, rows * layer->out, layer->label_down);
}

static enum emu_status sliced_forward(const struct emu_nn *nn, const struct emu_mlp *layer,
                                      struct emu_mlp_saved *saved, const void *x, uint64_t rows,
                                      void *y)
{
    const uint64_t held = emu_rows_slice(nn, rows).count;
    if (nn->norm == EMU_NORM_RMS)
        nn->kernels->rms(saved->normed, saved->inverse, x, layer->norm, held, layer->width);
    else
        emu_rows_copy(nn, saved->normed, x, held * layer->width);
    enum emu_status status =
        emu_rows_gather(nn, saved->normed, rows, layer->width, layer->label_up_gather);
    if (status != EMU_OK)
        return status;
    through_products(nn, layer, saved, saved->normed, rows, nn->whole);
    status = emu_rows_scatter(nn, nn->whole, rows, layer->out, layer->label_down);
    if (status == EMU_OK)
        emu_rows_copy(nn, y, nn->whole, held * layer->out);
    return status;
}

enum emu_status emu_mlp_forward(const struct emu_nn *nn, const struct emu_mlp *layer,
                                struct emu_mlp_saved *saved, const void *x, uint64_t rows, void *y)
{
    const enum emu_status status = nn->sequence_parallel
                                       ? sliced_forward(nn, layer, saved, x, rows, y)
                                       : whole_forward(nn, layer, saved, x, rows, y);
    if (status != EMU_OK)
        return status;
    /* after the sum: every rank holds the whole bias, and each row must meet it once */
    nn->kernels->add_row(y, layer->down_bias, emu_rows_slice(nn, rows).count, layer->out);
    return EMU_OK;
}

/* One backward pass, and the parts of its scratch as emu_mlp_scratch counts them. */
struct backward {
    const struct emu_nn *nn;
    const struct emu_mlp *layer;
    const struct emu_mlp_saved *saved;
    const void *x, *dy;
    void *dx;
    uint64_t rows;
    void *dafter;  /* (rows, hidden) */
    void *dbefore; /* (rows, hidden) */
    void *dnormed; /* (emu_rows_whole(rows), width) */
    void *dnorm;   /* (width), with sequence_parallel */
};

/* d down, all rows -> d after, and the gradient of down. */
static void back_through_down(const struct backward *b, const void *ddown)
{
    const struct emu_kernels *k = b->nn->kernels;
    const struct emu_mlp *layer = b->layer;
    k->matmul_nn(&(struct emu_matmul){.a = ddown,
                                      .b = layer->down,
                                      .c = b->dafter,
                                      .m = b->rows,
                                      .n = layer->hidden,
                                      .k = layer->out});
    k->matmul_tn(&(struct emu_matmul){.a = ddown,
                                      .b = b->saved->after,
                                      .c = layer->ddown,
                                      .m = layer->out,
                                      .n = layer->hidden,
                                      .k = b->rows,
                                      .accumulate = true});
}

/* d before -> this rank's part of d normed, and the gradients of up and its bias. */
static void back_through_up(const struct backward *b, const void *input, void *dnormed)
{
    const struct emu_kernels *k = b->nn->kernels;
    const struct emu_mlp *layer = b->layer;
    k->matmul_tn(&(struct emu_matmul){.a = b->dbefore,
                                      .b = input,
                                      .c = layer->dup,
                                      .m = layer->hidden,
                                      .n = layer->width,
                                      .k = b->rows,
                                      .accumulate = true});
    k->sum_rows(layer->dup_bias, b->dbefore, b->rows, layer->hidden);
    k->matmul_nn(&(struct emu_matmul){.a = b->dbefore,
                                      .b = layer->up,
                                      .c = dnormed,
                                      .m = b->rows,
                                      .n = layer->width,
                                      .k = layer->hidden});
}

static void back_through_activation(const struct backward *b)
{
    b->nn->kernels->activate_back(b->nn->activation, b->dbefore, b->saved->before, b->dafter,
                                  b->rows * b->layer->hidden);
}

static enum emu_status whole_backward(const struct backward *b)
{
    const struct emu_kernels *k = b->nn->kernels;
    const struct emu_mlp *layer = b->layer;
    const bool normed = b->nn->norm == EMU_NORM_RMS;
    void *dnormed = normed ? b->dnormed : b->dx;
    k->sum_rows(layer->ddown_bias, b->dy, b->rows, layer->out);
    back_through_down(b, b->dy);
    back_through_activation(b);
    back_through_up(b, normed ? b->saved->normed : b->x, dnormed);
    const enum emu_status status =
        emu_tp_sum(b->nn, dnormed, b->rows * layer->width, layer->label_up);
    if (status == EMU_OK && normed)
        k->rms_back(b->dx, layer->dnorm, b->x, layer->norm, b->saved->inverse, dnormed, b->rows,
                    layer->width);
    return status;
}

/* The rows of a slice are terms of a sum that goes on over sources and tp in an order of its own,
 * so bounds are charged row by row. Plain values have the bits of one sum over the rows. */
static void sum_slice(const struct backward *b, uint64_t held)
{
    const struct emu_nn *nn = b->nn;
    for (uint64_t i = 0; i < held; i++)
        nn->kernels->add_term(b->layer->ddown_bias, emu_rows_at(nn, b->dy, i * b->layer->out),
                              b->layer->out, b->rows + nn->slice_terms);
}

static void norm_slice_back(const struct backward *b, uint64_t held)
{
    const struct emu_nn *nn = b->nn;
    const struct emu_kernels *k = nn->kernels;
    const uint64_t width = b->layer->width;
    for (uint64_t i = 0; i < held; i++) {
        k->zero(b->dnorm, width);
        k->rms_back(emu_rows_at(nn, b->dx, i * width), b->dnorm, emu_rows_at(nn, b->x, i * width),
                    b->layer->norm, emu_rows_at(nn, b->saved->inverse, i),
                    emu_rows_at(nn, b->dnormed, i * width), 1, width);
        k->add_term(b->layer->dnorm, b->dnorm, width, b->rows + nn->slice_terms);
    }
}

static enum emu_status sliced_backward(const struct backward *b)
{
    const struct emu_nn *nn = b->nn;
    const struct emu_mlp *layer = b->layer;
    const uint64_t held = emu_rows_slice(nn, b->rows).count;
    sum_slice(b, held);
    emu_rows_copy(nn, nn->whole, b->dy, held * layer->out);
    enum emu_status status =
        emu_rows_gather(nn, nn->whole, b->rows, layer->out, layer->label_down_gather);
    if (status != EMU_OK)
        return status;
    back_through_down(b, nn->whole);
    back_through_activation(b);
    back_through_up(b, b->saved->normed, b->dnormed);
    status = emu_rows_scatter(nn, b->dnormed, b->rows, layer->width, layer->label_up);
    if (status != EMU_OK)
        return status;
    if (nn->norm == EMU_NORM_RMS)
        norm_slice_back(b, held);
    else
        emu_rows_copy(nn, b->dx, b->dnormed, held * layer->width);
    return EMU_OK;
}

enum emu_status emu_mlp_backward(const struct emu_nn *nn, const struct emu_mlp *layer,
                                 const struct emu_mlp_saved *saved, const void *x, const void *dy,
                                 uint64_t rows, void *dx, void *scratch)
{
    const uint64_t inner = rows * layer->hidden;
    const uint64_t normed = emu_rows_whole(nn, rows) * layer->width;
    const struct backward b = {.nn = nn,
                               .layer = layer,
                               .saved = saved,
                               .x = x,
                               .dy = dy,
                               .dx = dx,
                               .rows = rows,
                               .dafter = scratch,
                               .dbefore = emu_rows_at(nn, scratch, inner),
                               .dnormed = emu_rows_at(nn, scratch, 2 * inner),
                               .dnorm = emu_rows_at(nn, scratch, 2 * inner + normed)};
    return nn->sequence_parallel ? sliced_backward(&b) : whole_backward(&b);
}
