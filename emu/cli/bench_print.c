#include "cli/bench_print.h"

#include "account/book_print.h"
#include "base/number.h"
#include "os/cpu.h"
#include "report/finding_json.h"
#include "report/json_writer.h"

#include <inttypes.h>

static const struct emu_family *family_of(const struct emu_bench *bench)
{
    return &bench->request.roster->families[bench->request.family];
}

static void put_row(const struct emu_bench *bench, const struct emu_bench_row *row,
                    struct emu_json *json)
{
    struct emu_bench_figures figures = emu_bench_row_figures(bench, row);
    emu_json_object_begin(json);
    emu_json_put_string(json, "op", emu_bench_op_name(row->op));
    emu_json_put_u64(json, "ranks", family_of(bench)->group_size);
    emu_json_put_u64(json, "bytes", row->shape.bytes);
    emu_json_put_u64(json, "count", row->shape.count);
    emu_json_put_u64(json, "iterations", row->iterations);
    emu_json_put_u64(json, "warmup", row->warmup);
    emu_json_put_f64(json, "median_us", figures.median_us);
    emu_json_put_f64(json, "p99_us", figures.p99_us);
    emu_json_put_f64(json, "mean_us", figures.mean_us);
    emu_json_put_f64(json, "algbw_GBps", figures.algbw);
    emu_json_put_f64(json, "busbw_GBps", figures.busbw);
    emu_json_put_bool(json, "correct", emu_bench_row_correct(bench, row));
    emu_json_object_end(json);
}

static void put_setting(const struct emu_bench *bench, struct emu_json *json)
{
    const struct emu_bench_request *request = &bench->request;
    emu_json_put_u64(json, "world", request->roster->mesh->world);
    emu_json_put_string(json, "over", family_of(bench)->name);
    emu_json_put_u64(json, "groups", family_of(bench)->group_count);
    emu_json_put_u64(json, "processors", emu_cpu_count());
    emu_json_put_string(json, "dtype", emu_dtype_name(request->dtype));
    emu_json_put_string(json, "reduce", emu_op_name(request->reduce));
    emu_json_put_bool(json, "in_place", request->in_place);
    emu_json_put_bool(json, "pinned", request->pin);
    emu_json_put_u64(json, "coefficients", request->coefficients);
    emu_json_key(json, "root"); /* null: it moves on with each call */
    if (request->root == EMU_BENCH_ROOT_MOVES)
        emu_json_null(json);
    else
        emu_json_i64(json, request->root);
    emu_json_key(json, "checks");
    emu_json_object_begin(json);
    emu_json_put_bool(json, "signatures", true);
    emu_json_put_bool(json, "recorders", true);
    emu_json_put_bool(json, "payload_checksum", request->checksums);
    emu_json_object_end(json);
}

/* Mean and largest over the ranks; zero where not all could tell. */
struct launch_figures {
    double barrier_ms, pss_kib, pss_most_kib, tables_kib, tables_most_kib;
};

static struct launch_figures launch_figures(const struct emu_bench *bench)
{
    const struct emu_bench_launch *launch = bench->launch;
    uint64_t world = bench->request.roster->mesh->world;
    struct launch_figures figures = {
        .barrier_ms =
            (double)atomic_load_explicit(&launch->barrier_ns, memory_order_relaxed) / 1e6};
    if (atomic_load_explicit(&launch->told, memory_order_relaxed) != world)
        return figures;
    double kib = 1024, ranks = (double)world;
    figures.pss_kib =
        (double)atomic_load_explicit(&launch->pss_sum, memory_order_relaxed) / kib / ranks;
    figures.pss_most_kib =
        (double)atomic_load_explicit(&launch->pss_most, memory_order_relaxed) / kib;
    figures.tables_kib =
        (double)atomic_load_explicit(&launch->tables_sum, memory_order_relaxed) / kib / ranks;
    figures.tables_most_kib =
        (double)atomic_load_explicit(&launch->tables_most, memory_order_relaxed) / kib;
    return figures;
}

static void put_launch(const struct emu_bench *bench, struct emu_json *json)
{
    struct launch_figures figures = launch_figures(bench);
    emu_json_key(json, "launch");
    emu_json_object_begin(json);
    emu_json_put_f64(json, "first_barrier_ms", figures.barrier_ms);
    emu_json_put_f64(json, "pss_KiB", figures.pss_kib);
    emu_json_put_f64(json, "pss_most_KiB", figures.pss_most_kib);
    emu_json_put_f64(json, "page_tables_KiB", figures.tables_kib);
    emu_json_put_f64(json, "page_tables_most_KiB", figures.tables_most_kib);
    emu_json_object_end(json);
}

