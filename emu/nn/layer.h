/* How do the layers of a tensor-parallel byte model run forward and backward on one rank?
 *
 * Placement over tp (t ranks): embedding and head are split by rows of the vocabulary, `up` by rows
 * (column-parallel), `down` by columns (row-parallel), norms and the bias of `down` are replicated.
 * The two conjugate operators (M. Shoeybi et al., Megatron-LM, 2019): a row-parallel product is a
 * pending sum, summed in forward and passed through in backward; the input of a column-parallel
 * product passes through in forward and its gradient, a pending sum, is summed in backward. Both
 * sums are emu_tp_sum.
 *
 * Gradients are added to what the buffers hold. Shards may be empty. Every function returns the
 * status of its collectives (EMU_OK without any).
 */
#ifndef EMU_NN_LAYER_H
#define EMU_NN_LAYER_H

#include "nn/kernel.h"

#include <meshemu/comm.h>

struct emu_nn {
    const struct emu_kernels *kernels;
    struct emu_rank *rank;
    uint32_t tp_group; /* EMU_GROUP_SELF where there is no tp axis */
    enum emu_activation activation;
    enum emu_norm_kind norm; /* rms or none */
};

/* x (n) summed over the tp group, in place; `label` names the call in reports. */
EMU_MUST_CHECK enum emu_status emu_tp_sum(const struct emu_nn *nn, void *x, uint64_t n,
                                          const char *label);

/* Embedding: table (rows_held, width) holds vocabulary rows first..first+rows_held. ids (n).
 * out (n, width), summed over tp. Backward adds to dtable. */
struct emu_embedding {
    void *table, *dtable;
    uint64_t first, rows, width;
};
EMU_MUST_CHECK enum emu_status emu_embedding_forward(const struct emu_nn *nn,
                                                     const struct emu_embedding *layer,
                                                     const uint8_t *ids, uint64_t n, void *out);
void emu_embedding_backward(const struct emu_nn *nn, const struct emu_embedding *layer,
                            const uint8_t *ids, uint64_t n, const void *dout);

/* MLP block: y = down(act(up(norm(x)) + up_bias)) + down_bias, without the residual.
 * x (rows, width); up (hidden, width), up_bias (hidden), down (out, hidden), down_bias (out) where
 * hidden is the part held here; y (rows, out), whole on every tp rank. Saved for backward: normed
 * (rows, width), inverse (rows), before (rows, hidden), after (rows, hidden). With norm none
 * `normed` is not written and may be NULL, as may norm, dnorm and inverse. */
struct emu_mlp {
    uint64_t width, hidden, out;
    void *norm, *up, *up_bias, *down, *down_bias;
    void *dnorm, *dup, *dup_bias, *ddown, *ddown_bias;
    const char *label_down; /* "layers.0.down": forward sum */
    const char *label_up;   /* "layers.0.up": backward sum */
};
struct emu_mlp_saved {
    void *normed, *inverse, *before, *after;
};
EMU_MUST_CHECK enum emu_status emu_mlp_forward(const struct emu_nn *nn, const struct emu_mlp *layer,
                                               struct emu_mlp_saved *saved, const void *x,
                                               uint64_t rows, void *y);
/* dx (rows, width) is written. scratch: 2 * rows * hidden + 1 * rows * width elements. */
EMU_MUST_CHECK enum emu_status emu_mlp_backward(const struct emu_nn *nn,
                                                const struct emu_mlp *layer,
                                                const struct emu_mlp_saved *saved, const void *x,
                                                const void *dy, uint64_t rows, void *dx,
                                                void *scratch);

/* Head and loss: logits = stream (rows, width) times table (columns_held, width)^T, then the loss
 * of each token. Only per-token numbers cross tp (max, sum, the target's logit), never logits.
 * scratch: 3 * rows elements; logits (rows, columns_held) is left holding the gradient of
 * the summed loss. loss (rows): per token, 0 where masked, equal on every tp rank. */
struct emu_head {
    void *table, *dtable;        /* dtable may be the embedding's where tied */
    uint64_t first, rows, width; /* vocabulary rows held, unpadded */
    enum emu_loss_kind loss;
    /* Tied table: how many terms the embedding adds at most to one element of it in a step, over
     * all ranks (the largest count of one byte among the ids; their number is safe). Widens the
     * bounds of bounded kinds, plain kinds ignore it. */
    uint64_t shared_terms;
};
EMU_MUST_CHECK enum emu_status emu_head_forward(const struct emu_nn *nn,
                                                const struct emu_head *layer, const void *stream,
                                                const struct emu_targets *targets, void *logits,
                                                void *loss, void *scratch);
/* dstream (rows, width) is written, summed over tp. */
EMU_MUST_CHECK enum emu_status emu_head_backward(const struct emu_nn *nn,
                                                 const struct emu_head *layer, const void *stream,
                                                 const void *dlogits, uint64_t rows, void *dstream);

#endif
