/* RMSNorm on pairs: the formulas of plain_norm.inc.h. Template: see kernel_tables.h. */
#include "nn/bound_ops.inc.h"

/* sqrt(mean + epsilon) is at least this in every computation, its inverse at most that. */
#define RMS_LEAST 3.1e-3
#define RMS_INVERSE_MOST 323.0

/* x_j/r: |x_j| <= sqrt(width) r, so it lies in an interval of twice that (and some roundings). */
static struct emu_bounded normed(struct emu_bounded x, struct emu_bounded inv, uint64_t width)
{
    return within(times(x, inv), 2.02 * sqrt((double)width));
}

static void rms(void *y, void *inverse, const void *x, const void *weight, uint64_t rows,
                uint64_t width)
{
    const struct emu_bounded *w = weight;
    const double cost = gamma_of(width);
    for (uint64_t i = 0; i < rows && !given_up(i); i++) {
        const struct emu_bounded *in = row_in(x, i, width);
        struct emu_bounded *out = row_out(y, i, width);
        struct emu_bounded squares = {0.0, 0.0};
        for (uint64_t j = 0; j < width; j++)
            sum_extend(&squares, times(in[j], in[j]), cost);
        sum_close(&squares, width);
        const struct emu_bounded mean =
            plus(over(squares, constant((double)width)), constant(EMU_RMS_EPSILON));
        const struct emu_bounded inv =
            within(over_least(constant(1.0), root_of(mean), RMS_LEAST), RMS_INVERSE_MOST);
        for (uint64_t j = 0; j < width; j++)
            out[j] = times(normed(in[j], inv, width), w[j]);
        ((struct emu_bounded *)inverse)[i] = inv;
    }
}

/* One row: dx, and its part of dweight, which is an open sum. */
static void rms_back_row(struct emu_bounded *out, struct emu_bounded *dw,
                         const struct emu_bounded *const rows[3], struct emu_bounded inv,
                         const double costs[2], uint64_t width)
{
    const struct emu_bounded *in = rows[0], *w = rows[1], *up = rows[2];
    struct emu_bounded dot = {0.0, 0.0};
    for (uint64_t j = 0; j < width; j++)
        sum_extend(&dot, times(times(up[j], w[j]), normed(in[j], inv, width)), costs[0]);
    sum_close(&dot, width);
    const struct emu_bounded mean = over(dot, constant((double)width));
    for (uint64_t j = 0; j < width; j++) {
        const struct emu_bounded h = normed(in[j], inv, width);
        out[j] = times(minus(times(up[j], w[j]), times(h, mean)), inv);
        sum_extend(&dw[j], times(up[j], h), costs[1]);
    }
}

static void rms_back(void *dx, void *dweight, const void *x, const void *weight,
                     const void *inverse, const void *dy, uint64_t rows, uint64_t width)
{
    const double costs[2] = {gamma_of(width), gamma_of(rows + 1)};
    struct emu_bounded *dw = dweight;
    if (rows == 0)
        return;
    for (uint64_t j = 0; j < width; j++)
        sum_open(&dw[j], rows);
    for (uint64_t i = 0; i < rows && !given_up(i); i++) {
        const struct emu_bounded *const row[3] = {row_in(x, i, width), weight,
                                                  row_in(dy, i, width)};
        rms_back_row(row_out(dx, i, width), dw, row, ((const struct emu_bounded *)inverse)[i],
                     costs, width);
    }
    for (uint64_t j = 0; j < width; j++)
        sum_close(&dw[j], rows);
}
