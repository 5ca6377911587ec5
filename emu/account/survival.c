#include "account/survival.h"

#include "account/node_split.h"

#include <inttypes.h>
#include <string.h>

/* How nodes cut the axes that tell sets of holders apart: members of a group in one node. */
struct cut {
    uint32_t tp, pp, dp, cp;
};

/* What the search for sets needs. */
struct search {
    const struct emu_books *books;
    bool sharded;
    uint32_t shard; /* members that hold different shards; 1: none */
    uint32_t cells; /* tp coordinates that hold different slices */
    struct cut cut;
};

/* Elements of the tensor, padding left out, that this tp coordinate holds: a padded vocabulary ends
 * in the middle of the last slices. */
static emu_u128 real_elements(const struct emu_shape *shape, const struct emu_tp_run *run,
                              uint32_t tp)
{
    emu_u128 local = emu_shape_local(shape, run);
    if (shape->padded == shape->elements)
        return local;
    emu_u128 before = local * tp;
    emu_u128 left = shape->elements > before ? shape->elements - before : 0;
    return left < local ? left : local;
}

/* Tensors by how many ranks hold each of their slices. */
enum holders {
    HELD_ONCE,    /* as often as any slice that tp cuts: these make the sets */
    HELD_MORE,    /* copied over tp, or heads of k and v that are */
    HELD_AT_ENDS, /* a tied table, on two stages */
};

static enum holders holders_of(const struct search *s, const struct emu_shape *shape)
{
    if (shape->tied)
        return HELD_AT_ENDS;
    return s->cells > 1 && shape->pieces != s->cells ? HELD_MORE : HELD_ONCE;
}

/* Of a tensor's shards those that hold more than padding, the most over all such tensors. */
static uint32_t shards_used(const struct search *s, const struct emu_stage_content *content,
                            const struct emu_tp_run *run, uint32_t tp, enum holders which)
{
    emu_u128 most = 0;
    for (unsigned kind = 0; kind < EMU_PART_COUNT; kind++) {
        const struct emu_part *part = &s->books->shapes.parts[kind];
        for (uint32_t i = 0; i < part->count; i++) {
            const struct emu_shape *shape = &part->shapes[i];
            emu_u128 local = emu_shape_local(shape, run);
            if (!local || !emu_stage_holds(content, kind, shape) || holders_of(s, shape) != which)
                continue;
            emu_u128 used =
                emu_exact_ceil(real_elements(shape, run, tp), emu_exact_ceil(local, s->shard));
            most = used > most ? used : most;
        }
    }
    return (uint32_t)most;
}

/* Different sets of nodes among the first `used` shards (dp outer, cp inner). */
static uint64_t shard_places(const struct search *s, uint32_t used)
{
    const struct emu_shapes *shapes = &s->books->shapes;
    const struct emu_optimizer_config *optimizer = &shapes->config->optimizer;
    uint32_t inner = s->sharded && optimizer->over_cp ? shapes->cp : 1;
    uint32_t rows = used / inner;
    uint32_t rest = used % inner;
    uint64_t places =
        (uint64_t)emu_exact_ceil(rows, s->cut.dp) * (inner > 1 ? inner / s->cut.cp : 1);
    if (rest && rows % s->cut.dp == 0)
        places += (uint64_t)emu_exact_ceil(rest, s->cut.cp);
    return places;
}

/* A stretch of tp coordinates that use equally many shards. */
struct stretch {
    uint32_t end, used;
};

#define STRETCHES (EMU_TP_RUNS_MOST + 2)

/* Cut the tp coordinates where a run ends, and around the end of a padded vocabulary. */
static uint32_t cut_stretches(const struct search *s, struct stretch list[STRETCHES])
{
    const struct emu_shapes *shapes = &s->books->shapes;
    const struct emu_shape *table = &shapes->parts[EMU_PART_FIRST].shapes[0];
    uint32_t full = (uint32_t)(table->elements / (table->padded / table->pieces));
    uint32_t end = 0;
    uint32_t count = 0;
    memset(list, 0, STRETCHES * sizeof list[0]);
    for (uint32_t run = 0; end < s->cells; count++) {
        uint32_t next = s->cells == 1 ? 1 : shapes->runs[run].first + shapes->runs[run].count;
        uint32_t stop = end < full ? full : end == full ? full + 1 : next;
        run += next <= stop;
        end = next < stop ? next : stop;
        list[count].end = end;
    }
    return count;
}

