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

/* mlp_lm: on tp coordinates without hidden entries the table alone may be real, up to here. */
static uint32_t real_rows(const struct emu_shapes *shapes)
{
    const struct emu_shape *table = &shapes->parts[EMU_PART_FIRST].shapes[0];
    emu_u128 slice = table->padded / table->pieces;
    return slice ? (uint32_t)emu_exact_ceil(table->elements, slice) : 0;
}

/* Of a tensor's shards those that hold more than padding, the most over all tensors that decide. */
static uint32_t shards_used(const struct search *s, const struct emu_rank_class *class)
{
    uint32_t most = 0;
    for (int kind = 0; kind < EMU_PART_COUNT; kind++) {
        const struct emu_part *part = &s->books->shapes.parts[kind];
        for (uint32_t i = 0; i < part->count; i++) {
            const struct emu_shape *shape = &part->shapes[i];
            emu_u128 local = emu_shape_local(shape, &class->run);
            if (!local || !emu_stage_holds(&class->content, kind, shape) ||
                (s->cells > 1 && shape->pieces != s->cells))
                continue;
            emu_u128 used = emu_exact_ceil(local, emu_exact_ceil(local, s->shard));
            most = used > most ? (uint32_t)used : most;
        }
    }
    return most;
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

#define STRETCHES (EMU_TP_RUNS_MOST + 1)

/* Take what this kind of stage uses into the stretches, whose ends are the same for all stages. */
static uint32_t widen(const struct search *s, const struct emu_stage_content *content,
                      struct stretch list[STRETCHES])
{
    const struct emu_shapes *shapes = &s->books->shapes;
    struct emu_rank_class probe = {.content = *content};
    uint32_t count = 0;
    for (uint32_t r = 0; r < shapes->run_count; r++) {
        probe.run = shapes->runs[r];
        uint32_t end = s->cells == 1 ? 1 : probe.run.first + probe.run.count;
        uint32_t used = shards_used(s, &probe);
        bool empty = shapes->config->model.kind == EMU_MODEL_MLP_LM && !probe.run.width;
        uint32_t real = empty ? real_rows(shapes) : end;
        if (real > probe.run.first) {
            list[count].end = real < end ? real : end;
            list[count].used = used > list[count].used ? used : list[count].used;
            count++;
        }
        if (real < end)
            list[count++].end = end;
    }
    return count;
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
    struct stretch list[STRETCHES] = {{0}};
    uint64_t sum = 0;
    uint64_t begin = 0;
    for (uint32_t stage = 0; stage < shapes->pp; stage++) {
        struct emu_stage_content content = emu_stage_content_of(shapes, stage, begin);
        begin += content.early + content.late;
        uint32_t count = widen(s, &content, list);
        if ((stage + 1) % s->cut.pp == 0) {
            sum += count_over_tp(s, list, count);
            memset(list, 0, sizeof list);
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