bool emu_bench_write_json(const struct emu_bench *bench, const struct emu_findings *findings,
                          FILE *out)
{
    struct emu_json json;
    emu_json_init_file(&json, out);
    emu_json_report_begin(&json, "bench");
    put_setting(bench, &json);
    if (bench->request.launch)
        put_launch(bench, &json);
    emu_json_key(&json, "results");
    emu_json_array_begin(&json);
    for (uint64_t i = 0; i < bench->row_count; i++)
        if (emu_bench_row_measured(&bench->rows[i]))
            put_row(bench, &bench->rows[i], &json);
    emu_json_array_end(&json);
    emu_json_key(&json, "findings");
    emu_findings_to_json(findings, bench->request.roster, &json);
    emu_json_object_end(&json);
    return emu_json_finish(&json);
}

static void print_setting(const struct emu_bench *bench, FILE *out)
{
    const struct emu_bench_request *request = &bench->request;
    const struct emu_family *family = family_of(bench);
    fputs("mesh ", out);
    emu_mesh_text(request->roster->mesh, out);
    fprintf(out,
            ", over %s: %" PRIu32 " group%s of %" PRIu32 " rank%s; %" PRIu32 " processor%s%s\n",
            family->name, family->group_count, family->group_count == 1 ? "" : "s",
            family->group_size, family->group_size == 1 ? "" : "s", emu_cpu_count(),
            emu_cpu_count() == 1 ? "" : "s", request->pin ? ", ranks pinned" : "");
    fprintf(out, "%s %s, %s; ", emu_dtype_name(request->dtype), emu_op_name(request->reduce),
            request->in_place ? "in place" : "not in place");
    if (request->root == EMU_BENCH_ROOT_MOVES)
        fputs("the root moves on with each call", out);
    else
        fprintf(out, "root %" PRId64, request->root);
    fprintf(out, "\nsignatures, recorders and supervision on, %s",
            request->checksums ? "payload checksums too" : "no payload checksum");
    if (request->coefficients)
        fprintf(out, ", %" PRIu32 " coefficients a call", request->coefficients);
    fputs("\n\n", out);
}

static void print_row(const struct emu_bench *bench, const struct emu_bench_row *row, FILE *out)
{
    struct emu_bench_figures figures = emu_bench_row_figures(bench, row);
    fprintf(out, "%-14s %11" PRIu64 " %6" PRIu64 " %11.2f %11.2f %11.2f %9.3f %9.3f  %s\n",
            emu_bench_op_name(row->op), row->shape.bytes, row->iterations, figures.median_us,
            figures.p99_us, figures.mean_us, figures.algbw, figures.busbw,
            emu_bench_row_correct(bench, row) ? "yes" : "NO");
}

static void print_complaint(const struct emu_bench_row *row, FILE *out)
{
    char expected[EMU_NUMBER_MAX], got[EMU_NUMBER_MAX];
    const struct emu_bench_complaint *first = &row->complaint;
    if (row->op == EMU_BARRIER) {
        fprintf(out,
                "wrong: rank %" PRIu32 " came out of a barrier before member %" PRIu64
                " of its group had come in\n",
                row->complaining, first->position);
        return;
    }
    fprintf(out,
            "wrong: %s of %" PRIu64 " bytes: rank %" PRIu32 " got %s at %s %" PRIu64
            " where %s is right; %" PRIu64 " wrong on all ranks\n",
            emu_bench_op_name(row->op), row->shape.bytes, row->complaining,
            emu_number_f64(first->got, got), first->is_coefficient ? "coefficient" : "element",
            first->position, emu_number_f64(first->expected, expected),
            atomic_load_explicit(&row->wrong, memory_order_relaxed));
}

static void print_launch(const struct emu_bench *bench, FILE *out)
{
    struct launch_figures figures = launch_figures(bench);
    fprintf(out,
            "\nfirst barrier after %.1f ms; memory of a rank at the end, in KiB, mean and most: ",
            figures.barrier_ms);
    if (figures.pss_kib > 0)
        fprintf(out, "PSS %.0f %.0f, page tables %.0f %.0f\n", figures.pss_kib,
                figures.pss_most_kib, figures.tables_kib, figures.tables_most_kib);
    else
        fputs("not all ranks could tell\n", out);
}

void emu_bench_print_text(const struct emu_bench *bench, FILE *out)
{
    uint64_t measured = 0, correct = 0;
    print_setting(bench, out);
    fprintf(out, "%-14s %11s %6s %11s %11s %11s %9s %9s  %s\n", "op", "bytes", "calls", "median us",
            "p99 us", "mean us", "alg GB/s", "bus GB/s", "correct");
    for (uint64_t i = 0; i < bench->row_count; i++) {
        if (!emu_bench_row_measured(&bench->rows[i]))
            continue;
        print_row(bench, &bench->rows[i], out);
        measured++;
        correct += emu_bench_row_correct(bench, &bench->rows[i]);
    }
    fprintf(out, "\n%" PRIu64 " of %" PRIu64 " rows measured, %" PRIu64 " correct\n", measured,
            bench->row_count, correct);
    if (bench->request.launch)
        print_launch(bench, out);
    for (uint64_t i = 0; i < bench->row_count; i++)
        if (atomic_load_explicit(&bench->rows[i].wrong, memory_order_relaxed) > 0)
            print_complaint(&bench->rows[i], out);
}
