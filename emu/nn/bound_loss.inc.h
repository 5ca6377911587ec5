/* Cross-entropy and squared loss on pairs. Template: see kernel_tables.h.
 *
 * max and sum are those of the whole row (kernel.h): so no computation has x_ij > max_i, a sum
 * holds exp(0) and is at least 1 but for roundings, and a share is at most 1 but for roundings.
 * Without these limits the bounds of a badly conditioned float step would be infinite. */
#define SUM_LEAST 0.99
#define SHARE_MOST 1.01
#include "nn/bound_ops.inc.h"

/* Column of the target among the held ones; a number >= columns where it is held elsewhere. */
static uint64_t target_column(const struct emu_targets *targets, uint64_t row)
{
    return targets->byte[row] - targets->first_column; /* wraps below the first column */
}

/* |max a - max b| <= max |a - b|; finding a maximum does not round. */
static void row_max(void *out, const void *x, uint64_t rows, uint64_t columns)
{
    for (uint64_t i = 0; i < rows && !given_up(i); i++) {
        const struct emu_bounded *in = row_in(x, i, columns);
        struct emu_bounded largest = {-INFINITY, 0.0};
        for (uint64_t j = 0; j < columns; j++) {
            largest.value = largest.value >= in[j].value ? largest.value : in[j].value;
            largest.bound = largest.bound >= in[j].bound ? largest.bound : in[j].bound;
        }
        if (columns > 0 && !isfinite(largest.value))
            largest.bound = INFINITY;
        ((struct emu_bounded *)out)[i] = largest;
    }
}

static void exp_sum(void *out, const void *x, const void *max, uint64_t rows, uint64_t columns)
{
    const double cost = gamma_of(columns);
    for (uint64_t i = 0; i < rows && !given_up(i); i++) {
        const struct emu_bounded *in = row_in(x, i, columns);
        const struct emu_bounded top = ((const struct emu_bounded *)max)[i];
        struct emu_bounded total = {0.0, 0.0};
        for (uint64_t j = 0; j < columns; j++)
            sum_extend(&total, exp_most(minus(in[j], top), 0.0), cost);
        sum_close(&total, columns);
        ((struct emu_bounded *)out)[i] = total;
    }
}

static void pick(void *out, const void *x, const struct emu_targets *targets)
{
    const struct emu_bounded *in = x;
    for (uint64_t i = 0; i < targets->rows; i++) {
        const uint64_t column = target_column(targets, i);
        ((struct emu_bounded *)out)[i] =
            column < targets->columns ? in[i * targets->columns + column] : constant(0.0);
    }
}

static void nll(void *loss, const void *sum_exp, const void *max, const void *picked,
                const struct emu_targets *targets)
{
    const struct emu_bounded *s = sum_exp, *top = max, *target = picked;
    for (uint64_t i = 0; i < targets->rows; i++)
        ((struct emu_bounded *)loss)[i] =
            targets->valid[i] ? minus(plus(log_least(s[i], SUM_LEAST), top[i]), target[i])
                              : constant(0.0);
}

static void softmax_back(void *dx, const void *x, const void *max, const void *sum_exp,
                         const struct emu_targets *targets)
{
    const uint64_t columns = targets->columns;
    for (uint64_t i = 0; i < targets->rows && !given_up(i); i++) {
        const struct emu_bounded *in = row_in(x, i, columns);
        struct emu_bounded *out = row_out(dx, i, columns);
        if (!targets->valid[i]) {
            zero(out, columns);
            continue;
        }
        const struct emu_bounded top = ((const struct emu_bounded *)max)[i];
        const struct emu_bounded s = ((const struct emu_bounded *)sum_exp)[i];
        const uint64_t target = target_column(targets, i);
        for (uint64_t j = 0; j < columns; j++)
            out[j] = within(over_least(exp_most(minus(in[j], top), 0.0), s, SUM_LEAST), SHARE_MOST);
        if (target < columns)
            out[target] = minus(out[target], constant(1.0));
    }
}

static void squared(void *loss, void *dx, const void *x, const struct emu_targets *targets)
{
    const uint64_t columns = targets->columns;
    const double cost = gamma_of(columns);
    for (uint64_t i = 0; i < targets->rows && !given_up(i); i++) {
        const struct emu_bounded *in = row_in(x, i, columns);
        struct emu_bounded *out = row_out(dx, i, columns);
        struct emu_bounded total = {0.0, 0.0};
        if (!targets->valid[i]) {
            zero(out, columns);
        } else {
            const uint64_t target = target_column(targets, i);
            for (uint64_t j = 0; j < columns; j++) {
                out[j] = j == target ? minus(in[j], constant(1.0)) : in[j];
                sum_extend(&total, times(out[j], out[j]), cost);
            }
            sum_close(&total, columns);
        }
        ((struct emu_bounded *)loss)[i] = times(constant(0.5), total);
    }
}
