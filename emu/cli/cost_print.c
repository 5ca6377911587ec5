#include "cli/cost_print.h"

#include "account/book_print.h"
#include "report/json_writer.h"

#include <inttypes.h>
#include <string.h>

/* Different costs that a person is shown. */
#define SHOWN 12

static const char *const algorithms[] = {"ring", "tree", "two-level"};

static void put_row(struct emu_json *json, const struct emu_mesh *mesh,
                    const struct emu_cost_row *row, struct emu_text *name)
{
    name->size = 0;
    emu_axis_set_text(mesh, row->axes, name);
    emu_json_object_begin(json);
    emu_json_put_string(json, "name", emu_text_get(name));
    emu_json_put_bool(json, "crosses", row->crosses);
    emu_json_put_f64(json, "bytes", row->bytes);
    emu_json_put_f64(json, "seconds", row->seconds);
    emu_json_object_end(json);
}

static void put_placement(struct emu_json *json, const struct emu_placements *p,
                          const struct emu_placement_cost *cost, struct emu_text *text)
{
    struct emu_cost_row rows[EMU_COST_ROWS_MOST];
    uint32_t count = emu_placement_rows(p, cost, rows);
    text->size = 0;
    emu_placement_text(p, cost, text);
    emu_json_object_begin(json);
    emu_json_put_string(json, "order", emu_text_get(text));
    emu_json_key(json, "axes");
    emu_json_array_begin(json);
    for (uint32_t i = 0; i < count; i++)
        put_row(json, &p->books->shapes.config->mesh, &rows[i], text);
    emu_json_array_end(json);
    emu_json_put_f64(json, "seconds", cost->seconds);
    emu_json_object_end(json);
}

static void put_turning(struct emu_json *json, const char *key, const struct emu_placements *p,
                        struct emu_turning_points points, struct emu_text *text)
{
    const struct emu_turning_point *both[] = {&points.below, &points.above};
    static const char *const names[] = {"below", "above"};
    emu_json_key(json, key);
    emu_json_object_begin(json);
    for (int i = 0; i < 2; i++) {
        emu_json_key(json, names[i]);
        if (!both[i]->other) {
            emu_json_null(json);
            continue;
        }
        text->size = 0;
        emu_placement_text(p, both[i]->other, text);
        emu_json_object_begin(json);
        emu_json_put_f64(json, "at", both[i]->at);
        emu_json_put_string(json, "best", emu_text_get(text));
        emu_json_object_end(json);
    }
    emu_json_object_end(json);
}

bool emu_cost_write_json(const struct emu_placements *p, FILE *out)
{
    struct emu_json json;
    struct emu_text text = {0};
    emu_json_init_file(&json, out);
    emu_json_report_begin(&json, "cost");
    emu_json_put_u64(&json, "world", p->books->shapes.world);
    emu_json_put_u64(&json, "node", p->links.node);
    emu_json_put_string(&json, "algorithm", algorithms[p->links.algorithm]);
    emu_json_key(&json, "placements");
    emu_json_array_begin(&json);
    for (size_t i = 0; i < p->count && !json.failed; i++)
        put_placement(&json, p, &p->items[i], &text);
    emu_json_array_end(&json);
    emu_json_key(&json, "changes");
    emu_json_object_begin(&json);
    put_turning(&json, "inter_bytes_per_second", p, emu_placements_by_rate(p), &text);
    put_turning(&json, "microbatches", p, emu_placements_by_microbatches(p), &text);
    emu_json_object_end(&json);
    emu_json_object_end(&json);
    bool good = emu_json_finish(&json) && !text.failed;
    emu_text_finish(&text);
    return good;
}

/* "1.589 s", "386.653 ms"; returns the columns that a wider unit would take. */
static int print_seconds(double seconds, FILE *out)
{
    bool whole = seconds >= 1;
    bool milli = seconds >= 1e-3;
    fprintf(out, "%10.3f %s",
            seconds * (whole   ? 1
                       : milli ? 1e3
                               : 1e6),
            whole   ? "s"
            : milli ? "ms"
                    : "us");
    return whole ? 1 : 0;
}

