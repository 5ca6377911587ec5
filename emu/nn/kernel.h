/* What arithmetic does a layer do, and in which order?
 *
 * One vtable for each kind of number; layers never look inside a buffer. All matrices are dense,
 * row-major. Every sum runs in index order into one accumulator, so that a slice of a result has
 * the same bits as that slice of the whole. No kernel allocates, fails or reads a clock. Buffers of
 * one call do not overlap unless said so.
 *
 * f64, f32   plain numbers.
 * bound64, bound32   pairs (value, bound). The value has the bits that the plain kernel computes;
 * the bound satisfies |x - X| <= bound for the exact real result X of the inputs, whatever the
 * order in which a computation of the same formula adds its terms (running error analysis: N.
 * Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed., sections 3.1 and 3.3; gamma_n =
 * n*u/(1-n*u)). Any two computed values of one formula therefore differ by at most twice the bound.
 * README.md derives the bounds.
 */
#ifndef EMU_NN_KERNEL_H
#define EMU_NN_KERNEL_H

#include "base/bounded.h"
#include "base/cpu_variant.h"
#include "config/config.h"

#include <meshemu/comm.h>

#include <stdbool.h>
#include <stdint.h>

struct emu_matmul {
    const void *a, *b;
    void *c;
    uint64_t m, n, k;
    bool accumulate; /* c += instead of c = : c takes part as the first term of the sum */
    /* Bounded kinds: terms of the whole sum, where other calls add to c too and other computations
     * may add the terms of all these calls in any order (a tied table). 0: k, and c is one more. */
    uint64_t terms;
};

/* One byte a token: its target byte; valid: 0 masked, else 1. */
struct emu_targets {
    const uint8_t *byte;
    const uint8_t *valid;
    uint64_t rows;
    uint64_t first_column, columns; /* of the vocabulary, held here (unpadded) */
};

struct emu_adamw {
    double lr, beta1, beta2, epsilon, weight_decay;
    uint64_t step; /* 1 for the first update: bias correction 1 - beta^step */
};

struct emu_kernels {
    const char *name;
    enum emu_dtype dtype;
    uint64_t bytes; /* of one element */

    /* Elements one by one: value, bound (0 for plain kinds), set to a value that is exact from
     * here. */
    double (*get)(const void *x, uint64_t index);
    double (*bound)(const void *x, uint64_t index);
    void (*set)(void *x, uint64_t index, double value);
    void (*zero)(void *x, uint64_t n);

    void (*matmul_nt)(const struct emu_matmul *args); /* c(m,n) = a(m,k) b(n,k)^T */
    void (*matmul_nn)(const struct emu_matmul *args); /* c(m,n) = a(m,k) b(k,n)   */
    void (*matmul_tn)(const struct emu_matmul *args); /* c(m,n) = a(k,m)^T b(k,n) */

    void (*add)(void *y, const void *x, uint64_t n); /* y += x */
    /* y += x, where x is one of `terms` terms that others may add in any order, y holding the sum
     * of those before and 0 at first. Plain kinds: add. */
    void (*add_term)(void *y, const void *x, uint64_t n, uint64_t terms);
    void (*add_row)(void *y, const void *row, uint64_t rows, uint64_t columns); /* y[i] += row */
    void (*sum_rows)(void *out, const void *x, uint64_t rows,
                     uint64_t columns); /* out += sum_i x[i] */
    /* y = y * numerator / denominator, integers held exactly; a factor 1 is not multiplied. */
    void (*scale)(void *y, uint64_t n, double numerator, double denominator);
    void (*scale_by)(void *y, uint64_t n, const void *factor); /* y *= factor[0] */
    void (*sum)(void *out, const void *x, uint64_t n);         /* out[0] += sum x */
    void (*sum_squares)(void *out, const void *x, uint64_t n); /* out[0] += sum x^2 */
    /* factor[0] = min(1, max_norm / sqrt(squares[0])); 1 where squares is 0; norm[0] =
     * sqrt(squares[0]). */
    void (*clip)(void *factor, void *norm, const void *squares, double max_norm);

