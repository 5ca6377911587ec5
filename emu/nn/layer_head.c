/* The vocabulary-parallel head and the loss of each token. */
#include "nn/layer.h"

#include <stddef.h>

/* Three numbers a token cross tp: the largest logit, the sum of exponentials, the target's logit.
 */
static enum emu_status cross_entropy(const struct emu_nn *nn, const struct emu_targets *targets,
                                     void *logits, void *loss, void *scratch)
{
    const struct emu_kernels *k = nn->kernels;
    const uint64_t rows = targets->rows, part = rows * k->bytes;
    unsigned char *max = scratch;
    unsigned char *sum = part > 0 ? max + part : max;
    unsigned char *picked = part > 0 ? sum + part : max;

    k->row_max(max, logits, rows, targets->columns);
    enum emu_status status = emu_tp_max(nn, max, rows, "head.max");
    if (status != EMU_OK)
        return status;
    k->exp_sum(sum, logits, max, rows, targets->columns);
    status = emu_tp_sum(nn, sum, rows, "head.sum");
    if (status != EMU_OK)
        return status;
    k->pick(picked, logits, targets);
    status = emu_tp_sum(nn, picked, rows, "head.target");
    if (status != EMU_OK)
        return status;
    k->nll(loss, sum, max, picked, targets);
    k->softmax_back(logits, logits, max, sum, targets);
    return EMU_OK;
}

enum emu_status emu_head_forward(const struct emu_nn *nn, const struct emu_head *layer,
                                 const void *stream, const struct emu_targets *targets,
                                 void *logits, void *loss, void *scratch)
{
    const struct emu_kernels *k = nn->kernels;
    const uint64_t rows = targets->rows, held = emu_rows_slice(nn, rows).count;
    const void *all = stream;
    if (nn->sequence_parallel) {
        emu_rows_copy(nn, layer->whole, stream, held * layer->width);
        const enum emu_status status =
            emu_rows_gather(nn, layer->whole, rows, layer->width, "head.gather");
        if (status != EMU_OK)
            return status;
        all = layer->whole;
    }
    k->matmul_nt(&(struct emu_matmul){
        .a = all, .b = layer->table, .c = logits, .m = rows, .n = layer->rows, .k = layer->width});
    if (layer->loss == EMU_CROSS_ENTROPY)
        return cross_entropy(nn, targets, logits, loss, scratch);
    k->squared(loss, logits, logits, targets);
    return emu_tp_sum(nn, loss, rows, "head.sum");
}

enum emu_status emu_head_backward(const struct emu_nn *nn, const struct emu_head *layer,
                                  const void *stream, const void *dlogits, uint64_t rows,
                                  void *dstream)
{
    const struct emu_kernels *k = nn->kernels;
    const bool sliced = nn->sequence_parallel;
    void *dall = sliced ? layer->whole : dstream; /* the gathered stream has been read by then */
    k->matmul_tn(
        &(struct emu_matmul){.a = dlogits,
                             .b = sliced ? layer->whole : stream,
                             .c = layer->dtable,
                             .m = layer->rows,
                             .n = layer->width,
                             .k = rows,
                             .accumulate = true,
                             .terms = layer->shared_terms ? rows + layer->shared_terms : 0});
    k->matmul_nn(&(struct emu_matmul){.a = dlogits,
                                      .b = layer->table,
                                      .c = dall,
                                      .m = rows,
                                      .n = layer->width,
                                      .k = layer->rows});
    if (!sliced)
        return emu_tp_sum(nn, dstream, rows * layer->width, "head");
    const enum emu_status status = emu_rows_scatter(nn, dall, rows, layer->width, "head");
    if (status == EMU_OK)
        emu_rows_copy(nn, dstream, dall, emu_rows_slice(nn, rows).count * layer->width);
    return status;
}
