#include "check/recipe_factors.h"

#include <stdlib.h>

static const struct emu_recipe_plan *recipe_of(const struct emu_evidence *evidence)
{
    return &evidence->plan->recipe;
}

static const struct emu_mesh *mesh_of(const struct emu_evidence *evidence)
{
    return evidence->plan->roster.mesh;
}

/* Append one, unless it is 1 whatever the sizes are. */
static void add(struct emu_recipe_factors *factors, struct emu_recipe_factor factor)
{
    struct emu_text text = {0};
    emu_size_product_text(&factor.product, mesh_of(factors->evidence), &text);
    bool one = factor.product.known && text.size == 1 && text.data[0] == '1';
    emu_text_finish(&text);
    if (!one)
        factors->at[factors->count++] = factor;
}

static void add_expression(struct emu_recipe_factors *factors, enum emu_factor_place place,
                           const struct emu_reduction_plan *reduction,
                           const struct emu_expression *expression, const char *text)
{
    if (text)
        add(factors, (struct emu_recipe_factor){
                         place, reduction, expression, text,
                         emu_size_product_read(expression, mesh_of(factors->evidence))});
}

/* Did the reduction meet a value that was whole over this axis? */
static bool met_whole(const struct emu_step_record *record, uint32_t tensor, uint32_t reduction,
                      uint32_t axis)
{
    uint32_t kept =
        record->event_count < EMU_RECORD_EVENTS ? record->event_count : EMU_RECORD_EVENTS;
    for (uint32_t i = 0; i < kept; i++)
        if (record->events[i].tensor == tensor && record->events[i].reduction == reduction &&
            record->events[i].axis == axis)
            return true;
    return false;
}

/* Members over one axis: its size, or the two ends of a pipeline. */
static struct emu_size_product members_over(const struct emu_plan *plan, uint32_t tensor,
                                            uint32_t axis, int power)
{
    if (emu_tensor_tied(plan, tensor) && (int)axis == emu_mesh_find(plan->roster.mesh, "pp"))
        return emu_size_product_number(2, power);
    return emu_size_product_of(EMU_SIZE_AXIS + axis, power);
}

static void add_reduction(struct emu_recipe_factors *factors, uint32_t tensor, uint32_t rank,
                          uint32_t index)
{
    const struct emu_plan *plan = factors->evidence->plan;
    const struct emu_reduction_plan *reduction = &plan->recipe.reductions[index];
    const struct emu_step_record *record = factors->evidence->records[rank];
    uint32_t family;
    const struct emu_axes *axes = emu_reduction_axes(plan, reduction, tensor, &family);
    struct emu_recipe_factor factor = {.place =
                                           reduction->avg ? EMU_FACTOR_AVERAGE : EMU_FACTOR_SUM,
                                       .reduction = reduction,
                                       .product = emu_size_product_one()};
    if (!emu_reduction_covers(reduction, plan->tensors[tensor].name))
        return;
    for (uint32_t i = 0; i < axes->count; i++) {
        bool whole = met_whole(record, tensor, index, axes->index[i]);
        if (whole == reduction->avg)
            continue; /* an average of copies, or a sum of parts: no factor */
        struct emu_size_product members =
            members_over(plan, tensor, axes->index[i], reduction->avg ? -1 : 1);
        emu_size_product_multiply(&factor.product, &members);
    }
    add(factors, factor);
    add_expression(factors, EMU_FACTOR_REDUCTION, reduction, &reduction->scale,
                   reduction->scale_text);
}

static void add_reductions(struct emu_recipe_factors *factors, uint32_t tensor, uint32_t rank,
                           bool step)
{
    const struct emu_recipe_plan *recipe = recipe_of(factors->evidence);
    for (uint32_t i = 0; i < recipe->reduction_count; i++)
        if ((recipe->reductions[i].when == EMU_WHEN_STEP) == step)
            add_reduction(factors, tensor, rank, i);
}

bool emu_recipe_factors_list(const struct emu_evidence *evidence, uint32_t tensor, uint32_t rank,
                             struct emu_recipe_factors *out)
{
    const struct emu_recipe_plan *recipe = recipe_of(evidence);
    *out = (struct emu_recipe_factors){
        evidence, calloc(2 * (size_t)recipe->reduction_count + 4, sizeof *out->at), 0};
    if (!out->at)
        return false;
    if (recipe->loss == EMU_LOSS_MEAN)
        add(out,
            (struct emu_recipe_factor){.place = EMU_FACTOR_MEAN,
                                       .product = emu_size_product_of(EMU_SIZE_MICRO_TOKENS, -1)});
    add_expression(out, EMU_FACTOR_LOSS, NULL, &recipe->scale_loss, recipe->scale_loss_text);
    add_reductions(out, tensor, rank, false);
    if (recipe->accumulate == EMU_ACC_MEAN)
        add(out,
            (struct emu_recipe_factor){.place = EMU_FACTOR_ACCUMULATE,
                                       .product = emu_size_product_of(EMU_SIZE_MICROBATCHES, -1)});
    add_reductions(out, tensor, rank, true);
    add_expression(out, EMU_FACTOR_GRAD, NULL, &recipe->scale_grad, recipe->scale_grad_text);
    return true;
}

