/* How do the layers of a tensor-parallel byte model run forward and backward on one rank?
 *
 * Placement over tp (t ranks): embedding and head are split by rows of the vocabulary, `up` by rows
 * (column-parallel), `down` by columns (row-parallel), norms and the bias of `down` are replicated.
 * The two conjugate operators (M. Shoeybi et al., Megatron-LM, 2019): a row-parallel product is a
 * pending sum, summed in forward and passed through in backward; the input of a column-parallel
 * product passes through in forward and its gradient, a pending sum, is summed in backward. Both
 * sums are emu_tp_sum.
 *
 * With nn->sequence_parallel the stream lies in slices (row_slices.h), and a function takes and
 * gives slices where its comment says (held, ...): held = emu_rows_slice(nn, rows).count rows,
 * which is all rows without it. `rows` always counts the whole microbatch, on every tp rank alike;
 * ids, targets, losses and logits are never sliced. A pending sum is scattered instead of summed,
 * the input of a column-parallel product is gathered:
 *
 *                     forward                                 backward
 *   embedding         reduce_scatter "embed"                  all_gather "embed.gather"
 *   MLP: up           all_gather     label_up_gather          reduce_scatter label_up
 *        down         reduce_scatter label_down               all_gather     label_down_gather
 *   head              all_gather     "head.gather"            reduce_scatter "head"
 *
 * The gradients of norms and of the bias of `down` are then pending over tp: each rank has those of
 * its own rows, and the caller owes them a sum over tp, once. All other gradients are as without.
 *
 * Gradients are added to what the buffers hold. Shards and slices may be empty. Every function
 * returns the status of its collectives (EMU_OK without any).
 */
#ifndef EMU_NN_LAYER_H
#define EMU_NN_LAYER_H

#include "nn/row_slices.h"

/* Embedding: table (rows_held, width) holds vocabulary rows first..first+rows_held. ids (n) in the
 * order of the stream, whose rows are the rows of `window` ids one after the other.
 * out, dout: n / window rows of the stream, (held, window * width); out is summed over tp.
 * Backward adds to dtable. nn->whole: emu_rows_room(nn, n / window, window * width) elements. */
struct emu_embedding {
    void *table, *dtable;
    uint64_t first, rows, width;
    uint64_t window; /* with sequence_parallel: a divisor of n, at least 1; else not read */
};
EMU_MUST_CHECK enum emu_status emu_embedding_forward(const struct emu_nn *nn,
                                                     const struct emu_embedding *layer,
                                                     const uint8_t *ids, uint64_t n, void *out);
EMU_MUST_CHECK enum emu_status emu_embedding_backward(const struct emu_nn *nn,
                                                      const struct emu_embedding *layer,
                                                      const uint8_t *ids, uint64_t n,
                                                      const void *dout);

/* MLP block: y = down(act(up(norm(x)) + up_bias)) + down_bias, without the residual.
 * x (held, width); up (hidden, width), up_bias (hidden), down (out, hidden), down_bias (out) where
 * hidden is the part held here; y (held, out), whole values on every tp rank. dx, dy like x, y.
 *
 * Saved for backward: before (rows, hidden), after (rows, hidden), inverse (held), and normed, the
 * input of `up`: (rows, width), or (emu_rows_whole(rows), width) with sequence_parallel, where it
 * is kept gathered: once more would cost backward an all_gather. The emu_mlp_* functions below say
 * how much room is enough for up to `rows` rows.
 * With norm none, norm, dnorm and inverse may be NULL, as may normed without sequence_parallel.
 * nn->whole: emu_rows_room(nn, rows, out) elements. */
struct emu_mlp {
    uint64_t width, hidden, out;
    void *norm, *up, *up_bias, *down, *down_bias;
    void *dnorm, *dup, *dup_bias, *ddown, *ddown_bias;
    const char *label_down;        /* "layers.0.down": forward sum */
    const char *label_up;          /* "layers.0.up": backward sum */
    const char *label_up_gather;   /* "layers.0.up.gather": forward, before up */
    const char *label_down_gather; /* "layers.0.down.gather": backward, before down */
};
struct emu_mlp_saved {
    void *normed, *inverse, *before, *after;
};
EMU_MUST_CHECK enum emu_status emu_mlp_forward(const struct emu_nn *nn, const struct emu_mlp *layer,
                                               struct emu_mlp_saved *saved, const void *x,
                                               uint64_t rows, void *y);
/* dx is written. scratch: emu_mlp_scratch elements. */
EMU_MUST_CHECK enum emu_status emu_mlp_backward(const struct emu_nn *nn,
                                                const struct emu_mlp *layer,
                                                const struct emu_mlp_saved *saved, const void *x,
                                                const void *dy, uint64_t rows, void *dx,
                                                void *scratch);

/* Elements, enough for every microbatch of up to `rows` rows; only nn->norm, the fields about
 * sequence_parallel, width and hidden are read. UINT64_MAX where the number does not fit. */
static inline uint64_t emu_mlp_normed(const struct emu_nn *nn, const struct emu_mlp *layer,
                                      uint64_t rows)
{
    return nn->sequence_parallel || nn->norm == EMU_NORM_RMS
               ? emu_rows_elements(emu_rows_whole(nn, rows), layer->width, 0)
               : 0;
}

static inline uint64_t emu_mlp_inverse(const struct emu_nn *nn, uint64_t rows)
{
    return nn->norm == EMU_NORM_RMS ? emu_rows_most(nn, rows) : 0;
}

/* d after, d before, d normed, and one row of d norm. */
static inline uint64_t emu_mlp_scratch(const struct emu_nn *nn, const struct emu_mlp *layer,
                                       uint64_t rows)
{
    return emu_rows_elements(emu_rows_whole(nn, rows), 2 * layer->hidden + layer->width,
                             nn->sequence_parallel ? layer->width : 0);
}

/* Head and loss: logits = stream (rows, width) times table (columns_held, width)^T, then the loss
 * of each token. Only per-token numbers cross tp (max, sum, the target's logit), never logits.
 * stream, dstream (held, width). scratch: emu_head_scratch elements; logits (rows, columns_held) is
 * left holding the gradient of the summed loss. loss (rows): per token, 0 where masked, equal on
 * every tp rank. */
struct emu_head {
    void *table, *dtable;        /* dtable may be the embedding's where tied */
    uint64_t first, rows, width; /* vocabulary rows held, unpadded */
    enum emu_loss_kind loss;
    /* Tied table: how many terms the embedding adds at most to one element of it in a step, over
     * all ranks (the largest count of one byte among the ids; their number is safe). Widens the
     * bounds of bounded kinds, plain kinds ignore it. */
    uint64_t shared_terms;
    /* With sequence_parallel: emu_rows_room(nn, rows, width) elements, where forward leaves the
     * gathered stream for the backward of the same microbatch, which uses the room up. May be
     * nn->whole where no other layer runs between the two. */
    void *whole;
};
EMU_MUST_CHECK enum emu_status emu_head_forward(const struct emu_nn *nn,
                                                const struct emu_head *layer, const void *stream,
                                                const struct emu_targets *targets, void *logits,
                                                void *loss, void *scratch);
/* dstream is written, summed over tp. */
EMU_MUST_CHECK enum emu_status emu_head_backward(const struct emu_nn *nn,
                                                 const struct emu_head *layer, const void *stream,
                                                 const void *dlogits, uint64_t rows, void *dstream);

static inline uint64_t emu_head_scratch(uint64_t rows)
{
    return emu_rows_elements(rows, 3, 0);
}

#endif