/* All orders that cost the same share an entry. */
static size_t print_alike(const struct emu_placements *p, size_t first, struct emu_text *text,
                          FILE *out)
{
    const struct emu_mesh *mesh = &p->books->shapes.config->mesh;
    struct emu_cost_row rows[EMU_COST_ROWS_MOST];
    uint32_t count = emu_placement_rows(p, &p->items[first], rows);
    size_t end = first + 1;
    while (end < p->count && p->items[end].seconds <= p->items[first].seconds)
        end++;
    int gap = print_seconds(p->items[first].seconds, out);
    fprintf(out, "%*s", gap, "");
    for (size_t i = first; i < end && i < first + 3; i++) {
        text->size = 0;
        emu_placement_text(p, &p->items[i], text);
        fprintf(out, "  %s", emu_text_get(text));
    }
    if (end > first + 3)
        fprintf(out, "  and %zu more alike", end - first - 3);
    fputc('\n', out);
    for (uint32_t i = 0; i < count; i++) {
        char figure[EMU_BYTES_TEXT];
        text->size = 0;
        emu_axis_set_text(mesh, rows[i].axes, text);
        fprintf(out, "              %-10s %-13s %11s ", emu_text_get(text),
                rows[i].crosses ? "crosses nodes" : "inside a node",
                emu_bytes_text(rows[i].bytes, figure));
        print_seconds(rows[i].seconds, out);
        fputc('\n', out);
    }
    return end;
}

static void print_point(const struct emu_placements *p, const struct emu_turning_point *point,
                        const char *side, double unit, const char *name, FILE *out)
{
    struct emu_text text = {0};
    if (!point->other)
        return;
    emu_placement_text(p, point->other, &text);
    fprintf(out, "  %s %.4g %s the best order is %s\n", side, point->at / unit, name,
            emu_text_get(&text));
    emu_text_finish(&text);
}

static void print_changes(const struct emu_placements *p, FILE *out)
{
    struct emu_turning_points rate = emu_placements_by_rate(p);
    struct emu_turning_points micro = emu_placements_by_microbatches(p);
    fputs("\nWhen another order is best, all else equal\n", out);
    print_point(p, &rate.below, "below", 1e9, "GB/s between nodes", out);
    print_point(p, &rate.above, "above", 1e9, "GB/s between nodes", out);
    print_point(p, &micro.below, "below", 1, "microbatches", out);
    print_point(p, &micro.above, "above", 1, "microbatches", out);
    if (!rate.below.other && !rate.above.other)
        fputs("  at no rate between nodes\n", out);
    if (!micro.below.other && !micro.above.other)
        fputs("  at no number of microbatches\n", out);
}

bool emu_cost_print_text(const struct emu_placements *p, FILE *out)
{
    struct emu_text text = {0};
    const struct emu_links *links = &p->links;
    fputs("mesh ", out);
    emu_mesh_text(&p->books->shapes.config->mesh, out);
    fprintf(out,
            ": %" PRIu32 " ranks, %" PRIu32 " a node; inside %g GB/s, %g us; between %g GB/s, "
            "%g us; %s\n",
            p->books->shapes.world, links->node, links->intra / 1e9, links->intra_delay * 1e6,
            links->inter / 1e9, links->inter_delay * 1e6, algorithms[links->algorithm]);
    fputs(
        "a step's communication of the slowest rank, nothing overlapped; first axis outermost\n\n",
        out);
    size_t at = 0;
    for (int shown = 0; at < p->count && shown < SHOWN && !ferror(out); shown++)
        at = print_alike(p, at, &text, out);
    if (at < p->count)
        fprintf(out, "  ... %zu more orders (--json FILE writes all)\n", p->count - at);
    if (p->count > 1)
        print_changes(p, out);
    bool good = !text.failed;
    emu_text_finish(&text);
    return good;
}
