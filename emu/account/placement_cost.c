#include "account/placement_cost.h"

#include "account/node_split.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Strides of the mesh axes in one order. */
struct layout {
    uint64_t stride[EMU_MESH_MAX_AXES];
};

static struct layout layout_of(const struct emu_placements *p, const uint8_t *order)
{
    const struct emu_mesh *mesh = &p->books->shapes.config->mesh;
    struct layout layout = {{0}};
    uint64_t stride = 1;
    for (uint32_t i = p->axis_count; i-- > 0;) {
        layout.stride[order[i]] = stride;
        stride *= mesh->axes[order[i]].size;
    }
    return layout;
}

static bool crosses(const struct emu_placements *p, const struct layout *layout, uint32_t axes)
{
    const struct emu_mesh *mesh = &p->books->shapes.config->mesh;
    for (uint32_t i = 0; i < mesh->axis_count; i++) {
        if ((axes >> i & 1) &&
            emu_node_crosses(mesh->axes[i].size, layout->stride[i], p->links.node, mesh->world))
            return true;
    }
    return false;
}

/* Members of a group over these axes on one node; 0: not regular. */
static uint32_t inside(const struct emu_placements *p, const struct layout *layout, uint32_t axes)
{
    const struct emu_mesh *mesh = &p->books->shapes.config->mesh;
    uint32_t members = 1;
    for (uint32_t i = 0; i < mesh->axis_count; i++) {
        if (!(axes >> i & 1))
            continue;
        members *= mesh->world <= p->links.node
                       ? mesh->axes[i].size
                       : emu_node_inside(mesh->axes[i].size, layout->stride[i], p->links.node);
    }
    return members;
}

/* What one class of ranks needs for a step. */
static bool price_class(const struct emu_placements *p, const struct layout *layout, size_t index,
                        struct emu_placement_cost *cost)
{
    const struct emu_rank_class *class = &p->books->classes.items[index];
    struct emu_flow flows[EMU_FLOWS_MOST];
    uint32_t count = emu_flows_of(&p->books->shapes, class, flows);
    struct emu_placement_cost made = *cost;
    made.rest = made.inter_bytes = made.fixed = 0;
    made.slowest = index;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t members = inside(p, layout, flows[i].axes);
        if (!members && p->links.algorithm != EMU_LINK_RING)
            return false;
        struct emu_flow_time time =
            emu_flow_time_of(&flows[i], &p->links, members, crosses(p, layout, flows[i].axes));
        made.rest += time.rest;
        made.inter_bytes += time.inter_bytes;
        if (flows[i].once)
            made.fixed += time.rest + time.inter_bytes / p->links.inter;
    }
    made.seconds = made.rest + made.inter_bytes / p->links.inter;
    if (index == 0 || made.seconds > cost->seconds)
        *cost = made;
    return true;
}

/* Stages that differ in nothing but activations send the same. */
static bool sends_alike(const struct emu_rank_class *a, const struct emu_rank_class *b)
{
    return a->content.early == b->content.early && a->content.late == b->content.late &&
           a->content.first == b->content.first && a->content.last == b->content.last &&
           a->run.first == b->run.first;
}

static bool price(const struct emu_placements *p, struct emu_placement_cost *cost)
{
    struct layout layout = layout_of(p, cost->order);
    const struct emu_rank_classes *classes = &p->books->classes;
    for (size_t i = 0; i < classes->count; i++) {
        if (i > 0 && sends_alike(&classes->items[i - 1], &classes->items[i]))
            continue;
        if (!price_class(p, &layout, i, cost))
            return false;
    }
    return true;
}

static int by_seconds(const void *left, const void *right)
{
    const struct emu_placement_cost *a = left;
    const struct emu_placement_cost *b = right;
    if (a->seconds != b->seconds)
        return a->seconds < b->seconds ? -1 : 1;
    return memcmp(a->order, b->order, sizeof a->order); /* the order of the config first */
}

/* The next order in lexical order; false after the last. */
static bool next_order(uint8_t *order, uint32_t count)
{
    uint32_t i = count;
    while (i >= 2 && order[i - 2] >= order[i - 1])
        i--;
    if (i < 2)
        return false;
    uint32_t k = count - 1;
    while (order[k] <= order[i - 2])
        k--;
    uint8_t kept = order[i - 2];
    order[i - 2] = order[k];
    order[k] = kept;
    for (uint32_t a = i - 1, b = count - 1; a < b; a++, b--) {
        kept = order[a];
        order[a] = order[b];
        order[b] = kept;
    }
    return true;
}

static enum emu_status price_all(struct emu_placements *p, uint8_t *order, struct emu_text *error)
{
    size_t most = 1;
    for (uint32_t i = 2; i <= p->axis_count; i++)
        most *= i;
    p->items = calloc(most, sizeof *p->items);
    if (!p->items)
        return EMU_ENOMEM;
    do {
        struct emu_placement_cost *cost = &p->items[p->count++];
        memcpy(cost->order, order, sizeof cost->order);
        if (!price(p, cost)) {
            emu_text_printf(error, "nodes of %" PRIu32 " ranks cut the order ", p->links.node);
            emu_placement_text(p, cost, error);
            emu_text_puts(error, " unevenly, which ring alone can price");
            return EMU_EUNSUPPORTED;
        }
    } while (next_order(order, p->axis_count));
    qsort(p->items, p->count, sizeof *p->items, by_seconds);
    return EMU_OK;
}