void emu_recipe_factors_finish(struct emu_recipe_factors *factors)
{
    free(factors->at);
    *factors = (struct emu_recipe_factors){0};
}

struct emu_factor_values emu_factor_values_at(const struct emu_evidence *evidence, uint32_t rank,
                                              uint32_t micro)
{
    const struct emu_step_record *record = evidence->records[rank];
    const uint64_t *micro_tokens =
        (const uint64_t *)(const void *)(evidence->arenas[rank] + record->source_tokens);
    struct emu_factor_values values = {.mesh = mesh_of(evidence),
                                       .tokens = record->step_tokens,
                                       .sequences = evidence->plan->batch,
                                       .microbatches = evidence->plan->microbatches,
                                       .micro_tokens = micro_tokens[micro]};
    for (uint32_t m = 0; m < evidence->plan->microbatches; m++)
        values.local_tokens += micro_tokens[m];
    return values;
}

static bool acts(const struct emu_evidence *evidence, const struct emu_recipe_factor *factor,
                 uint32_t micro)
{
    enum emu_when when = factor->reduction ? factor->reduction->when : EMU_WHEN_STEP;
    return when == EMU_WHEN_FIRST  ? micro == 0
           : when == EMU_WHEN_LAST ? micro + 1 == evidence->plan->microbatches
                                   : true;
}

bool emu_recipe_factor_value(const struct emu_evidence *evidence,
                             const struct emu_recipe_factor *factor, uint32_t rank, uint32_t micro,
                             struct emu_rational *out)
{
    struct emu_factor_values values = emu_factor_values_at(evidence, rank, micro);
    if (!acts(evidence, factor, micro))
        return false;
    return (factor->expression
                ? emu_factor_evaluate(factor->expression, &values, out)
                : emu_size_product_evaluate(&factor->product, &values, out)) == EMU_OK;
}

bool emu_recipe_factor_is_early(const struct emu_recipe_factor *factor)
{
    return factor->place == EMU_FACTOR_MEAN || factor->place == EMU_FACTOR_LOSS;
}

struct emu_size_product emu_recipe_factors_left(const struct emu_recipe_factors *factors)
{
    struct emu_size_product left = emu_size_product_of(EMU_SIZE_TOKENS, 1);
    for (size_t i = 0; i < factors->count; i++)
        emu_size_product_multiply(&left, &factors->at[i].product);
    return left;
}

static void put_place(const char *file, const struct emu_reduction_plan *reduction,
                      struct emu_text *out)
{
    static const char *const when[] = {[EMU_WHEN_STEP] = "",
                                       [EMU_WHEN_MICROBATCH] = "when: microbatch, ",
                                       [EMU_WHEN_FIRST] = "when: first, ",
                                       [EMU_WHEN_LAST] = "when: last, "};
    emu_text_printf(out, " (%s", when[reduction->when]);
    emu_reduction_place(reduction, file, out);
    emu_text_putc(out, ')');
}

void emu_reduction_words(const char *file, const struct emu_reduction_plan *reduction,
                         struct emu_text *out)
{
    emu_text_printf(out, "the reduction over %s", reduction->over);
    put_place(file, reduction, out);
}

void emu_recipe_factor_words(const char *file, const struct emu_recipe_factor *factor,
                             struct emu_text *out)
{
    switch (factor->place) {
    case EMU_FACTOR_MEAN:
        emu_text_puts(out, "loss: mean 1/micro_tokens");
        return;
    case EMU_FACTOR_LOSS:
        emu_text_printf(out, "scale_loss %s", factor->text);
        return;
    case EMU_FACTOR_SUM:
        emu_text_printf(out, "sum of copies over %s", factor->reduction->over);
        break;
    case EMU_FACTOR_AVERAGE:
        emu_text_printf(out, "average over %s", factor->reduction->over);
        break;
    case EMU_FACTOR_REDUCTION:
        emu_text_printf(out, "scale %s of the reduction over %s", factor->text,
                        factor->reduction->over);
        break;
    case EMU_FACTOR_ACCUMULATE:
        emu_text_puts(out, "accumulate: mean 1/microbatches");
        return;
    case EMU_FACTOR_GRAD:
        emu_text_printf(out, "scale_grad %s", factor->text);
        return;
    }
    put_place(file, factor->reduction, out);
}

uint32_t emu_source_owner(const struct emu_evidence *evidence, uint32_t source)
{
    const struct emu_mesh *mesh = mesh_of(evidence);
    const struct emu_source_shape *shape = &evidence->plan->shape;
    uint32_t coords[EMU_MESH_MAX_AXES] = {0};
    uint32_t owner = source / shape->microbatches;
    int dp = emu_mesh_find(mesh, "dp");
    int cp = emu_mesh_find(mesh, "cp");
    if (dp >= 0)
        coords[dp] = owner / shape->cp;
    if (cp >= 0)
        coords[cp] = owner % shape->cp;
    return emu_mesh_rank(mesh, coords);
}
