#include "account/claim.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char *const names[EMU_BOOK_CATEGORIES] = {"weights", "gradients", "master", "moments",
                                                       "activations"};

/* From which level on the category is sharded. */
static const enum emu_optimizer_shard sharded_from[] = {EMU_ZERO3, EMU_ZERO2, EMU_ZERO1, EMU_ZERO1};

static uint64_t bytes_of(const struct emu_holding *holding, int category)
{
    const uint64_t bytes[EMU_BOOK_CATEGORIES] = {holding->weight, holding->gradient,
                                                 holding->master, holding->moments,
                                                 holding->activations};
    return bytes[category];
}

static uint64_t element_bytes(const struct emu_shapes *shapes, int category)
{
    const uint64_t bytes[] = {shapes->bytes.weight, shapes->bytes.gradient, shapes->bytes.master,
                              shapes->bytes.moments};
    return bytes[category];
}

void emu_shape_path(const struct emu_shapes *shapes, enum emu_part_kind kind,
                    const struct emu_shape *shape, char *out, size_t room)
{
    uint64_t first = kind == EMU_PART_LATE ? shapes->early : 0;
    uint64_t end = kind == EMU_PART_LATE ? shapes->layers : shapes->early;
    if (kind == EMU_PART_FIRST || kind == EMU_PART_LAST)
        snprintf(out, room, "%s", shape->name);
    else if (end - first == 1)
        snprintf(out, room, "layers.%" PRIu64 ".%s", first, shape->name);
    else
        snprintf(out, room, "layers.%" PRIu64 "-%" PRIu64 ".%s", first, end - 1, shape->name);
}

/* A tensor seen by one category. */
struct view {
    const struct emu_shapes *shapes;
    const struct emu_shape *shape;
    emu_u128 held;   /* elements on a rank of its stage, of the first tp run */
    bool sharded;    /* the category is, over the axes of the shard group */
    bool rounded_up; /* and its shards hold padding */
};

static struct view view_of(const struct emu_shapes *shapes, const struct emu_shape *shape,
                           int category)
{
    struct view view = {.shapes = shapes, .shape = shape};
    emu_u128 local = emu_shape_local(shape, &shapes->runs[0]);
    view.sharded = shapes->config->optimizer.shard >= sharded_from[category];
    uint32_t parts = view.sharded ? shapes->shard : 1;
    view.held = emu_exact_ceil(local, parts);
    view.rounded_up = view.held * parts != local;
    return view;
}

/* Why a rank does not hold 1/size of the tensor along this axis; NULL: it does. */
static const char *fault_of(const struct view *view, const char *axis)
{
    const struct emu_optimizer_config *optimizer = &view->shapes->config->optimizer;
    if (!strcmp(axis, "tp") && view->shape->pieces == 1)
        return "tp copies it";
    if (!strcmp(axis, "tp") && view->shape->pieces < view->shapes->tp)
        return "tp copies its heads";
    if (!strcmp(axis, "tp"))
        return view->shapes->run_count > 1 && view->shape->split == EMU_SPLIT_CHUNKS
                   ? "tp cuts it unevenly"
                   : NULL;
    if (!strcmp(axis, "pp"))
        return view->shape->tied ? "pp holds it on two stages" : "pp holds it on one stage";
    bool divides = view->sharded && ((!strcmp(axis, "dp") && optimizer->over_dp) ||
                                     (!strcmp(axis, "cp") && optimizer->over_cp));
    if (!divides)
        return "this axis only copies";
    return view->rounded_up ? "its shards are rounded up" : NULL;
}

/* Decimal of a number that is a multiple of 1/parts, to two digits. */
static void print_share(char out[32], emu_u128 elements, uint64_t parts)
{
    double share = (double)elements / (double)parts;
    snprintf(out, 32, elements % parts ? "%.2f" : "%.0f", share);
}

static void blame(struct emu_claim *claim, const struct view *view, const char *axis,
                  const char *fault)
{
    char share[32];
    print_share(share, view->shape->elements, view->shapes->world);
    claim->refuted = true;
    snprintf(claim->axis, sizeof claim->axis, "%s", axis);
    snprintf(claim->why, sizeof claim->why,
             "%s along %s: of %" PRIu64 " elements a rank holds %" PRIu64 ", not %s; %s",
             claim->tensor, *axis ? axis : "no axis", (uint64_t)view->shape->elements,
             (uint64_t)view->held, share, fault);
}

