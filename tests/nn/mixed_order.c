#include "mixed_order.h"

#include "nn_random.h"

#include <stdlib.h>
#include <string.h>

void *parts_new(struct parts *parts)
{
    void *part = calloc(parts->n + 1, parts->k->bytes);
    if (!part || parts->count == sizeof(parts->part) / sizeof(parts->part[0]))
        abort();
    return parts->part[parts->count++] = part;
}

void parts_combine(struct parts *parts, void *out, uint64_t *random)
{
    if (parts->count == 0)
        parts_new(parts);
    while (parts->count > 1) {
        const uint64_t i = draw_below(random, parts->count);
        void *taken = parts->part[i];
        parts->part[i] = parts->part[--parts->count];
        parts->k->add(parts->part[draw_below(random, parts->count)], taken, parts->n);
        free(taken);
    }
    memcpy(out, parts->part[0], parts->n * parts->k->bytes);
    free(parts->part[0]);
}

static void *at(const struct emu_kernels *k, const void *x, uint64_t element)
{
    return (unsigned char *)(uintptr_t)x + element * k->bytes;
}

void *rows_in_order(const struct emu_kernels *k, const void *from, const uint64_t *order,
                    uint64_t count, uint64_t width)
{
    unsigned char *copy = calloc(count * width + 1, k->bytes);
    if (!copy)
        abort();
    for (uint64_t i = 0; i < count; i++)
        memcpy(copy + i * width * k->bytes, at(k, from, (order ? order[i] : i) * width),
               width * k->bytes);
    return copy;
}

uint64_t part_length(uint64_t left, uint64_t *random)
{
    return 1 + draw_below(random, left);
}

/* (rows, columns) -> (columns, rows) */
static void *transposed(const struct emu_kernels *k, const void *x, uint64_t rows, uint64_t columns)
{
    unsigned char *copy = calloc(rows * columns + 1, k->bytes);
    if (!copy)
        abort();
    for (uint64_t i = 0; i < rows; i++)
        for (uint64_t j = 0; j < columns; j++)
            memcpy(copy + (j * rows + i) * k->bytes, at(k, x, i * columns + j), k->bytes);
    return copy;
}

/* a (k, m), b (k, n): every order of the k terms is a matmul_tn of permuted rows. */
static void product_tn(const struct emu_kernels *k, const void *const ab[3], void *c,
                       const struct dims *d, uint64_t *random)
{
    uint64_t order[TOKENS_MAX] = {0};
    struct parts *parts = calloc(1, sizeof(*parts));
    if (!parts)
        abort();
    parts->k = k;
    parts->n = d->m * d->n;
    if (c)
        memcpy(parts_new(parts), c, parts->n * k->bytes);
    draw_order(random, order, d->k);
    void *a = rows_in_order(k, ab[0], order, d->k, d->m);
    void *b = rows_in_order(k, ab[1], order, d->k, d->n);
    for (uint64_t first = 0; first < d->k;) {
        const uint64_t length = part_length(d->k - first, random);
        k->matmul_tn(&(struct emu_matmul){.a = at(k, a, first * d->m),
                                          .b = at(k, b, first * d->n),
                                          .c = parts_new(parts),
                                          .m = d->m,
                                          .n = d->n,
                                          .k = length});
        first += length;
    }
    void *out = calloc(parts->n + 1, k->bytes);
    if (!out)
        abort();
    parts_combine(parts, out, random);
    memcpy((void *)(uintptr_t)ab[2], out, parts->n * k->bytes);
    free(out);
    free(a);
    free(b);
    free(parts);
}

static void product(const struct emu_kernels *k, void *const x[], const struct dims *d,
                    uint64_t *random, const bool how[3])
{
    void *a = how[0] ? transposed(k, x[0], d->m, d->k) : rows_in_order(k, x[0], NULL, d->k, d->m);
    void *b = how[1] ? transposed(k, x[1], d->n, d->k) : rows_in_order(k, x[1], NULL, d->k, d->n);
    const void *const abc[3] = {a, b, x[2]};
    product_tn(k, abc, how[2] ? x[2] : NULL, d, random);
    free(a);
    free(b);
}

#define PRODUCT(name, a, b, adds)                                                                  \
    MIXED(name)                                                                                    \
    {                                                                                              \
        product(k, x, d, random, (const bool[3]){a, b, adds});                                     \
    }
PRODUCT(nt, true, true, false)
PRODUCT(nn, true, false, false)
PRODUCT(tn, false, false, false)
PRODUCT(nt_more, true, true, true)
PRODUCT(nn_more, true, false, true)
PRODUCT(tn_more, false, false, true)

/* Rows of x[1] (rows, columns), permuted and in parts, each summed by `one` into a zeroed total. */
static void over_rows(struct parts *parts, const void *x, uint64_t rows, uint64_t *random,
                      void (*one)(const struct emu_kernels *, void *, const void *, uint64_t,
                                  uint64_t))
{
    uint64_t *order = calloc(rows + 1, sizeof(*order));
    if (!order)
        abort();
    draw_order(random, order, rows);
    void *mixed = rows_in_order(parts->k, x, order, rows, parts->n);
    for (uint64_t first = 0; first < rows;) {
        const uint64_t length = part_length(rows - first, random);
        one(parts->k, parts_new(parts), at(parts->k, mixed, first * parts->n), length, parts->n);
        first += length;
    }
    free(mixed);
    free(order);
}

