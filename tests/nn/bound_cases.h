/* Every kernel once or more, as a function of up to six buffers, so that one harness can run it on
 * plain, bounded and quadruple-precision numbers. */
#ifndef TEST_NN_BOUND_CASES_H
#define TEST_NN_BOUND_CASES_H

#include "nn/kernel.h"

#include <stddef.h>

enum { BUFFERS_MAX = 6, TOKENS_MAX = 64 };

struct dims {
    uint64_t m, n, k;
    uint8_t ids[TOKENS_MAX];   /* m of them, below 2k */
    uint8_t valid[TOKENS_MAX]; /* m of them */
};

enum extent { NONE, MN, MK, NK, M, N, K, ONE };
enum sign { ANY, APART, NOT_NEGATIVE }; /* APART: at least 1 */

struct buffer {
    enum extent extent;
    enum sign sign;
};

struct bound_case {
    const char *name;
    struct buffer buffers[BUFFERS_MAX];
    void (*run)(const struct emu_kernels *k, void *const x[], const struct dims *d);
    /* The same sums with the terms in random order, split at random, parts added in a random tree;
     * plain kinds only; NULL: the kernel adds nothing that others may add in another order. */
    void (*run_mixed)(const struct emu_kernels *k, void *const x[], const struct dims *d,
                      uint64_t *random);
};

extern const struct bound_case bound_cases[];
extern const size_t bound_case_count;

uint64_t extent_of(enum extent extent, const struct dims *d);
struct emu_targets targets_of(const struct dims *d);

#endif