/* Take what this kind of stage uses into the stretches. */
static void widen(const struct search *s, const struct emu_stage_content *content,
                  enum holders which, struct stretch *list, uint32_t count)
{
    const struct emu_tp_run *run = s->books->shapes.runs;
    uint32_t begin = 0;
    for (uint32_t i = 0; i < count; i++) {
        while (begin - run->first >= run->count)
            run++;
        uint32_t used = shards_used(s, content, run, begin, which);
        list[i].used = used > list[i].used ? used : list[i].used;
        begin = list[i].end;
    }
}

static uint32_t most_used(const struct stretch *list, uint32_t count)
{
    uint32_t most = 0;
    for (uint32_t i = 0; i < count; i++)
        most = list[i].used > most ? list[i].used : most;
    return most;
}

/* Sum over blocks of tp coordinates that share a node: each counts with its most shards. */
static uint64_t count_over_tp(const struct search *s, const struct stretch *list, uint32_t count)
{
    uint64_t sum = 0;
    uint32_t block = s->cells > 1 ? s->cut.tp : 1;
    uint32_t at = 0; /* a multiple of block, as the end of the last stretch is */
    for (uint32_t i = 0; i < count;) {
        uint32_t whole = (list[i].end - at) / block;
        sum += whole * shard_places(s, list[i].used);
        at += whole * block;
        if (at == list[i].end) {
            i++;
            continue;
        }
        uint32_t most = list[i].used; /* a block that reaches over the end of this stretch */
        while (list[i].end < at + block) {
            i++;
            most = list[i].used > most ? list[i].used : most;
        }
        sum += shard_places(s, most);
        at += block;
        i += list[i].end == at;
    }
    return sum;
}

/* Stages that share a node count together. */
static uint64_t count_sets(const struct search *s)
{
    const struct emu_shapes *shapes = &s->books->shapes;
    struct stretch list[STRETCHES];
    uint32_t count = cut_stretches(s, list);
    uint64_t sum = 0;
    uint64_t begin = 0;
    for (uint32_t stage = 0; stage < shapes->pp; stage++) {
        struct emu_stage_content content = emu_stage_content_of(shapes, stage, begin);
        begin += content.early + content.late;
        widen(s, &content, HELD_ONCE, list, count);
        if ((stage + 1) % s->cut.pp == 0) {
            sum += count_over_tp(s, list, count);
            for (uint32_t i = 0; i < count; i++)
                list[i].used = 0;
        }
    }
    return sum;
}

/* Members of one group over the axis in a node; false with the reason: not regular. */
static bool cut_axis(const struct emu_mesh *mesh, uint32_t axis, uint32_t node_size,
                     struct emu_text *error, uint32_t *inside)
{
    const struct emu_axis *a = &mesh->axes[axis];
    *inside = emu_node_inside(a->size, a->stride, node_size);
    if (*inside)
        return true;
    emu_text_printf(error,
                    "nodes of %" PRIu32 " ranks cut the groups over %s unevenly; allowed are sizes "
                    "that end between two axes or divide one evenly, such as %" PRIu32,
                    node_size, a->name, a->stride);
    return false;
}

static bool cut_mesh(const struct emu_mesh *mesh, uint32_t node_size, struct emu_text *error,
                     struct cut *cut)
{
    static const char *const names[] = {"tp", "pp", "dp", "cp"};
    uint32_t *const places[] = {&cut->tp, &cut->pp, &cut->dp, &cut->cp};
    *cut = (struct cut){1, 1, 1, 1};
    if (node_size == 1)
        return true;
    if (mesh->rank_at) {
        emu_text_puts(error, "nodes are consecutive ranks, and this mesh arranges its ranks "
                             "explicitly; only single ranks can be lost here");
        return false;
    }
    for (uint32_t i = 0; i < mesh->axis_count; i++) {
        uint32_t inside;
        if (!cut_axis(mesh, i, node_size, error, &inside))
            return false;
        for (int k = 0; k < 4; k++)
            if (!strcmp(mesh->axes[i].name, names[k]))
                *places[k] = inside;
    }
    return true;
}

/* In a stage a tensor that more ranks hold reaches into shards that nothing else uses. */
static bool copies_decide(const struct search *s, const struct emu_stage_content *content)
{
    struct stretch once[STRETCHES];
    struct stretch more[STRETCHES];
    uint32_t count = cut_stretches(s, once);
    cut_stretches(s, more);
    widen(s, content, HELD_ONCE, once, count);
    widen(s, content, HELD_MORE, more, count);
    return most_used(more, count) > most_used(once, count);
}

