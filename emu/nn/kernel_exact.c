#include "nn/kernel_exact.h"

#include "nn/kernel_tables.h"

#include <fenv.h>
#include <stdio.h>

static _Thread_local bool watching;
static _Thread_local struct emu_rounding seen;

void emu_rounding_begin(void)
{
    seen = (struct emu_rounding){0};
    watching = true;
    feclearexcept(FE_INEXACT);
}

struct emu_rounding emu_rounding_end(void)
{
    watching = false;
    return seen;
}

void emu_rounding_at(const char *where)
{
    if (watching && !seen.rounded)
        snprintf(seen.where, sizeof seen.where, "%s", where);
}

void emu_rounding_look(const char *what)
{
    if (!watching || seen.rounded || !fetestexcept(FE_INEXACT))
        return;
    seen.rounded = true;
    snprintf(seen.kernel, sizeof seen.kernel, "%s", what);
}

#define F64 emu_kernels_of(EMU_F64)

/* A kernel without a result, and the look behind it. */
#define WATCHED(name, parameters, arguments)                                                       \
    static void name parameters                                                                    \
    {                                                                                              \
        F64->name arguments;                                                                       \
        emu_rounding_look(#name);                                                                  \
    }

WATCHED(matmul_nt, (const struct emu_matmul *args), (args))
WATCHED(matmul_nn, (const struct emu_matmul *args), (args))
WATCHED(matmul_tn, (const struct emu_matmul *args), (args))
WATCHED(add, (void *y, const void *x, uint64_t n), (y, x, n))
WATCHED(add_term, (void *y, const void *x, uint64_t n, uint64_t terms), (y, x, n, terms))
WATCHED(add_row, (void *y, const void *row, uint64_t rows, uint64_t columns),
        (y, row, rows, columns))
WATCHED(sum_rows, (void *out, const void *x, uint64_t rows, uint64_t columns),
        (out, x, rows, columns))
WATCHED(scale, (void *y, uint64_t n, double numerator, double denominator),
        (y, n, numerator, denominator))
WATCHED(scale_by, (void *y, uint64_t n, const void *factor), (y, n, factor))
WATCHED(sum, (void *out, const void *x, uint64_t n), (out, x, n))
WATCHED(sum_squares, (void *out, const void *x, uint64_t n), (out, x, n))
WATCHED(clip, (void *factor, void *norm, const void *squares, double max_norm),
        (factor, norm, squares, max_norm))
WATCHED(activate, (enum emu_activation kind, void *y, const void *x, uint64_t n), (kind, y, x, n))
WATCHED(activate_back,
        (enum emu_activation kind, void *dx, const void *x, const void *dy, uint64_t n),
        (kind, dx, x, dy, n))
WATCHED(rms,
        (void *y, void *inverse, const void *x, const void *weight, uint64_t rows, uint64_t width),
        (y, inverse, x, weight, rows, width))
WATCHED(rms_back,
        (void *dx, void *dweight, const void *x, const void *weight, const void *inverse,
         const void *dy, uint64_t rows, uint64_t width),
        (dx, dweight, x, weight, inverse, dy, rows, width))
WATCHED(scatter_add,
        (void *table, const void *dout, const uint8_t *ids, uint64_t n, uint64_t width,
         uint64_t first, uint64_t rows),
        (table, dout, ids, n, width, first, rows))
WATCHED(exp_sum, (void *out, const void *x, const void *max, uint64_t rows, uint64_t columns),
        (out, x, max, rows, columns))
WATCHED(nll,
        (void *loss, const void *sums, const void *max, const void *picked,
         const struct emu_targets *targets),
        (loss, sums, max, picked, targets))
WATCHED(softmax_back,
        (void *dx, const void *x, const void *max, const void *sums,
         const struct emu_targets *targets),
        (dx, x, max, sums, targets))
WATCHED(squared, (void *loss, void *dx, const void *x, const struct emu_targets *targets),
        (loss, dx, x, targets))

/* The rest compares and copies, or runs after the watch has ended (updates). */
const struct emu_kernels *emu_kernels_exact(void)
{
    static _Thread_local struct emu_kernels table;
    table = *F64;
    table.name = "exact";
    table.matmul_nt = matmul_nt;
    table.matmul_nn = matmul_nn;
    table.matmul_tn = matmul_tn;
    table.add = add;
    table.add_term = add_term;
    table.add_row = add_row;
    table.sum_rows = sum_rows;
    table.scale = scale;
    table.scale_by = scale_by;
    table.sum = sum;
    table.sum_squares = sum_squares;
    table.clip = clip;
    table.activate = activate;
    table.activate_back = activate_back;
    table.rms = rms;
    table.rms_back = rms_back;
    table.scatter_add = scatter_add;
    table.exp_sum = exp_sum;
    table.nll = nll;
    table.softmax_back = softmax_back;
    table.squared = squared;
    return &table;
}
