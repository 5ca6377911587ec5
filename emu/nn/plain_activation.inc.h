/* GELU, SiLU and ReLU with their derivatives. Template: see kernel_tables.h. */

static REAL gelu(REAL x)
{
    const REAL twice_cdf = (REAL)1 + erf(x * (REAL)EMU_HALF_SQRT2);
    return (REAL)0.5 * x * twice_cdf;
}

/* cdf(x) + x * density(x) of the normal distribution */
static REAL gelu_slope(REAL x)
{
    const REAL twice_cdf = (REAL)1 + erf(x * (REAL)EMU_HALF_SQRT2);
    const REAL density = exp((REAL)-0.5 * x * x) * (REAL)EMU_NORMAL_DENSITY0;
    return (REAL)0.5 * twice_cdf + x * density;
}

static REAL logistic(REAL x)
{
    return (REAL)1 / ((REAL)1 + exp(-x));
}

static REAL silu_slope(REAL x)
{
    const REAL s = logistic(x);
    return s * ((REAL)1 + x * ((REAL)1 - s));
}

static void activate(enum emu_activation kind, void *y, const void *x, uint64_t n)
{
    const REAL *in = x;
    REAL *out = y;
    if (kind == EMU_GELU)
        for (uint64_t i = 0; i < n; i++)
            out[i] = gelu(in[i]);
    else if (kind == EMU_SILU)
        for (uint64_t i = 0; i < n; i++)
            out[i] = in[i] * logistic(in[i]);
    else
        for (uint64_t i = 0; i < n; i++) /* a NaN stays one */
            out[i] = in[i] <= 0 ? (REAL)0 : in[i];
}

static void activate_back(enum emu_activation kind, void *dx, const void *x, const void *dy,
                          uint64_t n)
{
    const REAL *in = x, *up = dy;
    REAL *out = dx;
    if (kind == EMU_GELU)
        for (uint64_t i = 0; i < n; i++)
            out[i] = up[i] * gelu_slope(in[i]);
    else if (kind == EMU_SILU)
        for (uint64_t i = 0; i < n; i++)
            out[i] = up[i] * silu_slope(in[i]);
    else
        for (uint64_t i = 0; i < n; i++)
            out[i] = in[i] <= 0 ? (REAL)0 : up[i];
}
