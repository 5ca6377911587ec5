#include "account/book_print.h"

#include <inttypes.h>
#include <string.h>

/* Tensors of one kind, summed over the mesh. */
struct line {
    char path[64];
    char over_tp[32];
    uint64_t count; /* logical tensors */
    emu_u128 rank;  /* elements of one that a rank of its stage allocates */
    emu_u128 all;   /* elements of all of them on all ranks */
};

static void say_split(const struct emu_shapes *shapes, const struct emu_shape *shape, char out[32])
{
    static const char *const words[] = {"copied", "rows", "columns", "heads", "hidden"};
    if (shapes->tp == 1)
        snprintf(out, 32, "whole");
    else if (shape->pieces == 1)
        snprintf(out, 32, "copied x%" PRIu32, shapes->tp);
    else if (shape->pieces < shapes->tp)
        snprintf(out, 32, "%s /%" PRIu32 " x%" PRIu32, words[shape->split], shape->pieces,
                 shapes->tp / shape->pieces);
    else
        snprintf(out, 32, "%s /%" PRIu32, words[shape->split], shapes->tp);
}

/* Weight elements of the shape on all ranks. */
static emu_u128 held_by_all(const struct emu_shapes *shapes, const struct emu_shape *shape,
                            uint64_t times)
{
    uint32_t parts = shapes->config->optimizer.shard == EMU_ZERO3 ? shapes->shard : 1;
    emu_u128 sum = 0;
    for (uint32_t r = 0; r < shapes->run_count; r++)
        sum +=
            emu_exact_ceil(emu_shape_local(shape, &shapes->runs[r]), parts) * shapes->runs[r].count;
    emu_u128 copies = shapes->world / shapes->pp / shapes->tp * (shape->tied ? 2U : 1U);
    return emu_exact_mul(emu_exact_mul(sum, copies), emu_exact_mul(shape->repeat, times));
}

static struct line line_of(const struct emu_shapes *shapes, enum emu_part_kind kind,
                           const struct emu_shape *shape, uint64_t times)
{
    uint32_t parts = shapes->config->optimizer.shard == EMU_ZERO3 ? shapes->shard : 1;
    struct line line = {.count = shape->repeat * times};
    emu_shape_path(shapes, kind, shape, line.path, sizeof line.path);
    say_split(shapes, shape, line.over_tp);
    line.rank = emu_exact_ceil(emu_shape_local(shape, &shapes->runs[0]), parts);
    line.all = held_by_all(shapes, shape, times);
    return line;
}

/* "copied over dp=4, cp=2", the axes that shard weights left out. */
static void put_copies(const struct emu_shapes *shapes, FILE *out)
{
    const struct emu_optimizer_config *optimizer = &shapes->config->optimizer;
    const struct emu_mesh *mesh = &shapes->config->mesh;
    bool zero3 = optimizer->shard == EMU_ZERO3;
    const char *gap = "  copied over ";
    for (uint32_t i = 0; i < mesh->axis_count; i++) {
        const char *name = mesh->axes[i].name;
        if (mesh->axes[i].size == 1 || !strcmp(name, "tp") || !strcmp(name, "pp") ||
            (zero3 && !strcmp(name, "dp") && optimizer->over_dp) ||
            (zero3 && !strcmp(name, "cp") && optimizer->over_cp))
            continue;
        fprintf(out, "%s%s=%" PRIu32, gap, name, mesh->axes[i].size);
        gap = ", ";
    }
    fputs(*gap == ',' ? "\n" : "", out);
}

static void put_shards(const struct emu_shapes *shapes, FILE *out)
{
    static const char *const levels[] = {"", "master and moments", "gradient, master and moments",
                                         "weight, gradient, master and moments"};
    const struct emu_optimizer_config *optimizer = &shapes->config->optimizer;
    if (optimizer->shard == EMU_SHARD_NONE || shapes->shard == 1)
        return;
    bool both = optimizer->over_dp && optimizer->over_cp && shapes->dp > 1 && shapes->cp > 1;
    bool dp = optimizer->over_dp && shapes->dp > 1;
    fprintf(out, "  %s cut into %" PRIu32 " shards over %s\n", levels[optimizer->shard],
            shapes->shard,
            both ? "dp,cp"
            : dp ? "dp"
                 : "cp");
}

/* "1/4", "x1.50": what a rank holds of the tensor, how often it is there. */
static void say_ratio(char out[16], emu_u128 a, emu_u128 b, const char *prefix)
{
    if (a && b % a == 0)
        snprintf(out, 16, a == b ? "whole" : "1/%" PRIu64, (uint64_t)(b / a));
    else
        snprintf(out, 16, "%s%.3f", prefix, (double)a / (double)b);
}

