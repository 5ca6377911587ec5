/* Which rows of the residual stream does a tp rank hold, and how do slices and the whole meet?
 *
 * The stream of a microbatch has `rows` rows, one a token. Without sequence parallelism every tp
 * rank holds them all. With it (V. Korthikanti et al., Reducing Activation Recomputation in Large
 * Transformer Models, 2022, section 4.2) rank i of t holds slice i by the chunk rule: at most
 * c = ceil(rows/t) rows in order, later ranks fewer or none. Norms, residual additions and the bias
 * after a row-parallel product then work on slices alone. The operators that join a slice to the
 * products between are conjugate: the backward pass of all_gather is reduce_scatter, and the other
 * way round. Together they move the bytes of the all_reduce they replace, and each is folded in the
 * order of group ranks as well, so the values have the same bits.
 *
 * Collectives split elements, not rows. A buffer of whole rows therefore has t * c of them, so that
 * every slice is c whole rows and begins where the chunk rule begins it; the rows behind the last
 * token are zeros, and no kernel reads them.
 *
 *   rows 5, t 3, c 2     rank 0    rank 1    rank 2
 *   slice                0 1       2 3       4
 *   whole buffer         0 1 | 2 3 | 4 -     on every rank, "-" is zeros
 */
#ifndef EMU_NN_ROW_SLICES_H
#define EMU_NN_ROW_SLICES_H

#include "base/checked.h"
#include "nn/kernel.h"

#include <meshemu/comm.h>

struct emu_nn {
    const struct emu_kernels *kernels;
    struct emu_rank *rank;
    uint32_t tp_group; /* EMU_GROUP_SELF where there is no tp axis */
    enum emu_activation activation;
    enum emu_norm_kind norm; /* rms or none */

    /* The rest is read only where sequence_parallel is set. A mesh of one sets it too, to have the
     * bounds of the mesh it stands for. */
    bool sequence_parallel;
    uint32_t tp_size, tp_index; /* of tp_group; 1 and 0 for EMU_GROUP_SELF */
    /* Bounded kinds: how many terms a row's part of a norm's or a bias's gradient meets at most in
     * its whole sum, beside the rows of its own microbatch (the sources of the step, and the ranks
     * of tp). Each rank sums its slices of all sources before tp is summed, where a mesh of one has
     * source after source. */
    uint64_t slice_terms;
    /* Scratch of every function of layer.h, which leaves nothing there that another one needs:
     * emu_rows_room elements of the widest stream (embedding's window, and embed). */
    void *whole;
};

/* Rows of the stream that this rank holds, of a microbatch of `rows`. */
static inline struct emu_slice emu_rows_slice(const struct emu_nn *nn, uint64_t rows)
{
    return nn->sequence_parallel ? emu_slice_chunk(rows, nn->tp_size, nn->tp_index)
                                 : (struct emu_slice){0, rows};
}

/* Rows to make room for where a slice is kept: what a rank holds at most of any microbatch of up to
 * `rows`. A rank's own slice may grow where the microbatch shrinks (rank 2 of 3: of 4 rows none, of
 * 3 rows one). */
static inline uint64_t emu_rows_most(const struct emu_nn *nn, uint64_t rows)
{
    return nn->sequence_parallel ? emu_slice_chunk(rows, nn->tp_size, 0).count : rows;
}

/* Rows of a buffer that holds all slices, rounded up to a multiple of tp. */
static inline uint64_t emu_rows_whole(const struct emu_nn *nn, uint64_t rows)
{
    return nn->sequence_parallel ? emu_rows_most(nn, rows) * nn->tp_size : rows;
}

/* rows * columns + more; UINT64_MAX, for which there is never room, where that does not fit. */
static inline uint64_t emu_rows_elements(uint64_t rows, uint64_t columns, uint64_t more)
{
    uint64_t elements;
    return emu_mul_fits(rows, columns, &elements) && emu_add_fits(elements, more, &elements)
               ? elements
               : UINT64_MAX;
}

/* Elements of a buffer of whole rows that only sequence parallelism has; 0 without it. */
static inline uint64_t emu_rows_room(const struct emu_nn *nn, uint64_t rows, uint64_t width)
{
    return nn->sequence_parallel ? emu_rows_elements(emu_rows_whole(nn, rows), width, 0) : 0;
}

/* x (n) summed over the tp group, or the largest of each element, in place; `label` names the call
 * in reports. */
EMU_MUST_CHECK enum emu_status emu_tp_sum(const struct emu_nn *nn, void *x, uint64_t n,
                                          const char *label);
EMU_MUST_CHECK enum emu_status emu_tp_max(const struct emu_nn *nn, void *x, uint64_t n,
                                          const char *label);

/* Sequence parallelism only. whole (emu_rows_whole(rows), width): this rank's slice lies at the
 * start; afterwards every rank has all rows, and zeros behind them. */
EMU_MUST_CHECK enum emu_status emu_rows_gather(const struct emu_nn *nn, void *whole, uint64_t rows,
                                               uint64_t width, const char *label);

/* Sequence parallelism only. whole (emu_rows_whole(rows), width): this rank's pending part of all
 * `rows`; afterwards the sum over tp of this rank's slice lies at the start, and the rest is
 * undefined. */
EMU_MUST_CHECK enum emu_status emu_rows_scatter(const struct emu_nn *nn, void *whole, uint64_t rows,
                                                uint64_t width, const char *label);

/* The element `index` of x, which may be NULL where index is 0. */
static inline void *emu_rows_at(const struct emu_nn *nn, const void *x, uint64_t index)
{
    unsigned char *bytes = (unsigned char *)(uintptr_t)x;
    return index > 0 ? bytes + index * nn->kernels->bytes : bytes;
}

/* to (n) = from (n), bits and bounds; no overlap. */
void emu_rows_copy(const struct emu_nn *nn, void *to, const void *from, uint64_t n);

#endif
