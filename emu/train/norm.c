#include "train/norm.h"

#include "comm/rank.h"
#include "train/deviate.h"

#include <math.h>
#include <string.h>

/* Does this rank count the tensor in the norm? Once each: copies at tp 0, a tied table on the first
 * stage; unless the recipe counts what each rank holds. */
static bool counts(const struct emu_trainer *trainer, uint32_t tensor)
{
    if (!trainer->parameters[tensor].held)
        return false;
    if (trainer->plan->recipe.norm != EMU_COUNT_UNIQUE)
        return true;
    bool copy = !emu_tensor_is_shard(trainer->plan, tensor) && trainer->tp_index != 0;
    bool second = emu_tensor_tied(trainer->plan, tensor) && trainer->stage > 0;
    return !copy && !second;
}

/* One sum, or average, of squares over the groups of a family. */
struct fold {
    uint32_t family; /* UINT32_MAX: the rank alone */
    enum emu_op op;
};
#define FOLDS_MAX (1 + EMU_MESH_MAX_AXES)

static bool holds_axis(const struct emu_axes *axes, uint8_t axis)
{
    for (uint32_t i = 0; i < axes->count; i++)
        if (axes->index[i] == axis)
            return true;
    return false;
}

/* Is every axis of the part one of the whole? */
static bool is_part(const struct emu_axes *part, const struct emu_axes *whole)
{
    for (uint32_t i = 0; i < part->count; i++)
        if (!holds_axis(whole, part->index[i]))
            return false;
    return part->count > 0;
}

/* The sum over a family: one call; or, where the step does otherwise over some of its axes, an
 * average there or nothing, and a sum over each of the others. */
static uint32_t folds_of(const struct emu_trainer *trainer, uint32_t family,
                         struct fold folds[FOLDS_MAX])
{
    const struct emu_roster *roster = &trainer->plan->roster;
    uint64_t part;
    folds[0] = (struct fold){family, EMU_SUM};
    if (family == UINT32_MAX)
        return 1;
    const struct emu_axes *axes = &roster->families[family].axes;
    bool averages = emu_deviates(trainer, EMU_DEVIATE_AVERAGE_NORM, 0, 0, &part);
    bool strays = averages || emu_deviates(trainer, EMU_DEVIATE_SKIP_NORM_SUM, 0, 0, &part);
    if (!strays || !is_part(&roster->families[part].axes, axes))
        return 1;
    uint32_t count = 0;
    if (averages)
        folds[count++] = (struct fold){(uint32_t)part, EMU_AVG};
    for (uint32_t i = 0; i < axes->count; i++)
        if (!holds_axis(&roster->families[part].axes, axes->index[i]))
            folds[count++] = (struct fold){1U + axes->index[i], EMU_SUM}; /* an axis: roster.h */
    return count;
}

static enum emu_status carry_out(const struct emu_trainer *trainer, const struct fold *fold,
                                 void *x, uint64_t n, const char *label)
{
    struct emu_call call = {.kind = EMU_ALL_REDUCE,
                            .group = EMU_GROUP_SELF,
                            .count = n,
                            .dtype = trainer->nn.kernels->dtype,
                            .op = fold->op,
                            .input = x,
                            .output = x,
                            .label = label,
                            .file = __FILE__,
                            .line = __LINE__};
    enum emu_status status = EMU_OK;
    if (fold->family != UINT32_MAX)
        status = emu_roster_group_of(&trainer->plan->roster, fold->family,
                                     emu_rank_id(trainer->rank), &call.group);
    return status == EMU_OK ? emu_run_call(trainer->rank, &call) : status;
}

/* Squares summed over a family, in place. */
static enum emu_status sum_over(const struct emu_trainer *trainer, uint32_t family, void *x,
                                uint64_t n, const char *label)
{
    struct fold folds[FOLDS_MAX];
    uint32_t count = folds_of(trainer, family, folds);
    enum emu_status status = EMU_OK;
    for (uint32_t i = 0; i < count && status == EMU_OK; i++)
        status = carry_out(trainer, &folds[i], x, n, label);
    return status;
}