    /* gelu: exact, x/2 (1 + erf(x/sqrt 2)); silu: x/(1 + exp(-x)); relu, derivative 0 at 0. */
    void (*activate)(enum emu_activation kind, void *y, const void *x, uint64_t n);
    void (*activate_back)(enum emu_activation kind, void *dx, const void *x, const void *dy,
                          uint64_t n);

    /* y = x * weight / r, r_i = sqrt(mean_j x_ij^2 + 1e-5); inverse (rows) keeps 1/r.
     * RMSNorm: B. Zhang, R. Sennrich, 2019. */
    void (*rms)(void *y, void *inverse, const void *x, const void *weight, uint64_t rows,
                uint64_t width);
    /* dx = ..., dweight += ... */
    void (*rms_back)(void *dx, void *dweight, const void *x, const void *weight,
                     const void *inverse, const void *dy, uint64_t rows, uint64_t width);

    /* out(n, width): row i is table row ids[i] - first where 0 <= that < rows, else zeros. */
    void (*gather)(void *out, const void *table, const uint8_t *ids, uint64_t n, uint64_t width,
                   uint64_t first, uint64_t rows);
    void (*scatter_add)(void *table, const void *dout, const uint8_t *ids, uint64_t n,
                        uint64_t width, uint64_t first, uint64_t rows);

    /* Cross-entropy over columns that lie on several ranks. logits (rows, columns).
     * row_max: out(rows), -infinity where columns is 0. exp_sum: out_i = sum_j exp(x_ij - max_i).
     * pick: out_i = x_i,target where the target's column is held here, else 0.
     * nll: loss_i = valid_i * (log(sum_i) + max_i - picked_i).
     * max, sum, picked belong to the whole row, over all ranks (bounds rely on it).
     * softmax_back: dx_ij = valid_i * (exp(x_ij - max_i)/sum_i - [j is the target]). dx may be x.
     */
    void (*row_max)(void *out, const void *x, uint64_t rows, uint64_t columns);
    void (*exp_sum)(void *out, const void *x, const void *max, uint64_t rows, uint64_t columns);
    void (*pick)(void *out, const void *x, const struct emu_targets *targets);
    void (*nll)(void *loss, const void *sum, const void *max, const void *picked,
                const struct emu_targets *targets);
    void (*softmax_back)(void *dx, const void *x, const void *max, const void *sum,
                         const struct emu_targets *targets);
    /* Squared loss over the held columns: loss_i = valid_i * sum_j (x_ij - onehot_ij)^2 / 2 and its
     * gradient dx_ij = valid_i * (x_ij - onehot_ij). dx may be x. */
    void (*squared)(void *loss, void *dx, const void *x, const struct emu_targets *targets);

    /* Updates, w and state in place. momentum: m = mu*m + g, w -= lr*m. adamw: decoupled decay
     * (I. Loshchilov, F. Hutter, 2019): w -= lr*(mhat/(sqrt(vhat)+eps) + decay*w). */
    void (*sgd)(void *w, const void *g, uint64_t n, double lr);
    void (*momentum)(void *w, void *m, const void *g, uint64_t n, double lr, double mu);
    void (*adamw)(void *w, void *m, void *v, const void *g, uint64_t n,
                  const struct emu_adamw *params);

    /* false where a value (or a bound) is NaN or infinite. */
    bool (*finite)(const void *x, uint64_t n);
};

/* The kernels of a dtype: F64, F32, BOUND64, BOUND32; NULL for others. */
const struct emu_kernels *emu_kernels_of(enum emu_dtype dtype);

/* Those of a variant that runs here (emu_kernels_of: of the one that the process uses). All give
 * the same bits, but for the sign and payload of a NaN. */
const struct emu_kernels *emu_kernels_for(enum emu_dtype dtype, enum emu_cpu_variant variant);

#endif
