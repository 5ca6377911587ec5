#include "account/books.h"

#include <stdlib.h>

emu_u128 emu_elements_of(const struct emu_shapes *shapes, const struct emu_rank_class *class,
                         uint32_t shard)
{
    emu_u128 sum = 0;
    for (unsigned kind = 0; kind < EMU_PART_COUNT; kind++) {
        const struct emu_part *part = &shapes->parts[kind];
        for (uint32_t i = 0; i < part->count; i++) {
            const struct emu_shape *shape = &part->shapes[i];
            emu_u128 each = emu_exact_ceil(emu_shape_local(shape, &class->run), shard);
            uint64_t times = emu_stage_holds(&class->content, kind, shape);
            sum = emu_exact_add(sum, emu_exact_mul(emu_exact_mul(each, shape->repeat), times));
        }
    }
    return sum;
}

uint64_t emu_holding_state(const struct emu_holding *holding)
{
    return holding->weight + holding->gradient + holding->master + holding->moments;
}

bool emu_holding_of(const struct emu_shapes *shapes, const struct emu_rank_class *class,
                    struct emu_holding *holding)
{
    enum emu_optimizer_shard level = shapes->config->optimizer.shard;
    emu_u128 whole = emu_elements_of(shapes, class, 1);
    emu_u128 cut = emu_elements_of(shapes, class, shapes->shard);
    struct emu_holding made;
    if (!emu_exact_fits(whole) || !emu_activations_of(shapes, class, &made.activations) ||
        !emu_traffic_of(shapes, class, &made.traffic))
        return false;
    emu_u128 weight = (level >= EMU_ZERO3 ? cut : whole) * shapes->bytes.weight;
    emu_u128 gradient = (level >= EMU_ZERO2 ? cut : whole) * shapes->bytes.gradient;
    emu_u128 master = (level >= EMU_ZERO1 ? cut : whole) * shapes->bytes.master;
    emu_u128 moments = (level >= EMU_ZERO1 ? cut : whole) * shapes->bytes.moments;
    emu_u128 total = weight + gradient + master + moments + made.activations;
    if (!emu_exact_fits(total))
        return false;
    made.elements = (uint64_t)(level >= EMU_ZERO3 ? cut : whole);
    made.weight = (uint64_t)weight;
    made.gradient = (uint64_t)gradient;
    made.master = (uint64_t)master;
    made.moments = (uint64_t)moments;
    made.total = (uint64_t)total;
    *holding = made;
    return true;
}

static bool add_times(uint64_t *sum, uint64_t value, uint32_t times)
{
    emu_u128 wide = (emu_u128)value * times + *sum;
    *sum = (uint64_t)wide;
    return emu_exact_fits(wide);
}

static bool sum_up(struct emu_books *books)
{
    struct emu_holding *all = &books->aggregate;
    for (size_t i = 0; i < books->classes.count; i++) {
        const struct emu_rank_class *class = &books->classes.items[i];
        struct emu_holding *row = &books->rows[i];
        if (!emu_holding_of(&books->shapes, class, row) ||
            !add_times(&all->elements, row->elements, class->count) ||
            !add_times(&all->weight, row->weight, class->count) ||
            !add_times(&all->gradient, row->gradient, class->count) ||
            !add_times(&all->master, row->master, class->count) ||
            !add_times(&all->moments, row->moments, class->count) ||
            !add_times(&all->activations, row->activations, class->count) ||
            !add_times(&all->total, row->total, class->count))
            return false;
    }
    return true;
}

static bool count_unique(struct emu_books *books)
{
    const struct emu_shapes *shapes = &books->shapes;
    const uint64_t times[EMU_PART_COUNT] = {1, shapes->early, shapes->layers - shapes->early, 1};
    emu_u128 sum = 0;
    for (unsigned kind = 0; kind < EMU_PART_COUNT; kind++) {
        const struct emu_part *part = &shapes->parts[kind];
        for (uint32_t i = 0; i < part->count; i++)
            sum = emu_exact_add(
                sum, emu_exact_mul(emu_exact_mul(part->shapes[i].elements, part->shapes[i].repeat),
                                   times[kind]));
    }
    emu_u128 bytes = emu_exact_mul(sum, shapes->bytes.weight + shapes->bytes.gradient +
                                            shapes->bytes.master + shapes->bytes.moments);
    books->unique_elements = (uint64_t)sum;
    books->unique_bytes = (uint64_t)bytes;
    return emu_exact_fits(sum) && emu_exact_fits(bytes);
}

static enum emu_status refuse(struct emu_books *books, struct emu_text *diagnostics)
{
    emu_config_complain(books->shapes.config, diagnostics, "model",
                        "the books of this model on this mesh hold a number above 2^63-1, the "
                        "largest that is counted exactly; make the model or the mesh smaller");
    return EMU_EPARSE;
}

static enum emu_status make(struct emu_books *books, struct emu_text *diagnostics)
{
    enum emu_status status = emu_rank_classes_make(&books->shapes, &books->classes);
    if (status != EMU_OK)
        return status;
    books->rows = calloc(books->classes.count, sizeof *books->rows);
    if (!books->rows)
        return EMU_ENOMEM;
    if (!sum_up(books) || !count_unique(books) || !emu_causes_find(books))
        return refuse(books, diagnostics);
    return EMU_OK;
}

enum emu_status emu_books_make(const struct emu_config *config, struct emu_text *diagnostics,
                               struct emu_books *books)
{
    struct emu_books made = {0};
    enum emu_status status = emu_shapes_make(config, diagnostics, &made.shapes);
    if (status != EMU_OK)
        return status;
    status = make(&made, diagnostics);
    if (status == EMU_OK)
        *books = made;
    else
        emu_books_finish(&made);
    return status;
}

void emu_books_finish(struct emu_books *books)
{
    emu_rank_classes_finish(&books->classes);
    free(books->rows);
    *books = (struct emu_books){0};
}
