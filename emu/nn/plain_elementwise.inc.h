/* Access, additions, scaling, sums, rows of tables. Template: see kernel_tables.h. */

/* Row i. A row of no elements may lie at NULL, to which nothing may be added, not even 0. */
static const REAL *row_in(const void *x, uint64_t i, uint64_t width)
{
    return width > 0 ? (const REAL *)x + i * width : x;
}

static REAL *row_out(void *x, uint64_t i, uint64_t width)
{
    return width > 0 ? (REAL *)x + i * width : x;
}

static double get(const void *x, uint64_t index)
{
    return (double)((const REAL *)x)[index];
}

static double bound(const void *x, uint64_t index)
{
    (void)x;
    (void)index;
    return 0.0;
}

static void set(void *x, uint64_t index, double value)
{
    ((REAL *)x)[index] = (REAL)value;
}

static void zero(void *x, uint64_t n)
{
    if (n > 0)
        memset(x, 0, n * sizeof(REAL));
}

static bool all_finite(const void *x, uint64_t n)
{
    const REAL *in = x;
    for (uint64_t i = 0; i < n; i++)
        if (!isfinite(in[i]))
            return false;
    return true;
}

static void add(void *y, const void *x, uint64_t n)
{
    const REAL *in = x;
    REAL *out = y;
    for (uint64_t i = 0; i < n; i++)
        out[i] += in[i];
}

static void add_term(void *y, const void *x, uint64_t n, uint64_t terms)
{
    (void)terms; /* one order is as good as another */
    add(y, x, n);
}

static void add_row(void *y, const void *row, uint64_t rows, uint64_t columns)
{
    for (uint64_t i = 0; i < rows; i++)
        add(row_out(y, i, columns), row, columns);
}

static void sum_rows(void *out, const void *x, uint64_t rows, uint64_t columns)
{
    for (uint64_t i = 0; i < rows; i++)
        add(out, row_in(x, i, columns), columns);
}

static void scale(void *y, uint64_t n, double numerator, double denominator)
{
    REAL *out = y;
    if (numerator != 1.0)
        for (uint64_t i = 0; i < n; i++)
            out[i] *= (REAL)numerator;
    if (denominator != 1.0)
        for (uint64_t i = 0; i < n; i++)
            out[i] /= (REAL)denominator;
}

static void scale_by(void *y, uint64_t n, const void *factor)
{
    REAL *out = y;
    const REAL by = *(const REAL *)factor;
    for (uint64_t i = 0; i < n; i++)
        out[i] *= by;
}

static void sum(void *out, const void *x, uint64_t n)
{
    const REAL *in = x;
    REAL total = *(REAL *)out;
    for (uint64_t i = 0; i < n; i++)
        total += in[i];
    *(REAL *)out = total;
}

static void sum_squares(void *out, const void *x, uint64_t n)
{
    const REAL *in = x;
    REAL total = *(REAL *)out;
    for (uint64_t i = 0; i < n; i++)
        total += in[i] * in[i];
    *(REAL *)out = total;
}

static void clip(void *factor, void *norm, const void *squares, double max_norm)
{
    const REAL limit = (REAL)max_norm;
    const REAL length = sqrt(*(const REAL *)squares);
    /* written so that a NaN norm gives a NaN factor */
    *(REAL *)factor = length <= limit ? (REAL)1 : limit / length;
    *(REAL *)norm = length;
}

static void gather(void *out, const void *table, const uint8_t *ids, uint64_t n, uint64_t width,
                   uint64_t first, uint64_t rows)
{
    for (uint64_t i = 0; width > 0 && i < n; i++) {
        REAL *row = row_out(out, i, width);
        const uint64_t place = ids[i] - first; /* wraps below `first`, then is not below rows */
        if (place < rows)
            memcpy(row, (const REAL *)table + place * width, width * sizeof(REAL));
        else
            memset(row, 0, width * sizeof(REAL));
    }
}

static void scatter_add(void *table, const void *dout, const uint8_t *ids, uint64_t n,
                        uint64_t width, uint64_t first, uint64_t rows)
{
    for (uint64_t i = 0; i < n; i++) {
        const uint64_t place = ids[i] - first;
        if (place < rows)
            add(row_out(table, place, width), row_in(dout, i, width), width);
    }
}
