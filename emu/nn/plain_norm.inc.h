/* RMSNorm. Template: see kernel_tables.h.
 *
 * With h_j = x_j/r and g_j = dy_j w_j:  dx_j = (g_j - h_j * mean_i(g_i h_i)) / r,
 * dw_j += dy_j h_j (differentiate y_j = w_j x_j (mean x^2 + e)^(-1/2)).
 */

static void rms(void *y, void *inverse, const void *x, const void *weight, uint64_t rows,
                uint64_t width)
{
    const REAL *w = weight;
    for (uint64_t i = 0; i < rows; i++) {
        const REAL *in = row_in(x, i, width);
        REAL *out = row_out(y, i, width);
        REAL squares = 0;
        for (uint64_t j = 0; j < width; j++)
            squares += in[j] * in[j];
        const REAL mean = squares / (REAL)width + (REAL)EMU_RMS_EPSILON;
        const REAL inv = (REAL)1 / sqrt(mean);
        for (uint64_t j = 0; j < width; j++)
            out[j] = in[j] * inv * w[j];
        ((REAL *)inverse)[i] = inv;
    }
}

static void rms_back(void *dx, void *dweight, const void *x, const void *weight,
                     const void *inverse, const void *dy, uint64_t rows, uint64_t width)
{
    const REAL *w = weight;
    REAL *dw = dweight;
    for (uint64_t i = 0; i < rows; i++) {
        const REAL *in = row_in(x, i, width), *up = row_in(dy, i, width);
        REAL *out = row_out(dx, i, width);
        const REAL inv = ((const REAL *)inverse)[i];
        REAL dot = 0;
        for (uint64_t j = 0; j < width; j++)
            dot += up[j] * w[j] * (in[j] * inv);
        const REAL mean = dot / (REAL)width;
        for (uint64_t j = 0; j < width; j++) {
            const REAL h = in[j] * inv;
            out[j] = (up[j] * w[j] - h * mean) * inv;
            dw[j] += up[j] * h;
        }
    }
}
