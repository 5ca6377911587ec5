#include "nn/row_slices.h"

#include <string.h>

static struct emu_call call_over_tp(const struct emu_nn *nn, enum emu_kind kind, void *x,
                                    uint64_t n, const char *label)
{
    return (struct emu_call){.kind = kind,
                             .group = nn->tp_group,
                             .count = n,
                             .dtype = nn->kernels->dtype,
                             .op = EMU_SUM,
                             .layout = EMU_LAYOUT_EQUAL,
                             .input = x,
                             .output = x,
                             .label = label,
                             .file = __FILE__,
                             .line = __LINE__};
}

static enum emu_status combine(const struct emu_nn *nn, enum emu_kind kind, void *x, uint64_t n,
                               const char *label)
{
    const struct emu_call call = call_over_tp(nn, kind, x, n, label);
    return emu_run_call(nn->rank, &call);
}

enum emu_status emu_tp_sum(const struct emu_nn *nn, void *x, uint64_t n, const char *label)
{
    return combine(nn, EMU_ALL_REDUCE, x, n, label);
}

enum emu_status emu_tp_max(const struct emu_nn *nn, void *x, uint64_t n, const char *label)
{
    struct emu_call call = call_over_tp(nn, EMU_ALL_REDUCE, x, n, label);
    call.op = EMU_MAX;
    return emu_run_call(nn->rank, &call);
}

/* Rows `from`..`to` of x = 0. What lies behind the last token crosses tp too: it must not round,
 * trap or differ from run to run. */
static void clear_rows(const struct emu_nn *nn, void *x, const struct emu_slice *rows,
                       uint64_t width)
{
    nn->kernels->zero(emu_rows_at(nn, x, rows->start * width), rows->count * width);
}

enum emu_status emu_rows_gather(const struct emu_nn *nn, void *whole, uint64_t rows, uint64_t width,
                                const char *label)
{
    const uint64_t most = emu_rows_most(nn, rows), held = emu_rows_slice(nn, rows).count;
    clear_rows(nn, whole, &(struct emu_slice){held, most - held}, width);
    return combine(nn, EMU_ALL_GATHER, whole, most * width, label);
}

enum emu_status emu_rows_scatter(const struct emu_nn *nn, void *whole, uint64_t rows,
                                 uint64_t width, const char *label)
{
    const uint64_t all = emu_rows_whole(nn, rows);
    clear_rows(nn, whole, &(struct emu_slice){rows, all - rows}, width);
    return combine(nn, EMU_REDUCE_SCATTER, whole, all * width, label);
}

void emu_rows_copy(const struct emu_nn *nn, void *to, const void *from, uint64_t n)
{
    if (n > 0)
        memcpy(to, from, n * nn->kernels->bytes);
}