/* On some tp coordinate a tied table reaches into shards that nothing else uses on either end. */
static bool table_decides(const struct search *s, const struct emu_stage_content *first,
                          const struct emu_stage_content *last)
{
    struct stretch once[STRETCHES];
    struct stretch table[STRETCHES];
    uint32_t count = cut_stretches(s, once);
    cut_stretches(s, table);
    widen(s, first, HELD_ONCE, once, count);
    widen(s, last, HELD_ONCE, once, count);
    widen(s, first, HELD_AT_ENDS, table, count);
    for (uint32_t i = 0; i < count; i++) {
        if (table[i].used > once[i].used)
            return true;
    }
    return false;
}

/* The formula is for sets of one size. In models of a few elements, tensors that are held more
 * often can make sets of their own, which are larger. */
static bool sizes_differ(const struct search *s, struct emu_text *error)
{
    const struct emu_shapes *shapes = &s->books->shapes;
    struct emu_stage_content first = {0};
    struct emu_stage_content content = {0};
    bool differ = false;
    uint64_t begin = 0;
    for (uint32_t stage = 0; stage < shapes->pp && !differ; stage++) {
        content = emu_stage_content_of(shapes, stage, begin);
        begin += content.early + content.late;
        first = stage ? first : content;
        differ = copies_decide(s, &content);
    }
    differ = differ || table_decides(s, &first, &content);
    if (differ)
        emu_text_puts(error, "some elements of a tied table, or of a tensor that tp copies, share "
                             "their holders with nothing else, so killing sets are of two sizes, "
                             "which is not counted; fewer shards, fewer tp ranks or an untied "
                             "table avoid it");
    return differ;
}

/* The axes over which the first set's holders differ. */
static struct emu_axes copy_axes(const struct search *s)
{
    const struct emu_mesh *mesh = &s->books->shapes.config->mesh;
    const struct emu_optimizer_config *optimizer = &s->books->shapes.config->optimizer;
    struct emu_axes axes = {0};
    for (uint32_t i = 0; i < mesh->axis_count; i++) {
        const char *name = mesh->axes[i].name;
        bool fixed = !strcmp(name, "pp") || (!strcmp(name, "tp") && s->cells > 1) ||
                     (!strcmp(name, "dp") && s->sharded && optimizer->over_dp) ||
                     (!strcmp(name, "cp") && s->sharded && optimizer->over_cp);
        if (!fixed)
            axes.index[axes.count++] = (uint8_t)i;
    }
    return axes;
}

/* Units of the first set, and the first of them in order of the mesh. */
static uint32_t first_set(const struct search *s, uint32_t node_size, uint64_t *per_set,
                          uint32_t shown[EMU_KILLING_SHOWN])
{
    const struct emu_mesh *mesh = &s->books->shapes.config->mesh;
    struct emu_axes axes = copy_axes(s);
    struct emu_group group = emu_group_nth(mesh, &axes, 0);
    uint32_t together = 1; /* members on one node */
    uint32_t count = 0;
    for (uint32_t i = 0; i < axes.count && node_size > 1; i++) {
        const struct emu_axis *a = &mesh->axes[axes.index[i]];
        together *= emu_node_inside(a->size, a->stride, node_size);
    }
    *per_set = group.size / together;
    while (count < EMU_KILLING_SHOWN && count < *per_set) { /* those of one node are neighbours */
        shown[count] = emu_group_member(&group, count * together) / node_size;
        count++;
    }
    return count;
}

enum emu_status emu_survival_find(const struct emu_books *books, uint32_t node_size,
                                  struct emu_text *error, struct emu_survival *survival)
{
    const struct emu_shapes *shapes = &books->shapes;
    enum emu_optimizer_shard level = shapes->config->optimizer.shard;
    struct emu_survival made = {.node_size = node_size};
    struct search s = {.books = books};
    s.cells = shapes->config->model.kind == EMU_MODEL_LINEAR ? 1 : shapes->tp;
    if (!cut_mesh(&shapes->config->mesh, node_size, error, &s.cut))
        return EMU_EUNSUPPORTED;
    for (int part = 0; part < EMU_STATE_COUNT; part++) {
        s.sharded = level >= (part == EMU_STATE_WEIGHTS ? EMU_ZERO3 : EMU_ZERO1);
        s.shard = s.sharded ? shapes->shard : 1;
        if (sizes_differ(&s, error))
            return EMU_EUNSUPPORTED;
        made.sets[part].sets = count_sets(&s);
        made.sets[part].units = shapes->world / node_size;
        made.shown[part] = first_set(&s, node_size, &made.sets[part].per_set, made.killing[part]);
    }
    *survival = made;
    return EMU_OK;
}

uint64_t emu_survival_capacity(const struct emu_books *books, uint64_t units, uint64_t lost)
{
    emu_u128 state = emu_holding_state(&books->aggregate);
    return (uint64_t)(state * (units - lost) / units);
}
