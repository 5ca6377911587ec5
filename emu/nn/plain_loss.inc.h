/* Cross-entropy and squared loss. Template: see kernel_tables.h. */

/* Column of the target among the held ones; a number >= columns where it is held elsewhere. */
static uint64_t target_column(const struct emu_targets *targets, uint64_t row)
{
    return targets->byte[row] - targets->first_column; /* wraps below the first column */
}

static void row_max(void *out, const void *x, uint64_t rows, uint64_t columns)
{
    for (uint64_t i = 0; i < rows; i++) {
        const REAL *in = row_in(x, i, columns);
        REAL largest = (REAL)-INFINITY;
        for (uint64_t j = 0; j < columns; j++)
            largest = largest >= in[j] ? largest : in[j]; /* a NaN shows in exp_sum */
        ((REAL *)out)[i] = largest;
    }
}

static void exp_sum(void *out, const void *x, const void *max, uint64_t rows, uint64_t columns)
{
    for (uint64_t i = 0; i < rows; i++) {
        const REAL *in = row_in(x, i, columns);
        const REAL top = ((const REAL *)max)[i];
        REAL total = 0;
        for (uint64_t j = 0; j < columns; j++)
            total += exp(in[j] - top);
        ((REAL *)out)[i] = total;
    }
}

static void pick(void *out, const void *x, const struct emu_targets *targets)
{
    for (uint64_t i = 0; i < targets->rows; i++) {
        const uint64_t column = target_column(targets, i);
        ((REAL *)out)[i] =
            column < targets->columns ? ((const REAL *)x)[i * targets->columns + column] : (REAL)0;
    }
}

static void nll(void *loss, const void *sum_exp, const void *max, const void *picked,
                const struct emu_targets *targets)
{
    const REAL *s = sum_exp, *top = max, *target = picked;
    for (uint64_t i = 0; i < targets->rows; i++)
        ((REAL *)loss)[i] = targets->valid[i] ? log(s[i]) + top[i] - target[i] : (REAL)0;
}

static void softmax_back(void *dx, const void *x, const void *max, const void *sum_exp,
                         const struct emu_targets *targets)
{
    const uint64_t columns = targets->columns;
    for (uint64_t i = 0; i < targets->rows; i++) {
        const REAL *in = row_in(x, i, columns);
        REAL *out = row_out(dx, i, columns);
        if (!targets->valid[i]) {
            zero(out, columns);
            continue;
        }
        const REAL top = ((const REAL *)max)[i], s = ((const REAL *)sum_exp)[i];
        const uint64_t target = target_column(targets, i);
        for (uint64_t j = 0; j < columns; j++)
            out[j] = exp(in[j] - top) / s;
        if (target < columns)
            out[target] -= (REAL)1;
    }
}

static void squared(void *loss, void *dx, const void *x, const struct emu_targets *targets)
{
    const uint64_t columns = targets->columns;
    for (uint64_t i = 0; i < targets->rows; i++) {
        const REAL *in = row_in(x, i, columns);
        REAL *out = row_out(dx, i, columns);
        REAL total = 0;
        if (!targets->valid[i]) {
            zero(out, columns);
        } else {
            const uint64_t target = target_column(targets, i);
            for (uint64_t j = 0; j < columns; j++) {
                out[j] = j == target ? in[j] - (REAL)1 : in[j];
                total += out[j] * out[j];
            }
        }
        ((REAL *)loss)[i] = (REAL)0.5 * total;
    }
}
