#include "account/shapes.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>

struct emu_shape *emu_part_add(struct emu_part *part, const char *name, enum emu_split split,
                               emu_u128 elements)
{
    assert(part->count < EMU_PART_MOST);
    struct emu_shape *shape = &part->shapes[part->count++];
    *shape = (struct emu_shape){
        .elements = elements, .padded = elements, .repeat = 1, .pieces = 1, .split = split};
    snprintf(shape->name, sizeof shape->name, "%s", name);
    return shape;
}

emu_u128 emu_vocabulary_round(uint64_t vocabulary, uint64_t multiple, uint32_t tp)
{
    emu_u128 step = (emu_u128)multiple * tp;
    return emu_exact_ceil(vocabulary, step) * step; /* below 2^64 + 2^95 */
}

emu_u128 emu_shape_local(const struct emu_shape *shape, const struct emu_tp_run *run)
{
    if (shape->split == EMU_SPLIT_CHUNKS)
        return (emu_u128)shape->unit * run->width;
    return shape->padded / shape->pieces;
}

static void take_bytes(struct emu_shapes *shapes)
{
    const struct emu_config *config = shapes->config;
    if (config->precision.given) {
        shapes->bytes.weight = config->precision.weight;
        shapes->bytes.gradient = config->precision.gradient;
        shapes->bytes.master = config->precision.master;
        shapes->bytes.moments = config->precision.moments;
        return;
    }
    uint64_t size = config->arithmetic == EMU_ARITH_F32 ? 4 : 8;
    uint64_t arrays = config->optimizer.kind == EMU_ADAMW      ? 2
                      : config->optimizer.kind == EMU_MOMENTUM ? 1
                                                               : 0;
    shapes->bytes.weight = shapes->bytes.gradient = size;
    shapes->bytes.moments = arrays * size;
}

static void take_mesh(struct emu_shapes *shapes)
{
    const struct emu_config *config = shapes->config;
    shapes->dp = emu_mesh_size(&config->mesh, "dp");
    shapes->tp = emu_mesh_size(&config->mesh, "tp");
    shapes->cp = emu_mesh_size(&config->mesh, "cp");
    shapes->pp = emu_mesh_size(&config->mesh, "pp");
    shapes->world = config->mesh.world;
    shapes->shard = (config->optimizer.over_dp ? shapes->dp : 1) *
                    (config->optimizer.over_cp ? shapes->cp : 1); /* both divide the world */
    shapes->runs[0] = (struct emu_tp_run){.first = 0, .count = shapes->tp};
    shapes->run_count = 1;
}

static void check_stages(const struct emu_shapes *shapes, struct emu_text *diagnostics)
{
    const struct emu_config *config = shapes->config;
    if (config->model.kind == EMU_MODEL_LINEAR || shapes->layers >= shapes->pp)
        return;
    emu_config_complain(config, diagnostics, "model.layers",
                        "%" PRIu64 " layers cannot fill %" PRIu32
                        " stages: at most as many stages as layers are allowed; make pp smaller",
                        shapes->layers, shapes->pp);
}

/* Every tensor and all of one kind together must fit, so that sums of them cannot overflow. */
static bool part_fits(const struct emu_part *part, uint64_t times)
{
    for (uint32_t i = 0; i < part->count; i++) {
        const struct emu_shape *shape = &part->shapes[i];
        emu_u128 all = emu_exact_mul(emu_exact_mul(shape->padded, shape->repeat), times);
        if (!emu_exact_fits(shape->padded) || !emu_exact_fits(all))
            return false;
    }
    return true;
}

static void check_size(const struct emu_shapes *shapes, struct emu_text *diagnostics)
{
    const uint64_t times[EMU_PART_COUNT] = {1, shapes->early, shapes->layers - shapes->early, 1};
    for (unsigned kind = 0; kind < EMU_PART_COUNT; kind++) {
        if (part_fits(&shapes->parts[kind], times[kind]))
            continue;
        emu_config_complain(shapes->config, diagnostics, "model",
                            "the model has more elements than can be counted exactly: at most "
                            "2^63-1 are allowed");
        return;
    }
}

enum emu_status emu_shapes_make(const struct emu_config *config, struct emu_text *diagnostics,
                                struct emu_shapes *shapes)
{
    assert(config->has_mesh && config->has_model);
    size_t before = diagnostics->size;
    struct emu_shapes made = {.config = config};
    take_mesh(&made);
    take_bytes(&made);
    if (config->model.kind == EMU_MODEL_LINEAR) {
        emu_part_add(&made.parts[EMU_PART_FIRST], "w", EMU_SPLIT_COPIED, config->model.features);
    } else {
        made.layers = config->model.layers;
        check_stages(&made, diagnostics);
        if (config->model.kind == EMU_MODEL_TRANSFORMER)
            emu_shapes_transformer(&made, diagnostics);
        else
            emu_shapes_mlp_lm(&made);
    }
    check_size(&made, diagnostics);
    if (diagnostics->failed)
        return EMU_ENOMEM;
    if (diagnostics->size != before)
        return EMU_EPARSE;
    *shapes = made;
    return EMU_OK;
}
