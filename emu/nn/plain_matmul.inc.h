/* Matrix products. Template: see kernel_tables.h.
 *
 * Each element of c has one accumulator, and its products are added in index order, wherever the
 * element lies in a block: so a slice of c is computed with the bits of the whole. Speed comes from
 * a block of ROWS x STRIP sums that stay in registers, never from splitting a sum.
 */
#include "nn/lanes.h"

#define STRIP 16u /* columns at once */
#define DEPTH 64u /* rows of a tile */
#define LANE_COUNT (LANE_BYTES / sizeof(REAL))
#define STRIP_LANES ((unsigned)(STRIP * sizeof(REAL) / LANE_BYTES)) /* registers for a strip */
#define ROWS (STRIP_LANES < LANE_SUMS ? LANE_SUMS / STRIP_LANES : 1u)

/* A block of b that all rows of c take: row p holds STRIP columns from at + p*row on. */
struct panel {
    const REAL *at;
    uint64_t row, depth;
};

/* Element (i, p) of a is at[i*row + p*step]. */
struct factors {
    const REAL *at;
    uint64_t row, step;
};

/* c (rows, STRIP) += a (rows, depth) * panel, for p = 0..depth-1 in order. The loops of constant
 * length are unrolled, and then the sums are registers: hence one load or store a register. */
EMU_INLINE void block_add(REAL *c, uint64_t c_row, const struct factors *a,
                          const struct panel *panel, const unsigned rows)
{
    LANES(REAL) sums[ROWS][STRIP_LANES], row[STRIP_LANES];
#pragma GCC unroll 16
    for (unsigned i = 0; i < rows; i++)
#pragma GCC unroll 16
        for (unsigned l = 0; l < STRIP_LANES; l++)
            memcpy(&sums[i][l], c + i * c_row + l * LANE_COUNT, LANE_BYTES);
    for (uint64_t p = 0; p < panel->depth; p++) {
#pragma GCC unroll 16
        for (unsigned l = 0; l < STRIP_LANES; l++)
            memcpy(&row[l], panel->at + p * panel->row + l * LANE_COUNT, LANE_BYTES);
#pragma GCC unroll 16
        for (unsigned i = 0; i < rows; i++)
#pragma GCC unroll 16
            for (unsigned l = 0; l < STRIP_LANES; l++)
                sums[i][l] += a->at[i * a->row + p * a->step] * row[l];
    }
#pragma GCC unroll 16
    for (unsigned i = 0; i < rows; i++)
#pragma GCC unroll 16
        for (unsigned l = 0; l < STRIP_LANES; l++)
            memcpy(c + i * c_row + l * LANE_COUNT, &sums[i][l], LANE_BYTES);
}

/* One strip of c, all m rows of it. */
static void strip_add(REAL *c, uint64_t c_row, struct factors a, const struct panel *panel,
                      uint64_t m)
{
    uint64_t i = 0;
    for (; i + ROWS <= m; i += ROWS, a.at += ROWS * a.row)
        block_add(c + i * c_row, c_row, &a, panel, ROWS);
    for (; i < m; i++, a.at += a.row)
        block_add(c + i * c_row, c_row, &a, panel, 1);
}

/* A strip of fewer columns: rows of c go through a buffer of whole strips. */
static void strip_add_part(REAL *c, uint64_t c_row, struct factors a, const struct panel *panel,
                           const uint64_t m_width[2])
{
    REAL rows[ROWS][STRIP] = {{0}};
    const uint64_t m = m_width[0], width = m_width[1];
    for (uint64_t i = 0; i < m; i += ROWS, a.at += ROWS * a.row) {
        const uint64_t count = m - i < ROWS ? m - i : ROWS;
        for (uint64_t r = 0; r < count; r++)
            memcpy(rows[r], c + (i + r) * c_row, width * sizeof(REAL));
        strip_add(rows[0], STRIP, a, panel, count);
        for (uint64_t r = 0; r < count; r++)
            memcpy(c + (i + r) * c_row, rows[r], width * sizeof(REAL));
    }
}

static void start_sums(const struct emu_matmul *args)
{
    const uint64_t count = args->m * args->n;
    if (!args->accumulate && count > 0)
        memset(args->c, 0, count * sizeof(REAL));
}

/* tile[p][j] = element (p, j) of b from `at` on; columns behind the width are 0. */
static void tile_fill(REAL tile[DEPTH][STRIP], const struct factors *b, uint64_t depth,
                      uint64_t width)
{
    if (width < STRIP)
        memset(tile, 0, depth * sizeof(tile[0]));
    for (uint64_t j = 0; j < width; j++)
        for (uint64_t p = 0; p < depth; p++)
            tile[p][j] = b->at[p * b->row + j * b->step];
}

/* b: element (p, j) of the k x n factor. Strips whose rows lie in memory as a panel needs them are
 * taken from there, others are laid out in a tile. */
static void product(const struct emu_matmul *args, struct factors a, const struct factors *b)
{
    REAL tile[DEPTH][STRIP];
    start_sums(args);
    for (uint64_t j = 0; j < args->n; j += STRIP) {
        const uint64_t width = args->n - j < STRIP ? args->n - j : STRIP;
        const bool direct = b->step == 1 && width == STRIP;
        for (uint64_t p = 0; p < args->k; p += DEPTH) {
            const struct factors from = {b->at + p * b->row + j * b->step, b->row, b->step};
            const struct factors with = {a.at + p * a.step, a.row, a.step};
            const uint64_t depth = args->k - p < DEPTH ? args->k - p : DEPTH;
            const struct panel panel = {direct ? from.at : tile[0], direct ? b->row : STRIP, depth};
            REAL *c = (REAL *)args->c + j;
            if (!direct)
                tile_fill(tile, &from, depth, width);
            if (width == STRIP)
                strip_add(c, args->n, with, &panel, args->m);
            else
                strip_add_part(c, args->n, with, &panel, (uint64_t[]){args->m, width});
        }
    }
}

static void matmul_nn(const struct emu_matmul *args)
{
    product(args, (struct factors){args->a, args->k, 1}, &(struct factors){args->b, args->n, 1});
}

static void matmul_tn(const struct emu_matmul *args)
{
    product(args, (struct factors){args->a, 1, args->m}, &(struct factors){args->b, args->n, 1});
}

static void matmul_nt(const struct emu_matmul *args)
{
    product(args, (struct factors){args->a, args->k, 1}, &(struct factors){args->b, 1, args->k});
}
