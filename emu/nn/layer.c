/* The sum over tp, and the embedding. */
#include "nn/layer.h"

#include <stddef.h>

enum emu_status emu_tp_sum(const struct emu_nn *nn, void *x, uint64_t n, const char *label)
{
    const struct emu_call call = {.kind = EMU_ALL_REDUCE,
                                  .group = nn->tp_group,
                                  .count = n,
                                  .dtype = nn->kernels->dtype,
                                  .op = EMU_SUM,
                                  .input = x,
                                  .output = x,
                                  .label = label,
                                  .file = __FILE__,
                                  .line = __LINE__};
    return emu_run_call(nn->rank, &call);
}

enum emu_status emu_embedding_forward(const struct emu_nn *nn, const struct emu_embedding *layer,
                                      const uint8_t *ids, uint64_t n, void *out)
{
    nn->kernels->gather(out, layer->table, ids, n, layer->width, layer->first, layer->rows);
    return emu_tp_sum(nn, out, n * layer->width, "embed");
}

void emu_embedding_backward(const struct emu_nn *nn, const struct emu_embedding *layer,
                            const uint8_t *ids, uint64_t n, const void *dout)
{
    nn->kernels->scatter_add(layer->dtable, dout, ids, n, layer->width, layer->first, layer->rows);
}