static void by_sum_rows(const struct emu_kernels *k, void *out, const void *x, uint64_t rows,
                        uint64_t columns)
{
    k->sum_rows(out, x, rows, columns);
}

static void by_squares(const struct emu_kernels *k, void *out, const void *x, uint64_t rows,
                       uint64_t columns)
{
    k->sum_squares(out, x, rows * columns);
}

static void mix_rows(const struct emu_kernels *k, void *const x[], uint64_t rows, uint64_t columns,
                     uint64_t *random)
{
    struct parts *parts = calloc(1, sizeof(*parts));
    if (!parts)
        abort();
    parts->k = k;
    parts->n = columns;
    memcpy(parts_new(parts), x[0], columns * k->bytes);
    over_rows(parts, x[1], rows, random, by_sum_rows);
    parts_combine(parts, x[0], random);
    free(parts);
}

MIXED(sum_rows)
{
    mix_rows(k, x, d->m, d->n, random);
}

MIXED(add_term)
{
    k->zero(x[0], d->n);
    mix_rows(k, x, d->m, d->n, random);
}

MIXED(sum)
{
    mix_rows(k, x, d->m * d->n, 1, random);
}

MIXED(sum_squares)
{
    struct parts *parts = calloc(1, sizeof(*parts));
    if (!parts)
        abort();
    parts->k = k;
    parts->n = 1;
    memcpy(parts_new(parts), x[0], k->bytes);
    over_rows(parts, x[1], d->m * d->n, random, by_squares);
    parts_combine(parts, x[0], random);
    free(parts);
}

MIXED(rms_back)
{
    uint64_t order[TOKENS_MAX] = {0};
    struct parts *parts = calloc(1, sizeof(*parts));
    if (!parts)
        abort();
    parts->k = k;
    parts->n = d->n;
    k->rms(x[0], x[4], x[2], x[3], d->m, d->n);
    memcpy(parts_new(parts), x[1], d->n * k->bytes);
    draw_order(random, order, d->m);
    for (uint64_t i = 0; i < d->m; i++) {
        const uint64_t row = order[i];
        k->rms_back(at(k, x[0], row * d->n), parts_new(parts), at(k, x[2], row * d->n), x[3],
                    at(k, x[4], row), at(k, x[5], row * d->n), 1, d->n);
    }
    parts_combine(parts, x[1], random);
    free(parts);
}

MIXED(scatter_add)
{
    uint64_t order[TOKENS_MAX] = {0};
    uint8_t ids[TOKENS_MAX] = {0};
    struct parts *parts = calloc(1, sizeof(*parts));
    if (!parts)
        abort();
    parts->k = k;
    parts->n = d->n * d->k;
    memcpy(parts_new(parts), x[1], parts->n * k->bytes);
    draw_order(random, order, d->m);
    void *mixed = rows_in_order(k, x[0], order, d->m, d->n);
    for (uint64_t i = 0; i < d->m; i++)
        ids[i] = d->ids[order[i]];
    for (uint64_t first = 0; first < d->m;) {
        const uint64_t length = part_length(d->m - first, random);
        k->scatter_add(parts_new(parts), at(k, mixed, first * d->n), ids + first, length, d->n, 1,
                       d->k);
        first += length;
    }
    parts_combine(parts, x[1], random);
    free(mixed);
    free(parts);
}

/* Columns first..first+length of x (rows, columns). */
static void *columns_of(const struct emu_kernels *k, const void *x, const struct dims *d,
                        uint64_t first, uint64_t length)
{
    unsigned char *copy = calloc(d->m * length + 1, k->bytes);
    if (!copy)
        abort();
    for (uint64_t i = 0; i < d->m; i++)
        memcpy(copy + i * length * k->bytes, at(k, x, i * d->n + first), length * k->bytes);
    return copy;
}

MIXED(exp_sum)
{
    struct parts *parts = calloc(1, sizeof(*parts));
    if (!parts)
        abort();
    parts->k = k;
    parts->n = d->m;
    k->row_max(x[2], x[1], d->m, d->n);
    for (uint64_t first = 0; first < d->n;) {
        const uint64_t length = part_length(d->n - first, random);
        void *chunk = columns_of(k, x[1], d, first, length);
        k->exp_sum(parts_new(parts), chunk, x[2], d->m, length);
        free(chunk);
        first += length;
    }
    parts_combine(parts, x[0], random);
    free(parts);
}

MIXED(softmax_back)
{
    const struct emu_targets targets = targets_of(d);
    mixed_exp_sum(k, (void *[]){x[3], x[1], x[2]}, d, random);
    k->softmax_back(x[0], x[1], x[2], x[3], &targets);
}

MIXED(squared)
{
    struct parts *parts = calloc(1, sizeof(*parts));
    if (!parts)
        abort();
    parts->k = k;
    parts->n = d->m;
    struct emu_targets targets = targets_of(d);
    k->squared(x[0], x[1], x[2], &targets); /* the gradient is not a sum */
    for (uint64_t first = 0; first < d->n;) {
        const uint64_t length = part_length(d->n - first, random);
        void *chunk = columns_of(k, x[2], d, first, length);
        targets.first_column = 1 + first;
        targets.columns = length;
        k->squared(parts_new(parts), chunk, chunk, &targets);
        free(chunk);
        first += length;
    }
    parts_combine(parts, x[0], random);
    free(parts);
}
