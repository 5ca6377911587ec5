/* Access, additions, scaling, sums, rows of tables, on pairs. Template: see kernel_tables.h. */
#include "nn/bound_ops.inc.h"

/* Sums of squares add up over this many ranks at most (see sum_squares). */
#define SQUARES_RANKS 1024u

/* Row i. A row of no elements may lie at NULL, to which nothing may be added, not even 0. */
static const struct emu_bounded *row_in(const void *x, uint64_t i, uint64_t width)
{
    return width > 0 ? (const struct emu_bounded *)x + i * width : x;
}

static struct emu_bounded *row_out(void *x, uint64_t i, uint64_t width)
{
    return width > 0 ? (struct emu_bounded *)x + i * width : x;
}

static double get(const void *x, uint64_t index)
{
    return ((const struct emu_bounded *)x)[index].value;
}

static double bound(const void *x, uint64_t index)
{
    return ((const struct emu_bounded *)x)[index].bound;
}

static void set(void *x, uint64_t index, double value)
{
    ((struct emu_bounded *)x)[index] = constant(value);
}

static void zero(void *x, uint64_t n)
{
    struct emu_bounded *out = x;
    for (uint64_t i = 0; i < n; i++)
        out[i] = (struct emu_bounded){0.0, 0.0};
}

static bool all_finite(const void *x, uint64_t n)
{
    const struct emu_bounded *in = x;
    for (uint64_t i = 0; i < n; i++)
        if (!isfinite(in[i].value) || !isfinite(in[i].bound))
            return false;
    return true;
}

static void add(void *y, const void *x, uint64_t n)
{
    const struct emu_bounded *in = x;
    struct emu_bounded *out = y;
    for (uint64_t i = 0; i < n; i++)
        out[i] = plus(out[i], in[i]);
}

/* Any tree over the terms adds each of them at most terms - 1 times: gamma of that, of every term.
 * From two terms on that is at least u of each, so the sum of all magnitudes is at most bound/u and
 * no order overflows while that is below LARGEST (as in sum_close). A single term is not added. */
static void add_term(void *y, const void *x, uint64_t n, uint64_t terms)
{
    const struct emu_bounded *in = x;
    struct emu_bounded *out = y;
    const double cost = gamma_of(terms - 1);
    for (uint64_t i = 0; i < n; i++) {
        const REAL value = (REAL)out[i].value + (REAL)in[i].value;
        const double raised = out[i].bound + in[i].bound + cost * reach(in[i]);
        const double size = terms > 1 ? raised / UNIT : fabs((double)value) + 2.0 * raised;
        out[i] = seal(value, raised, size);
    }
}

static void add_row(void *y, const void *row, uint64_t rows, uint64_t columns)
{
    for (uint64_t i = 0; i < rows && !given_up(i); i++)
        add(row_out(y, i, columns), row, columns);
}

static void sum_rows(void *out, const void *x, uint64_t rows, uint64_t columns)
{
    const struct emu_bounded *in = x;
    struct emu_bounded *total = out;
    const double cost = gamma_of(rows + 1);
    if (rows == 0)
        return;
    for (uint64_t j = 0; j < columns; j++)
        sum_open(&total[j], rows);
    for (uint64_t i = 0; i < rows; i++)
        for (uint64_t j = 0; j < columns; j++)
            sum_extend(&total[j], in[i * columns + j], cost);
    for (uint64_t j = 0; j < columns; j++)
        sum_close(&total[j], rows);
}

static void scale(void *y, uint64_t n, double numerator, double denominator)
{
    struct emu_bounded *out = y;
    if (numerator != 1.0)
        for (uint64_t i = 0; i < n; i++)
            out[i] = times(out[i], constant(numerator));
    if (denominator != 1.0)
        for (uint64_t i = 0; i < n; i++)
            out[i] = over(out[i], constant(denominator));
}

static void scale_by(void *y, uint64_t n, const void *factor)
{
    struct emu_bounded *out = y;
    const struct emu_bounded by = *(const struct emu_bounded *)factor;
    for (uint64_t i = 0; i < n; i++)
        out[i] = times(out[i], by);
}

static void sum(void *out, const void *x, uint64_t n)
{
    sum_rows(out, x, n, 1);
}

/* Several tensors are added by several calls, in the same order on every rank, and then over ranks:
 * a square passes the additions of its own and of later calls, and those over ranks. Nothing
 * cancels among squares, so what is there already stands for its terms. */
static void sum_squares(void *out, const void *x, uint64_t n)
{
    const struct emu_bounded *in = x;
    struct emu_bounded *total = out;
    const double cost = gamma_of(n + 1 + SQUARES_RANKS);
    if (n == 0)
        return;
    sum_open(total, n);
    for (uint64_t i = 0; i < n; i++)
        sum_extend(total, times(in[i], in[i]), cost);
    sum_close(total, n);
}

/* min(1, limit/norm) lies in [0, 1]. Where every norm' is within the limit it is 1 in every
 * computation: a quotient of at least 1 does not round below 1. */
static void clip(void *factor, void *norm, const void *squares, double max_norm)
{
    const struct emu_bounded limit = constant(max_norm);
    const struct emu_bounded length = root_of(*(const struct emu_bounded *)squares);
    struct emu_bounded result = {1.0, 0.0};
    if (!(reach(length) <= limit.value)) {
        const struct emu_bounded ratio = over(limit, length);
        result.value = length.value <= limit.value ? 1.0 : ratio.value;
        result.bound = ratio.bound;
        result = within(result, 1.0);
    }
    *(struct emu_bounded *)factor = result;
    *(struct emu_bounded *)norm = length;
}

static void gather(void *out, const void *table, const uint8_t *ids, uint64_t n, uint64_t width,
                   uint64_t first, uint64_t rows)
{
    const struct emu_bounded *from = table;
    for (uint64_t i = 0; i < n; i++) {
        struct emu_bounded *row = row_out(out, i, width);
        const uint64_t place = ids[i] - first; /* wraps below `first`, then is not below rows */
        for (uint64_t j = 0; j < width; j++)
            row[j] = place < rows ? from[place * width + j] : (struct emu_bounded){0.0, 0.0};
    }
}

/* Cost of one term in a row that gets `count` of them. A row that holds something already (the
 * other use of a tied table) has terms of that use, at most `other` of them. */
static double row_open(struct emu_bounded *row, uint64_t width, uint64_t count, uint64_t other)
{
    bool empty = true;
    for (uint64_t j = 0; j < width; j++) {
        empty = empty && vanishes(row[j]);
        sum_open(&row[j], count);
    }
    return gamma_of(empty ? count : count + other);
}

static void scatter_add(void *table, const void *dout, const uint8_t *ids, uint64_t n,
                        uint64_t width, uint64_t first, uint64_t rows)
{
    const struct emu_bounded *in = dout;
    struct emu_bounded *out = table;
    uint64_t count[256] = {0};
    double cost[256];
    for (uint64_t i = 0; i < n; i++)
        count[ids[i]]++;
    for (uint64_t id = 0; id < 256; id++)
        if (count[id] > 0 && id - first < rows)
            cost[id] = row_open(row_out(out, id - first, width), width, count[id], n);
    for (uint64_t i = 0; i < n; i++)
        for (uint64_t j = 0; ids[i] - first < rows && j < width; j++)
            sum_extend(&out[(ids[i] - first) * width + j], in[i * width + j], cost[ids[i]]);
    for (uint64_t id = 0; id < 256; id++)
        for (uint64_t j = 0; count[id] > 0 && id - first < rows && j < width; j++)
            sum_close(&out[(id - first) * width + j], count[id]);
}
