#include "account/books.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

/* Elements by cause, of one copy of the mesh's data-parallel part: all stages and tp ranks. */
struct tally {
    emu_u128 vocabulary, tied, kv, tp, shards;
    emu_u128 held; /* by all stages and tp ranks together */
};

/* One shape, held by `stages` stages and `times` times over all of them. */
static void count_shape(const struct emu_shapes *shapes, const struct emu_shape *shape,
                        uint64_t times, uint32_t stages, struct tally *tally)
{
    emu_u128 many = (emu_u128)shape->repeat * times; /* below 2^83: repeat * times fits in books */
    emu_u128 copies = shapes->tp / shape->pieces - 1;
    emu_u128 extra = emu_exact_mul(emu_exact_mul(shape->padded, many), copies * stages);
    bool zero3 = shapes->config->optimizer.shard == EMU_ZERO3;
    tally->vocabulary =
        emu_exact_add(tally->vocabulary, emu_exact_mul(shape->padded - shape->elements, many));
    tally->tied =
        emu_exact_add(tally->tied, emu_exact_mul(emu_exact_mul(shape->padded, many), stages - 1));
    if (shape->split == EMU_SPLIT_HEADS)
        tally->kv = emu_exact_add(tally->kv, extra);
    else
        tally->tp = emu_exact_add(tally->tp, extra);
    for (uint32_t r = 0; r < shapes->run_count; r++) {
        emu_u128 local = emu_shape_local(shape, &shapes->runs[r]);
        emu_u128 padding = emu_exact_ceil(local, shapes->shard) * shapes->shard - local;
        emu_u128 ranks = emu_exact_mul(many, (emu_u128)stages * shapes->runs[r].count);
        if (zero3)
            tally->shards = emu_exact_add(tally->shards, emu_exact_mul(padding, ranks));
        tally->held =
            emu_exact_add(tally->held, emu_exact_mul(local + (zero3 ? padding : 0), ranks));
    }
}

static void put(struct emu_books *books, emu_u128 elements, const char *name, const char *end)
{
    if (!elements)
        return;
    assert(books->cause_count < EMU_CAUSES_MOST);
    struct emu_cause *cause = &books->causes[books->cause_count++];
    snprintf(cause->name, sizeof cause->name, "%s%s", name, end);
    cause->elements = (uint64_t)elements;
}

/* One axis copies all that stands so far, unless zero3 shards over it. */
static void copy_over(struct emu_books *books, const struct emu_axis *axis, emu_u128 *so_far)
{
    const struct emu_optimizer_config *optimizer = &books->shapes.config->optimizer;
    bool shards = (!strcmp(axis->name, "dp") && optimizer->over_dp) ||
                  (!strcmp(axis->name, "cp") && optimizer->over_cp);
    if (optimizer->shard == EMU_ZERO3 && shards)
        return;
    put(books, *so_far * (axis->size - 1), axis->name, "_copies");
    *so_far *= axis->size;
}

static void copy_over_axes(struct emu_books *books, emu_u128 held)
{
    static const char *const own[] = {"dp", "cp", "tp", "pp"};
    const struct emu_mesh *mesh = &books->shapes.config->mesh;
    for (int i = 0; i < 2; i++) {
        int axis = emu_mesh_find(mesh, own[i]);
        if (axis >= 0)
            copy_over(books, &mesh->axes[axis], &held);
    }
    for (uint32_t i = 0; i < mesh->axis_count; i++) {
        bool known = false;
        for (int k = 0; k < 4; k++)
            known = known || !strcmp(mesh->axes[i].name, own[k]);
        if (!known)
            copy_over(books, &mesh->axes[i], &held);
    }
}

bool emu_causes_find(struct emu_books *books)
{
    const struct emu_shapes *shapes = &books->shapes;
    const uint64_t times[EMU_PART_COUNT] = {1, shapes->early, shapes->layers - shapes->early, 1};
    struct tally tally = {0};
    for (unsigned kind = 0; kind < EMU_PART_COUNT; kind++) {
        const struct emu_part *part = &shapes->parts[kind];
        for (uint32_t i = 0; i < part->count && times[kind]; i++)
            count_shape(shapes, &part->shapes[i], times[kind], part->shapes[i].tied ? 2 : 1,
                        &tally);
    }
    if (!emu_exact_fits(tally.held)) /* each cause is a part of it, or of the aggregate */
        return false;
    put(books, tally.vocabulary, "vocab_padding", "");
    put(books, tally.tied, "tied_table", "");
    put(books, tally.kv, "kv_copies", "");
    put(books, tally.tp, "tp_copies", "");
    put(books, tally.shards, "shard_padding", "");
    copy_over_axes(books, tally.held);
    return true;
}