static bool are_priced(const struct emu_books *books, uint32_t axes, struct emu_text *error)
{
    const struct emu_shapes *shapes = &books->shapes;
    if (shapes->config->mesh.rank_at)
        emu_text_puts(error, "orders of the axes are compared, but mesh.ranks arranges the ranks "
                             "explicitly; give the axes alone");
    else if (axes > EMU_PLACED_AXES_MOST)
        emu_text_printf(error, "%" PRIu32 " axes above size 1 have too many orders: %d are allowed",
                        axes, EMU_PLACED_AXES_MOST);
    else if (shapes->config->model.kind != EMU_MODEL_TRANSFORMER &&
             (shapes->tp > 1 || shapes->cp > 1 || shapes->pp > 1))
        emu_text_puts(error, "the traffic of tp, cp and pp is counted for model.kind transformer "
                             "alone");
    return !error->size;
}

enum emu_status emu_placements_make(const struct emu_books *books, const struct emu_links *links,
                                    struct emu_text *error, struct emu_placements *placements)
{
    const struct emu_mesh *mesh = &books->shapes.config->mesh;
    struct emu_placements made = {.books = books, .links = *links};
    uint8_t order[EMU_MESH_MAX_AXES] = {0};
    for (uint32_t i = 0; i < mesh->axis_count; i++) {
        if (mesh->axes[i].size > 1)
            order[made.axis_count++] = (uint8_t)i;
    }
    if (!are_priced(books, made.axis_count, error))
        return EMU_EUNSUPPORTED;
    enum emu_status status = price_all(&made, order, error);
    if (status == EMU_OK)
        *placements = made;
    else
        emu_placements_finish(&made);
    return status;
}

void emu_placements_finish(struct emu_placements *placements)
{
    free(placements->items);
    *placements = (struct emu_placements){0};
}

uint32_t emu_placement_rows(const struct emu_placements *p, const struct emu_placement_cost *cost,
                            struct emu_cost_row rows[EMU_COST_ROWS_MOST])
{
    struct layout layout = layout_of(p, cost->order);
    struct emu_flow flows[EMU_FLOWS_MOST];
    uint32_t count = 0;
    uint32_t flow_count =
        emu_flows_of(&p->books->shapes, &p->books->classes.items[cost->slowest], flows);
    for (uint32_t i = 0; i < p->axis_count; i++)
        rows[count++] = (struct emu_cost_row){.axes = UINT32_C(1) << cost->order[i]};
    for (uint32_t i = 0; i < flow_count; i++) {
        uint32_t at = 0;
        while (at < count && rows[at].axes != flows[i].axes)
            at++;
        if (at == count)
            rows[count++] = (struct emu_cost_row){.axes = flows[i].axes};
        struct emu_flow_time time =
            emu_flow_time_of(&flows[i], &p->links, inside(p, &layout, flows[i].axes),
                             crosses(p, &layout, flows[i].axes));
        rows[at].bytes += emu_flow_bytes(&flows[i], &p->links);
        rows[at].seconds += time.rest + time.inter_bytes / p->links.inter;
    }
    for (uint32_t i = 0; i < count; i++)
        rows[i].crosses = crosses(p, &layout, rows[i].axes);
    return count;
}

void emu_placement_text(const struct emu_placements *p, const struct emu_placement_cost *cost,
                        struct emu_text *out)
{
    const struct emu_mesh *mesh = &p->books->shapes.config->mesh;
    for (uint32_t i = 0; i < p->axis_count; i++)
        emu_text_printf(out, "%s%s=%" PRIu32, i ? "," : "", mesh->axes[cost->order[i]].name,
                        mesh->axes[cost->order[i]].size);
    if (!p->axis_count)
        emu_text_puts(out, "one rank");
}

void emu_axis_set_text(const struct emu_mesh *mesh, uint32_t axes, struct emu_text *out)
{
    const char *gap = "";
    for (uint32_t i = 0; i < mesh->axis_count; i++) {
        if (!(axes >> i & 1))
            continue;
        emu_text_printf(out, "%s%s", gap, mesh->axes[i].name);
        gap = ",";
    }
}

/* Take the value at which a line a0 + x*b0 of the best meets that of another placement. */
static void meet(struct emu_turning_points *points, double now, double x,
                 const struct emu_placement_cost *other)
{
    if (!(x > 0) || !isfinite(x))
        return;
    if (x < now && (!points->below.other || x > points->below.at))
        points->below = (struct emu_turning_point){x, other};
    if (x > now && (!points->above.other || x < points->above.at))
        points->above = (struct emu_turning_point){x, other};
}

struct emu_turning_points emu_placements_by_rate(const struct emu_placements *p)
{
    struct emu_turning_points points = {{0, NULL}, {0, NULL}};
    const struct emu_placement_cost *best = &p->items[0];
    for (size_t i = 1; i < p->count; i++) {
        const struct emu_placement_cost *other = &p->items[i];
        double rate = (other->inter_bytes - best->inter_bytes) / (best->rest - other->rest);
        meet(&points, p->links.inter, rate, other);
    }
    return points;
}

struct emu_turning_points emu_placements_by_microbatches(const struct emu_placements *p)
{
    struct emu_turning_points points = {{0, NULL}, {0, NULL}};
    const struct emu_placement_cost *best = &p->items[0];
    double now = (double)p->books->shapes.config->batch.microbatches;
    double best_slope = (best->seconds - best->fixed) / now;
    for (size_t i = 1; i < p->count; i++) {
        const struct emu_placement_cost *other = &p->items[i];
        double slope = (other->seconds - other->fixed) / now;
        meet(&points, now, (other->fixed - best->fixed) / (best_slope - slope), other);
    }
    if (points.below.other && points.below.at < 1)
        points.below.other = NULL;
    return points;
}
