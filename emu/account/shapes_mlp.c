#include "account/shapes.h"

#define BYTES 256 /* the vocabulary */

/* The chunk rule over tp: full slices, at most one short one, then empty ones. */
static void cut_hidden(struct emu_shapes *shapes)
{
    uint64_t hidden = shapes->config->model.hidden;
    uint64_t width = (uint64_t)emu_exact_ceil(hidden, shapes->tp);
    uint32_t full = (uint32_t)(hidden / width); /* width >= hidden/tp, so at most tp */
    uint64_t rest = hidden % width;
    uint32_t next = full;
    shapes->run_count = 0;
    shapes->runs[shapes->run_count++] = (struct emu_tp_run){0, full, width};
    if (rest)
        shapes->runs[shapes->run_count++] = (struct emu_tp_run){next++, 1, rest};
    if (next < shapes->tp)
        shapes->runs[shapes->run_count++] = (struct emu_tp_run){next, shapes->tp - next, 0};
}

static void add_chunks(struct emu_shapes *shapes, struct emu_part *part, const char *name,
                       uint64_t unit)
{
    emu_u128 elements = emu_exact_mul(shapes->config->model.hidden, unit);
    struct emu_shape *shape = emu_part_add(part, name, EMU_SPLIT_CHUNKS, elements);
    shape->unit = unit;
    shape->pieces = shapes->tp;
}

static void add_table(struct emu_shapes *shapes, enum emu_part_kind kind, const char *name)
{
    uint64_t embed = shapes->config->model.embed;
    struct emu_shape *table =
        emu_part_add(&shapes->parts[kind], name, EMU_SPLIT_ROWS, emu_exact_mul(BYTES, embed));
    table->padded = emu_exact_mul(emu_vocabulary_round(BYTES, 1, shapes->tp), embed);
    table->pieces = shapes->tp;
    table->tied = shapes->config->model.tie_embeddings && shapes->pp > 1;
}

/* wide: elements that the layer reads for each token. */
static void add_layer(struct emu_shapes *shapes, enum emu_part_kind kind, uint64_t wide)
{
    const struct emu_model_config *model = &shapes->config->model;
    struct emu_part *part = &shapes->parts[kind];
    if (model->norm != EMU_NORM_NONE)
        emu_part_add(part, "norm.weight", EMU_SPLIT_COPIED, wide);
    add_chunks(shapes, part, "up.weight", wide);
    add_chunks(shapes, part, "up.bias", 1);
    add_chunks(shapes, part, "down.weight", model->embed);
    emu_part_add(part, "down.bias", EMU_SPLIT_COPIED, model->embed);
}

void emu_shapes_mlp_lm(struct emu_shapes *shapes)
{
    const struct emu_model_config *model = &shapes->config->model;
    emu_u128 context = emu_exact_mul(model->context, model->embed);
    cut_hidden(shapes);
    add_table(shapes, EMU_PART_FIRST, "embed.weight");
    shapes->early = 1;
    /* A width that does not fit is kept too large; the check of sizes then refuses the model. */
    add_layer(shapes, EMU_PART_EARLY, context > UINT64_MAX ? UINT64_MAX : (uint64_t)context);
    add_layer(shapes, EMU_PART_LATE, model->embed);
    if (!model->tie_embeddings)
        add_table(shapes, EMU_PART_LAST, "head.weight");
}
