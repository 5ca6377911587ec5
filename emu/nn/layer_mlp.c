/* The MLP block: column-parallel up, row-parallel down. */
#include "nn/layer.h"

#include <stddef.h>

enum emu_status emu_mlp_forward(const struct emu_nn *nn, const struct emu_mlp *layer,
                                struct emu_mlp_saved *saved, const void *x, uint64_t rows, void *y)
{
    const struct emu_kernels *k = nn->kernels;
    const void *stream = x;
    if (nn->norm == EMU_NORM_RMS) {
        k->rms(saved->normed, saved->inverse, x, layer->norm, rows, layer->width);
        stream = saved->normed;
    }
    k->matmul_nt(&(struct emu_matmul){.a = stream,
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
    const enum emu_status status = emu_tp_sum(nn, y, rows * layer->out, layer->label_down);
    if (status != EMU_OK)
        return status;
    /* after the sum: every rank holds the whole bias and must add it once */
    k->add_row(y, layer->down_bias, rows, layer->out);
    return EMU_OK;
}

/* d after -> d before, and the gradients of down and its bias. */
static void back_through_down(const struct emu_nn *nn, const struct emu_mlp *layer,
                              const struct emu_mlp_saved *saved, const void *dy, uint64_t rows,
                              void *dafter)
{
    const struct emu_kernels *k = nn->kernels;
    k->matmul_nn(&(struct emu_matmul){
        .a = dy, .b = layer->down, .c = dafter, .m = rows, .n = layer->hidden, .k = layer->out});
    k->matmul_tn(&(struct emu_matmul){.a = dy,
                                      .b = saved->after,
                                      .c = layer->ddown,
                                      .m = layer->out,
                                      .n = layer->hidden,
                                      .k = rows,
                                      .accumulate = true});
    k->sum_rows(layer->ddown_bias, dy, rows, layer->out);
}

/* d before -> this rank's part of d normed, and the gradients of up and its bias. */
static void back_through_up(const struct emu_nn *nn, const struct emu_mlp *layer,
                            const void *stream, const void *dbefore, uint64_t rows, void *dnormed)
{
    const struct emu_kernels *k = nn->kernels;
    k->matmul_tn(&(struct emu_matmul){.a = dbefore,
                                      .b = stream,
                                      .c = layer->dup,
                                      .m = layer->hidden,
                                      .n = layer->width,
                                      .k = rows,
                                      .accumulate = true});
    k->sum_rows(layer->dup_bias, dbefore, rows, layer->hidden);
    k->matmul_nn(&(struct emu_matmul){.a = dbefore,
                                      .b = layer->up,
                                      .c = dnormed,
                                      .m = rows,
                                      .n = layer->width,
                                      .k = layer->hidden});
}

enum emu_status emu_mlp_backward(const struct emu_nn *nn, const struct emu_mlp *layer,
                                 const struct emu_mlp_saved *saved, const void *x, const void *dy,
                                 uint64_t rows, void *dx, void *scratch)
{
    const struct emu_kernels *k = nn->kernels;
    const bool normed = nn->norm == EMU_NORM_RMS;
    const uint64_t part = rows * layer->hidden * k->bytes;
    unsigned char *room = scratch;
    void *dafter = room;
    void *dbefore = part > 0 ? room + part : room;
    void *dnormed = normed ? (part > 0 ? room + 2 * part : room) : dx;

    back_through_down(nn, layer, saved, dy, rows, dafter);
    k->activate_back(nn->activation, dbefore, saved->before, dafter, rows * layer->hidden);
    back_through_up(nn, layer, normed ? saved->normed : x, dbefore, rows, dnormed);
    const enum emu_status status = emu_tp_sum(nn, dnormed, rows * layer->width, layer->label_up);
    if (status != EMU_OK)
        return status;
    if (normed)
        k->rms_back(dx, layer->dnorm, x, layer->norm, saved->inverse, dnormed, rows, layer->width);
    return EMU_OK;
}
