/* Matrix products. Template: see kernel_tables.h.
 *
 * Each element of c has one accumulator, and its products are added in index order, wherever the
 * element lies in a block: so a slice of c is computed with the bits of the whole. Speed comes from
 * running over STRIP columns at once, never from splitting a sum.
 */
#define STRIP 16u /* columns at once */
#define DEPTH 64u /* rows of a transposed tile */

/* Rows of b that take part, elements from one to the next, and columns (at most STRIP). */
struct panel {
    uint64_t depth, row, width;
};

/* sums[j] += a[i*a_step] * b[i*row + j] for i = 0..depth-1 in order. */
static void strip_full(REAL *restrict sums, const REAL *a, uint64_t a_step, const REAL *b,
                       const struct panel *panel)
{
    REAL local[STRIP];
    memcpy(local, sums, sizeof(local));
    for (uint64_t i = 0; i < panel->depth; i++) {
        const REAL factor = a[i * a_step];
        const REAL *row = b + i * panel->row;
        for (unsigned j = 0; j < STRIP; j++)
            local[j] += factor * row[j];
    }
    memcpy(sums, local, sizeof(local));
}

static void strip_part(REAL *restrict sums, const REAL *a, uint64_t a_step, const REAL *b,
                       const struct panel *panel)
{
    for (uint64_t i = 0; i < panel->depth; i++) {
        const REAL factor = a[i * a_step];
        const REAL *row = b + i * panel->row;
        for (uint64_t j = 0; j < panel->width; j++)
            sums[j] += factor * row[j];
    }
}

static void strip(REAL *restrict sums, const REAL *a, uint64_t a_step, const REAL *b,
                  const struct panel *panel)
{
    if (panel->width == STRIP)
        strip_full(sums, a, a_step, b, panel);
    else
        strip_part(sums, a, a_step, b, panel);
}

static uint64_t strip_width(uint64_t n, uint64_t first)
{
    return n - first < STRIP ? n - first : STRIP;
}

static void start_sums(const struct emu_matmul *args)
{
    const uint64_t count = args->m * args->n;
    if (!args->accumulate && count > 0)
        memset(args->c, 0, count * sizeof(REAL));
}

/* b lies in rows of c's columns: a element (i, p) is a[i*a_row + p*a_step]. */
static void matmul_strips(const struct emu_matmul *args, uint64_t a_row, uint64_t a_step)
{
    const REAL *a = args->a, *b = args->b;
    REAL *c = args->c;
    start_sums(args);
    if (args->k == 0)
        return;
    for (uint64_t j = 0; j < args->n; j += STRIP) {
        const struct panel panel = {args->k, args->n, strip_width(args->n, j)};
        for (uint64_t i = 0; i < args->m; i++)
            strip(c + i * args->n + j, a + i * a_row, a_step, b + j, &panel);
    }
}

static void matmul_nn(const struct emu_matmul *args)
{
    matmul_strips(args, args->k, 1);
}

static void matmul_tn(const struct emu_matmul *args)
{
    matmul_strips(args, 1, args->m);
}

/* tile[p][j] = b[j][p] for the columns p of one block of b. */
static void transpose_tile(REAL tile[DEPTH][STRIP], const REAL *b, uint64_t b_row,
                           const struct panel *panel)
{
    for (uint64_t j = 0; j < panel->width; j++)
        for (uint64_t p = 0; p < panel->depth; p++)
            tile[p][j] = b[j * b_row + p];
}

static void matmul_nt(const struct emu_matmul *args)
{
    const REAL *a = args->a, *b = args->b;
    REAL *c = args->c;
    REAL tile[DEPTH][STRIP];
    start_sums(args);
    for (uint64_t j = 0; j < args->n; j += STRIP)
        for (uint64_t p = 0; p < args->k; p += DEPTH) {
            const uint64_t left = args->k - p;
            const struct panel panel = {left < DEPTH ? left : DEPTH, STRIP,
                                        strip_width(args->n, j)};
            transpose_tile(tile, b + j * args->k + p, args->k, &panel);
            for (uint64_t i = 0; i < args->m; i++)
                strip(c + i * args->n + j, a + i * args->k + p, 1, tile[0], &panel);
        }
}
