#include "bench/bench_rows.h"

#include "comm/fold.h"
#include "seg/kinds.h"

const char *emu_bench_obstacle(const struct emu_bench_request *request, enum emu_kind op)
{
    if (op == EMU_SEND && request->in_place)
        return "has no form in place: what comes in would overwrite what goes out";
    if (emu_kind_reduces(op) && !emu_fold_knows(request->dtype, request->reduce))
        return "is not known for this dtype and reduction: field61 knows sum alone";
    return NULL;
}

/* Walk over all sizes of all ops; rows == NULL: only count. Two sizes that round to one shape make
 * one row. */
static uint64_t plan_rows(const struct emu_bench_request *request, struct emu_bench_row *rows,
                          uint64_t *largest)
{
    uint32_t ranks = request->roster->families[request->family].group_size;
    uint64_t count = 0;
    *largest = 0;
    for (uint32_t i = 0; i < request->op_count; i++) {
        uint64_t last = UINT64_MAX;
        for (uint64_t bytes = request->range.low; bytes <= request->range.high; bytes *= 2) {
            struct emu_bench_shape shape =
                emu_bench_shape_of(request->ops[i], request->dtype, ranks, bytes);
            if (shape.bytes == last)
                continue;
            last = shape.bytes;
            *largest = last > *largest ? last : *largest;
            if (rows) {
                rows[count].op = request->ops[i];
                rows[count].shape = shape;
            }
            count++;
        }
    }
    return count;
}

enum emu_status emu_bench_create(const struct emu_bench_request *request, struct emu_bench *bench,
                                 struct emu_reason *reason)
{
    struct emu_bench made = {.request = *request};
    made.row_count = plan_rows(request, NULL, &made.buffer_bytes);
    uint64_t rows_bytes = made.row_count * sizeof *made.rows;
    uint64_t world = request->roster->mesh->world;
    enum emu_status status = emu_map_create(
        rows_bytes + sizeof(uint64_t) + sizeof *made.launch + world * sizeof(uint64_t),
        EMU_MAP_BEST, "use fewer ranks or sizes", &made.map, reason);
    if (status != EMU_OK)
        return status;
    unsigned char *base = made.map.base;
    made.rows = made.map.base;
    made.refused = (void *)(base + rows_bytes);
    made.launch = (void *)(base + rows_bytes + sizeof(uint64_t));
    made.arrivals = (void *)(base + rows_bytes + sizeof(uint64_t) + sizeof *made.launch);
    plan_rows(request, made.rows, &made.buffer_bytes);
    *bench = made;
    return EMU_OK;
}

void emu_bench_finish(struct emu_bench *bench)
{
    emu_map_destroy(&bench->map);
    *bench = (struct emu_bench){0};
}

uint64_t emu_bench_arena_bytes(const struct emu_bench *bench)
{
    const uint64_t line = 64; /* the arena's alignment */
    uint64_t buffer = (bench->buffer_bytes + line - 1) / line * line;
    uint64_t coefficients = bench->request.coefficients * sizeof(uint64_t);
    return 2 * buffer + (coefficients + line - 1) / line * line + line;
}

bool emu_bench_row_measured(const struct emu_bench_row *row)
{
    return atomic_load_explicit(&row->measured, memory_order_acquire) != 0;
}

bool emu_bench_row_correct(const struct emu_bench *bench, const struct emu_bench_row *row)
{
    uint64_t world = bench->request.roster->mesh->world;
    return emu_bench_row_measured(row) &&
           atomic_load_explicit(&row->checked, memory_order_relaxed) == 2 * world &&
           atomic_load_explicit(&row->wrong, memory_order_relaxed) == 0;
}

bool emu_bench_passed(const struct emu_bench *bench)
{
    for (uint64_t i = 0; i < bench->row_count; i++)
        if (!emu_bench_row_correct(bench, &bench->rows[i]))
            return false;
    return true;
}

struct emu_bench_figures emu_bench_row_figures(const struct emu_bench *bench,
                                               const struct emu_bench_row *row)
{
    uint32_t ranks = bench->request.roster->families[bench->request.family].group_size;
    double slowest = (double)atomic_load_explicit(&row->slowest_ns, memory_order_relaxed);
    double iterations = row->iterations ? (double)row->iterations : 1;
    double mean = slowest / iterations;
    /* A clock that stood still measured less than a nanosecond: no infinite bandwidth. */
    double rate = (double)row->shape.bytes / (mean >= 1 ? mean : 1);
    return (struct emu_bench_figures){.median_us = row->median_ns / 1e3,
                                      .p99_us = row->p99_ns / 1e3,
                                      .mean_us = mean / 1e3,
                                      .algbw = rate,
                                      .busbw = rate * emu_bench_bus_factor(row->op, ranks)};
}