static bool judge_shape(struct emu_claim *claim, const struct view *view)
{
    const struct emu_mesh *mesh = &view->shapes->config->mesh;
    for (uint32_t i = 0; i < mesh->axis_count; i++) {
        const char *fault = mesh->axes[i].size > 1 ? fault_of(view, mesh->axes[i].name) : NULL;
        if (!fault)
            continue;
        blame(claim, view, mesh->axes[i].name, fault);
        return true;
    }
    if (view->shape->padded == view->shape->elements)
        return false;
    blame(claim, view, view->shapes->tp > 1 ? "tp" : "", "the vocabulary is padded");
    return true;
}

void emu_claim_judge_weight(const struct emu_shapes *shapes, const struct emu_shape *shape,
                            struct emu_claim *claim)
{
    struct view view = view_of(shapes, shape, EMU_BOOK_WEIGHTS);
    (void)judge_shape(claim, &view);
}

static void judge_tensors(struct emu_claim *claim, const struct emu_shapes *shapes, int category)
{
    const uint64_t times[EMU_PART_COUNT] = {1, shapes->early, shapes->layers - shapes->early, 1};
    for (unsigned kind = 0; kind < EMU_PART_COUNT; kind++) {
        const struct emu_part *part = &shapes->parts[kind];
        for (uint32_t i = 0; i < part->count && times[kind]; i++) {
            struct view view = view_of(shapes, &part->shapes[i], category);
            emu_shape_path(shapes, kind, view.shape, claim->tensor, sizeof claim->tensor);
            if (judge_shape(claim, &view))
                return;
        }
    }
    claim->tensor[0] = '\0';
}

static const char *activation_fault(const struct emu_shapes *shapes, const char *axis)
{
    const struct emu_config *config = shapes->config;
    bool full = config->recompute == EMU_RECOMPUTE_FULL;
    if (!strcmp(axis, "tp") && !config->sequence_parallel)
        return "tp copies the inputs of norms and matrices; sequence_parallel would split them";
    if (!strcmp(axis, "tp"))
        return config->model.kv_heads < shapes->tp && !full ? "tp copies k and v heads" : NULL;
    if (!strcmp(axis, "pp"))
        return "stages hold unequal numbers of layers or microbatches in flight";
    if (!strcmp(axis, "dp") || !strcmp(axis, "cp"))
        return NULL;
    return "this axis only copies";
}

static void judge_activations(struct emu_claim *claim, const struct emu_shapes *shapes)
{
    const struct emu_mesh *mesh = &shapes->config->mesh;
    for (uint32_t i = 0; i < mesh->axis_count && claim->unique; i++) {
        const char *axis = mesh->axes[i].name;
        const char *fault = mesh->axes[i].size > 1 ? activation_fault(shapes, axis) : NULL;
        if (!fault || (!strcmp(axis, "pp") && claim->largest == claim->smallest))
            continue;
        claim->refuted = true;
        snprintf(claim->tensor, sizeof claim->tensor, "activations of a layer");
        snprintf(claim->axis, sizeof claim->axis, "%s", axis);
        snprintf(claim->why, sizeof claim->why, "%s along %s: %s", claim->tensor, axis, fault);
        return;
    }
}

static void find_extremes(struct emu_claim *claim, const struct emu_books *books, int category)
{
    for (size_t i = 0; i < books->classes.count; i++) {
        uint64_t bytes = bytes_of(&books->rows[i], category);
        uint32_t rank = books->classes.items[i].rank;
        if (i == 0 || bytes > claim->largest) {
            claim->largest = bytes;
            claim->largest_rank = rank;
        }
        if (i == 0 || bytes < claim->smallest) {
            claim->smallest = bytes;
            claim->smallest_rank = rank;
        }
    }
}

bool emu_claims_make(const struct emu_books *books, struct emu_claim claims[EMU_BOOK_CATEGORIES])
{
    const struct emu_shapes *shapes = &books->shapes;
    for (int category = 0; category < EMU_BOOK_CATEGORIES; category++) {
        struct emu_claim claim = {.name = names[category]};
        claim.aggregate = bytes_of(&books->aggregate, category);
        find_extremes(&claim, books, category);
        if (category == EMU_BOOK_ACTIVATIONS) {
            if (!emu_activations_unique(books, &claim.unique))
                return false;
            judge_activations(&claim, shapes);
        } else {
            claim.unique = books->unique_elements * element_bytes(shapes, category);
            if (claim.unique)
                judge_tensors(&claim, shapes, category);
        }
        claim.claimed = (double)claim.unique / shapes->world;
        claims[category] = claim;
    }
    return true;
}
