/* The vocabulary-parallel embedding. */
#include "nn/layer.h"

static void look_up(const struct emu_nn *nn, const struct emu_embedding *layer, const uint8_t *ids,
                    uint64_t n, void *out)
{
    nn->kernels->gather(out, layer->table, ids, n, layer->width, layer->first, layer->rows);
}

enum emu_status emu_embedding_forward(const struct emu_nn *nn, const struct emu_embedding *layer,
                                      const uint8_t *ids, uint64_t n, void *out)
{
    if (!nn->sequence_parallel) {
        look_up(nn, layer, ids, n, out);
        return emu_tp_sum(nn, out, n * layer->width, "embed");
    }
    const uint64_t rows = n / layer->window, width = layer->window * layer->width;
    look_up(nn, layer, ids, n, nn->whole);
    const enum emu_status status = emu_rows_scatter(nn, nn->whole, rows, width, "embed");
    if (status == EMU_OK)
        emu_rows_copy(nn, out, nn->whole, emu_rows_slice(nn, rows).count * width);
    return status;
}

enum emu_status emu_embedding_backward(const struct emu_nn *nn, const struct emu_embedding *layer,
                                       const uint8_t *ids, uint64_t n, const void *dout)
{
    const void *all = dout;
    if (nn->sequence_parallel) {
        const uint64_t rows = n / layer->window, width = layer->window * layer->width;
        emu_rows_copy(nn, nn->whole, dout, emu_rows_slice(nn, rows).count * width);
        const enum emu_status status = emu_rows_gather(nn, nn->whole, rows, width, "embed.gather");
        if (status != EMU_OK)
            return status;
        all = nn->whole;
    }
    nn->kernels->scatter_add(layer->dtable, all, ids, n, layer->width, layer->first, layer->rows);
    return EMU_OK;
}
