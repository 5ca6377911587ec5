/* Matrix products of pairs. Template: see kernel_tables.h; README.md derives the bound:
 *
 *   sum over p of  da B + A db + gamma_D A B,  plus 4 k TINY
 *
 * with da, db the bounds and A, B the reaches of a and b at p, D the terms of the whole sum. The
 * values are those of the plain kernel: the same products in the same order.
 */
#include "nn/bound_ops.inc.h"
#include "nn/lanes.h"

#define STRIP 16u /* columns at once */
#define DEPTH 32u /* rows of a tile */
#define VALUE_COUNT ((unsigned)(LANE_BYTES / sizeof(REAL)))
#define RAW_COUNT ((unsigned)(LANE_BYTES / sizeof(double)))

/* A block of b, laid out so that one loop runs over its columns. cost = db + gamma_D B. */
struct tile {
    uint64_t depth, width;
    REAL value[DEPTH][STRIP];
    double size[DEPTH][STRIP], cost[DEPTH][STRIP];
};

/* Distance in elements from one p, and from one row or column of the product, to the next. */
struct strides {
    uint64_t term, line;
};

static void tile_fill(struct tile *tile, const struct emu_bounded *b, const struct strides *step,
                      double gamma)
{
    for (uint64_t p = 0; p < tile->depth; p++)
        for (uint64_t j = 0; j < STRIP; j++) {
            struct emu_bounded x = {0.0, 0.0};
            if (j < tile->width)
                x = b[p * step->term + j * step->line];
            tile->value[p][j] = (REAL)x.value;
            tile->size[p][j] = reach(x);
            tile->cost[p][j] = x.bound + gamma * reach(x);
        }
}

/* value += a * tile, for p = 0..depth-1 in order. */
static void add_values(const struct tile *tile, const struct emu_bounded *a, uint64_t a_term,
                       REAL value[STRIP])
{
    LANES(REAL) sums[STRIP / VALUE_COUNT], row;
#pragma GCC unroll 16
    for (unsigned l = 0; l < STRIP / VALUE_COUNT; l++)
        memcpy(&sums[l], value + l * VALUE_COUNT, LANE_BYTES);
    for (uint64_t p = 0; p < tile->depth; p++)
#pragma GCC unroll 16
        for (unsigned l = 0; l < STRIP / VALUE_COUNT; l++) {
            memcpy(&row, tile->value[p] + l * VALUE_COUNT, LANE_BYTES);
            sums[l] += (REAL)a[p * a_term].value * row;
        }
#pragma GCC unroll 16
    for (unsigned l = 0; l < STRIP / VALUE_COUNT; l++)
        memcpy(value + l * VALUE_COUNT, &sums[l], LANE_BYTES);
}

/* raw += what the products cost, likewise. */
static void add_costs(const struct tile *tile, const struct emu_bounded *a, uint64_t a_term,
                      double raw[STRIP])
{
    LANES(double) sums[STRIP / RAW_COUNT], size, cost;
#pragma GCC unroll 16
    for (unsigned l = 0; l < STRIP / RAW_COUNT; l++)
        memcpy(&sums[l], raw + l * RAW_COUNT, LANE_BYTES);
    for (uint64_t p = 0; p < tile->depth; p++) {
        const struct emu_bounded factor = a[p * a_term];
        const double reached = reach(factor);
#pragma GCC unroll 16
        for (unsigned l = 0; l < STRIP / RAW_COUNT; l++) {
            memcpy(&size, tile->size[p] + l * RAW_COUNT, LANE_BYTES);
            memcpy(&cost, tile->cost[p] + l * RAW_COUNT, LANE_BYTES);
            sums[l] += factor.bound * size + reached * cost;
        }
    }
#pragma GCC unroll 16
    for (unsigned l = 0; l < STRIP / RAW_COUNT; l++)
        memcpy(raw + l * RAW_COUNT, &sums[l], LANE_BYTES);
}

/* One row of c, `width` columns of it, takes the products of the tile. */
static void tile_apply(const struct tile *tile, const struct emu_bounded *a, uint64_t a_term,
                       struct emu_bounded *c)
{
    REAL value[STRIP] = {0};
    double raw[STRIP] = {0};
    for (uint64_t j = 0; j < tile->width; j++) {
        value[j] = (REAL)c[j].value;
        raw[j] = c[j].bound;
    }
    add_values(tile, a, a_term, value);
    add_costs(tile, a, a_term, raw);
    for (uint64_t j = 0; j < tile->width; j++)
        c[j] = (struct emu_bounded){(double)value[j], raw[j]};
}

static void product_open(const struct emu_matmul *args)
{
    struct emu_bounded *c = args->c;
    for (uint64_t i = 0; i < args->m * args->n; i++)
        if (args->accumulate)
            sum_open(&c[i], args->k);
        else
            c[i] = (struct emu_bounded){0.0, 0.0};
}

static void product_close(const struct emu_matmul *args)
{
    struct emu_bounded *c = args->c;
    for (uint64_t i = 0; i < args->m * args->n; i++) {
        c[i].bound += 4.0 * (double)args->k * TINY;
        sum_close(&c[i], args->k);
    }
}

static void product(const struct emu_matmul *args, const struct strides *a_step,
                    const struct strides *b_step)
{
    const struct emu_bounded *a = args->a, *b = args->b;
    const uint64_t terms = args->k + (args->accumulate ? 1 : 0);
    const double gamma = gamma_of(args->terms > terms ? args->terms : terms);
    struct tile tile;
    product_open(args);
    if (args->k == 0)
        return;
    for (uint64_t j = 0; j < args->n; j += STRIP)
        for (uint64_t p = 0; p < args->k; p += DEPTH) {
            tile.depth = args->k - p < DEPTH ? args->k - p : DEPTH;
            tile.width = args->n - j < STRIP ? args->n - j : STRIP;
            tile_fill(&tile, b + p * b_step->term + j * b_step->line, b_step, gamma);
            for (uint64_t i = 0; i < args->m; i++) {
                if (given_up(i))
                    return;
                tile_apply(&tile, a + p * a_step->term + i * a_step->line, a_step->term,
                           (struct emu_bounded *)args->c + i * args->n + j);
            }
        }
    product_close(args);
}

static void matmul_nt(const struct emu_matmul *args)
{
    product(args, &(struct strides){1, args->k}, &(struct strides){1, args->k});
}

static void matmul_nn(const struct emu_matmul *args)
{
    product(args, &(struct strides){1, args->k}, &(struct strides){args->n, 1});
}

static void matmul_tn(const struct emu_matmul *args)
{
    product(args, &(struct strides){args->m, 1}, &(struct strides){args->n, 1});
}