static void put_tensor(const struct emu_shapes *shapes, const struct emu_shape *shape,
                       const struct line *line, FILE *out)
{
    struct emu_claim claim = {0};
    char share[16];
    emu_u128 logical = emu_exact_mul(shape->elements, line->count);
    emu_claim_judge_weight(shapes, shape, &claim);
    say_ratio(share, line->rank, shape->elements, "");
    fprintf(out,
            "  %-32s %6" PRIu64 " %13" PRIu64 "  %-13s %13" PRIu64 " %8s %15" PRIu64 "  %-8.4g",
            line->path, line->count, (uint64_t)shape->elements, line->over_tp, (uint64_t)line->rank,
            share, (uint64_t)line->all, (double)line->all / (double)logical);
    if (shapes->world > 1)
        fprintf(out, " %s%s", claim.refuted ? "false: " : "true",
                !claim.refuted ? ""
                : *claim.axis  ? claim.axis
                               : "padding");
    fputs(shape->tied ? "; tied, on two stages\n" : "\n", out);
}

void emu_book_tensors(const struct emu_books *books, FILE *out)
{
    const struct emu_shapes *shapes = &books->shapes;
    const uint64_t times[EMU_PART_COUNT] = {1, shapes->early, shapes->layers - shapes->early, 1};
    char divided[24] = "";
    if (shapes->world > 1)
        snprintf(divided, sizeof divided, "/ %" PRIu32 " is", shapes->world);
    fprintf(out, "\nTensors\n  %-32s %6s %13s  %-13s %13s %8s %15s  %-8s %s\n", "name", "count",
            "elements", "over tp", "on a rank", "share", "on all ranks", "x unique", divided);
    for (unsigned kind = 0; kind < EMU_PART_COUNT; kind++) {
        const struct emu_part *part = &shapes->parts[kind];
        for (uint32_t i = 0; i < part->count && times[kind]; i++) {
            struct line line = line_of(shapes, kind, &part->shapes[i], times[kind]);
            put_tensor(shapes, &part->shapes[i], &line, out);
        }
    }
    put_copies(shapes, out);
    put_shards(shapes, out);
}

static void put_traffic(const struct emu_traffic *traffic, FILE *out)
{
    const struct {
        const char *name;
        bool has;
        uint64_t bytes;
    } axes[] = {{"tp", traffic->has_tp, traffic->tp},
                {"pp", traffic->has_pp, traffic->pp},
                {"cp", traffic->has_cp, traffic->cp},
                {"data", traffic->has_data, traffic->data}};
    char figure[EMU_BYTES_TEXT];
    for (size_t i = 0; i < sizeof axes / sizeof axes[0]; i++) {
        if (axes[i].has)
            fprintf(out, " %s %s", axes[i].name, emu_bytes_text((double)axes[i].bytes, figure));
    }
    fputc('\n', out);
}

static void put_holding(const char *label, uint32_t count, const struct emu_holding *row, FILE *out)
{
    char figures[6][EMU_BYTES_TEXT];
    const uint64_t bytes[] = {row->weight,  row->gradient,    row->master,
                              row->moments, row->activations, row->total};
    fprintf(out, "  %-10s %10" PRIu32 " %16" PRIu64, label, count, row->elements);
    for (int i = 0; i < 6; i++)
        fprintf(out, " %11s", emu_bytes_text((double)bytes[i], figures[i]));
}

static void put_heading(const char *title, FILE *out)
{
    fprintf(out, "\n%s\n  %-10s %10s %16s %11s %11s %11s %11s %11s %11s  %s\n", title, "rank",
            "alike", "elements", "weight", "gradient", "master", "moments", "activations", "total",
            "sent in a step");
}

#define CLASSES_SHOWN 24

void emu_book_ranks(const struct emu_books *books, const struct emu_rank_class *only, FILE *out)
{
    char label[24];
    put_heading(only ? "This rank" : "Classes of equal ranks, each with one of its ranks", out);
    for (size_t i = 0; i < books->classes.count && !only; i++) {
        const struct emu_rank_class *class = &books->classes.items[i];
        if (i == CLASSES_SHOWN) {
            fprintf(out, "  ... %zu more classes (--rank R shows one rank, --json FILE all)\n",
                    books->classes.count - i);
            break;
        }
        snprintf(label, sizeof label, "%" PRIu32, class->rank);
        put_holding(label, class->count, &books->rows[i], out);
        put_traffic(&books->rows[i].traffic, out);
    }
    struct emu_holding row;
    if (only && emu_holding_of(&books->shapes, only, &row)) {
        snprintf(label, sizeof label, "%" PRIu32, only->rank);
        put_holding(label, 1, &row, out);
        put_traffic(&row.traffic, out);
    }
    put_holding("all ranks", books->shapes.world, &books->aggregate, out);
    fputc('\n', out);
}

void emu_book_causes(const struct emu_books *books, FILE *out)
{
    fputs("\nWhy the ranks hold more than the model\n", out);
    fprintf(out, "  %-24s %20" PRIu64 " elements\n", "unique", books->unique_elements);
    for (uint32_t i = 0; i < books->cause_count; i++)
        fprintf(out, "+ %-24s %20" PRIu64 "\n", books->causes[i].name, books->causes[i].elements);
    fprintf(out, "= %-24s %20" PRIu64 "  %.4f x unique\n", "aggregate", books->aggregate.elements,
            (double)books->aggregate.elements / (double)books->unique_elements);
}