/* The family over which the squares are summed: unique over tp and stages, local over nobody,
 * replicas over all ranks. */
static uint32_t norm_family_of(const struct emu_plan *plan)
{
    switch (plan->recipe.norm) {
    case EMU_COUNT_LOCAL:
        return UINT32_MAX;
    case EMU_COUNT_REPLICAS:
        return 0; /* world */
    case EMU_COUNT_UNIQUE:
        break;
    }
    return plan->norm_family;
}

/* Squares of one chunk. A step that counts padding works on a copy, in a buffer of the length of
 * the longest chunk, with what was in it before behind a shorter one. */
static void square_chunk(const struct emu_trainer *trainer, uint32_t tensor, const void *x,
                         uint64_t n, void *out)
{
    const struct emu_kernels *kernels = trainer->nn.kernels;
    const struct emu_parameter *p = &trainer->parameters[tensor];
    uint64_t most = emu_slice_chunk(p->elements, trainer->plan->norm_parts, 0).count;
    if (n < most && p->fresh != p->gradient &&
        emu_deviates(trainer, EMU_DEVIATE_COUNT_PADDING, tensor, 0, NULL)) {
        if (n > 0)
            memcpy(p->fresh, x, n * kernels->bytes);
        x = p->fresh;
        n = most;
    }
    kernels->sum_squares(out, x, n);
}

/* Squares of one tensor into tensor_squares[i]: by the chunks of the optimizer's group, in order.
 * A scattered gradient gives its own chunk alone. */
static void square(const struct emu_trainer *trainer, uint32_t i, void *out)
{
    const struct emu_kernels *kernels = trainer->nn.kernels;
    const struct emu_parameter *p = &trainer->parameters[i];
    uint32_t parts = trainer->plan->norm_parts;
    if (p->scattered) {
        square_chunk(trainer, i, p->gradient_chunk, p->chunk.count, out);
        return;
    }
    for (uint32_t part = 0; part < parts; part++) {
        struct emu_slice chunk = emu_slice_chunk(p->elements, parts, part);
        const unsigned char *x = (const unsigned char *)p->gradient + chunk.start * kernels->bytes;
        kernels->zero(trainer->norm, 1); /* free until the norm is known */
        square_chunk(trainer, i, x, chunk.count, trainer->norm);
        kernels->add_term(out, trainer->norm, 1, parts);
    }
}

enum emu_status emu_norm_measure(struct emu_trainer *trainer)
{
    const struct emu_recipe_plan *recipe = &trainer->plan->recipe;
    const struct emu_kernels *kernels = trainer->nn.kernels;
    uint32_t count = trainer->plan->tensor_count;
    uint64_t terms = (uint64_t)count * trainer->plan->split_most;
    kernels->zero(trainer->tensor_squares, count);
    for (uint32_t i = 0; i < count; i++)
        if (counts(trainer, i))
            square(trainer, i, (unsigned char *)trainer->tensor_squares + i * kernels->bytes);
    enum emu_status status = EMU_OK;
    if (emu_plan_shards_gradients(trainer->plan) && recipe->norm == EMU_COUNT_UNIQUE)
        status = sum_over(trainer, trainer->plan->shard_family, trainer->tensor_squares, count,
                          "grad_norm.chunks");
    if (status != EMU_OK)
        return status;
    kernels->zero(trainer->squares, 1);
    for (uint32_t i = 0; i < count; i++)
        kernels->add_term(trainer->squares,
                          (unsigned char *)trainer->tensor_squares + i * kernels->bytes, 1, terms);
    status = sum_over(trainer, norm_family_of(trainer->plan), trainer->squares, 1, "grad_norm");
    if (status == EMU_OK)
        kernels->clip(trainer->factor, trainer->norm, trainer->squares,
                      recipe->clipped ? recipe->max_norm : INFINITY);
    return status;
}
