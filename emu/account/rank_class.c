#include "account/rank_class.h"

#include <stdlib.h>
#include <string.h>

/* Layers of a stage; begin is known from the stages before. */
static uint64_t layers_of(const struct emu_shapes *shapes, uint32_t stage)
{
    const struct emu_model_config *model = &shapes->config->model;
    if (model->stage_count)
        return model->stages[stage];
    return emu_slice_even(shapes->layers, shapes->pp, stage).count;
}

struct emu_stage_content emu_stage_content_of(const struct emu_shapes *shapes, uint32_t stage,
                                              uint64_t begin)
{
    uint64_t layers = layers_of(shapes, stage);
    uint64_t early = begin >= shapes->early            ? 0
                     : shapes->early - begin >= layers ? layers
                                                       : shapes->early - begin;
    uint64_t micro = shapes->config->batch.microbatches;
    uint64_t ahead = shapes->pp - stage;          /* 1F1B without interleaving */
    if (!emu_activations_counted(shapes->config)) /* nothing to tell stages apart by */
        ahead = 0;
    return (struct emu_stage_content){.early = early,
                                      .late = layers - early,
                                      .in_flight = micro < ahead ? micro : ahead,
                                      .first = stage == 0,
                                      .last = stage == shapes->pp - 1};
}

static bool alike(const struct emu_stage_content *a, const struct emu_stage_content *b)
{
    return a->early == b->early && a->late == b->late && a->in_flight == b->in_flight &&
           a->first == b->first && a->last == b->last;
}

static int by_number(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

/* Equal contents side by side, lower stages first. */
static int by_content(const void *left, const void *right)
{
    const struct emu_rank_class *a = left;
    const struct emu_rank_class *b = right;
    int order = by_number(a->content.in_flight, b->content.in_flight);
    order = order ? order : by_number(a->content.early, b->content.early);
    order = order ? order : by_number(a->content.late, b->content.late);
    order = order ? order : (int)a->content.first - (int)b->content.first;
    order = order ? order : (int)a->content.last - (int)b->content.last;
    return order ? order : by_number(a->stage, b->stage);
}

static int by_place(const void *left, const void *right)
{
    const struct emu_rank_class *a = left;
    const struct emu_rank_class *b = right;
    int order = by_number(a->stage, b->stage);
    return order ? order : by_number(a->run.first, b->run.first);
}

/* Room for one more stage kind and its runs of tp. */
static bool grow(struct emu_rank_classes *list, size_t *room)
{
    if (list->count < *room)
        return true;
    size_t wider = *room ? *room * 2 : 16;
    struct emu_rank_class *items = realloc(list->items, wider * sizeof *items);
    if (!items)
        return false;
    list->items = items;
    *room = wider;
    return true;
}

/* One entry for each run of equal stages. */
static bool list_stages(const struct emu_shapes *shapes, struct emu_rank_classes *list)
{
    size_t room = 0;
    uint64_t begin = 0;
    for (uint32_t stage = 0; stage < shapes->pp; stage++) {
        struct emu_stage_content content = emu_stage_content_of(shapes, stage, begin);
        begin += content.early + content.late;
        if (list->count && alike(&list->items[list->count - 1].content, &content)) {
            list->items[list->count - 1].stages++;
            continue;
        }
        if (!grow(list, &room))
            return false;
        list->items[list->count++] =
            (struct emu_rank_class){.content = content, .stage = stage, .stages = 1};
    }
    return true;
}

static void merge_alike(struct emu_rank_classes *list)
{
    qsort(list->items, list->count, sizeof *list->items, by_content);
    size_t kept = 0;
    for (size_t i = 1; i < list->count; i++) {
        if (alike(&list->items[kept].content, &list->items[i].content))
            list->items[kept].stages += list->items[i].stages;
        else
            list->items[++kept] = list->items[i];
    }
    list->count = kept + 1;
}

static uint32_t rank_at(const struct emu_shapes *shapes, uint32_t stage, uint32_t tp)
{
    const struct emu_mesh *mesh = &shapes->config->mesh;
    uint32_t coords[EMU_MESH_MAX_AXES] = {0};
    int pp_axis = emu_mesh_find(mesh, "pp");
    int tp_axis = emu_mesh_find(mesh, "tp");
    if (pp_axis >= 0)
        coords[pp_axis] = stage;
    if (tp_axis >= 0)
        coords[tp_axis] = tp;
    return emu_mesh_rank(mesh, coords);
}

/* Each kind of stage becomes one class for each run of tp. */
static bool spread_over_tp(const struct emu_shapes *shapes, struct emu_rank_classes *list)
{
    size_t runs = shapes->run_count;
    struct emu_rank_class *items = calloc(list->count * runs, sizeof *items);
    if (!items)
        return false;
    for (size_t i = 0; i < list->count * runs; i++) {
        items[i] = list->items[i / runs];
        items[i].run = shapes->runs[i % runs];
        items[i].rank = rank_at(shapes, items[i].stage, items[i].run.first);
        items[i].count =
            shapes->world / shapes->pp / shapes->tp * items[i].stages * items[i].run.count;
    }
    free(list->items);
    list->items = items;
    list->count *= runs;
    qsort(list->items, list->count, sizeof *list->items, by_place);
    return true;
}

enum emu_status emu_rank_classes_make(const struct emu_shapes *shapes,
                                      struct emu_rank_classes *classes)
{
    struct emu_rank_classes made = {0};
    bool good = list_stages(shapes, &made);
    if (good) {
        merge_alike(&made);
        good = spread_over_tp(shapes, &made);
    }
    if (!good) {
        emu_rank_classes_finish(&made);
        return EMU_ENOMEM;
    }
    *classes = made;
    return EMU_OK;
}

void emu_rank_classes_finish(struct emu_rank_classes *classes)
{
    free(classes->items);
    *classes = (struct emu_rank_classes){0};
}

static uint64_t begin_of(const struct emu_shapes *shapes, uint32_t stage)
{
    if (!shapes->config->model.stage_count)
        return emu_slice_even(shapes->layers, shapes->pp, stage).start;
    uint64_t begin = 0;
    for (uint32_t i = 0; i < stage; i++)
        begin += shapes->config->model.stages[i];
    return begin;
}

struct emu_rank_class emu_rank_class_of(const struct emu_shapes *shapes, uint32_t rank)
{
    const struct emu_mesh *mesh = &shapes->config->mesh;
    uint32_t stage = emu_mesh_coord(mesh, rank, "pp");
    uint32_t tp = emu_mesh_coord(mesh, rank, "tp");
    uint32_t run = 0;
    while (tp - shapes->runs[run].first >= shapes->runs[run].count)
        run++;
    return (struct emu_rank_class){.content =
                                       emu_stage_content_of(shapes, stage, begin_of(shapes, stage)),
                                   .run = shapes->runs[run],
                                   .stage = stage,
                                   .stages = 1,
                                   .rank = rank,
                                   .count = 1};
}

uint64_t emu_stage_holds(const struct emu_stage_content *content, enum emu_part_kind kind,
                         const struct emu_shape *shape)
{
    switch (kind) {
    case EMU_PART_FIRST:
        return content->first || (content->last && shape->tied);
    case EMU_PART_EARLY:
        return content->early;
    case EMU_PART_LATE:
        return content->late;
    case EMU_PART_LAST:
        return content->last;
    default:
        return 0;
    }
}
