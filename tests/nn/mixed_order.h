/* The sums of the kernels in another order: terms permuted, split at random into parts, each part
 * summed by the kernel itself, and the parts added in a random tree, as ranks and microbatches do.
 */
#ifndef TEST_NN_MIXED_ORDER_H
#define TEST_NN_MIXED_ORDER_H

#include "bound_cases.h"

#define MIXED(name)                                                                                \
    void mixed_##name(const struct emu_kernels *k, void *const x[], const struct dims *d,          \
                      uint64_t *random)
MIXED(nt);
MIXED(nn);
MIXED(tn);
MIXED(nt_more);
MIXED(nn_more);
MIXED(tn_more);
MIXED(add_term);
MIXED(sum_rows);
MIXED(sum);
MIXED(sum_squares);
MIXED(rms_back);
MIXED(scatter_add);
MIXED(exp_sum);
MIXED(softmax_back);
MIXED(squared);

/* The pending parts of one sum of `n` elements each. */
struct parts {
    const struct emu_kernels *k;
    uint64_t n, count;
    void *part[2 * TOKENS_MAX * TOKENS_MAX];
};
/* A further part, zero, owned by parts. */
void *parts_new(struct parts *parts);
/* Add all parts in a random tree into out, which is overwritten; frees them. */
void parts_combine(struct parts *parts, void *out, uint64_t *random);

/* copy[i] = from[place(i)]: rows (count, width), order NULL: as they are. */
void *rows_in_order(const struct emu_kernels *k, const void *from, const uint64_t *order,
                    uint64_t count, uint64_t width);
/* Length of the next part of what is left. */
uint64_t part_length(uint64_t left, uint64_t *random);

#endif
