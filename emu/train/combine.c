#include "train/combine.h"

#include "comm/rank.h"
#include "plan/factor.h"
#include "train/deviate.h"

#include <math.h>
#include <string.h>

static bool apart(const struct emu_trainer *trainer)
{
    return emu_plan_keeps_fresh(trainer->plan);
}

/* Where the accumulated gradient lies, and how much of it: whole, or this rank's chunk. */
static void *gradient_of(const struct emu_parameter *p, uint64_t *elements)
{
    *elements = p->scattered ? p->chunk.count : p->elements;
    return p->scattered ? p->gradient_chunk : p->gradient;
}

static void set_axes(const struct emu_trainer *trainer, uint32_t tensor, struct emu_value *value)
{
    const struct emu_mesh *mesh = trainer->plan->roster.mesh;
    int tp = emu_mesh_find(mesh, "tp");
    int pp = emu_mesh_find(mesh, "pp");
    for (uint32_t a = 0; a < mesh->axis_count; a++)
        value->axis[a] = EMU_AXIS_WHOLE;
    if (tp >= 0 && emu_tensor_is_shard(trainer->plan, tensor))
        value->axis[tp] = EMU_AXIS_SHARDED;
    if (pp >= 0 && emu_tensor_tied(trainer->plan, tensor))
        value->axis[pp] = EMU_AXIS_PARTIAL; /* the other use is on the other end */
    if (tp >= 0 && emu_tensor_sliced(trainer->plan, tensor))
        value->axis[tp] = EMU_AXIS_PARTIAL; /* other rows are on the other ranks */
}

/* The axes whose ranks saw other tokens: every fresh gradient is a pending sum over them. */
static void set_partial(const struct emu_mesh *mesh, struct emu_value *value)
{
    static const char *const names[] = {"dp", "cp"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        int axis = emu_mesh_find(mesh, names[i]);
        if (axis >= 0)
            value->axis[axis] = EMU_AXIS_PARTIAL;
    }
}

void emu_combine_begin(struct emu_trainer *trainer)
{
    const struct emu_kernels *kernels = trainer->nn.kernels;
    for (uint32_t i = 0; i < trainer->plan->tensor_count; i++) {
        struct emu_parameter *parameter = &trainer->parameters[i];
        kernels->zero(parameter->gradient, parameter->room);
        parameter->scattered = false;
        set_axes(trainer, i, &parameter->value);
        if (trainer->ledger && parameter->held)
            emu_value_zero(&parameter->value);
    }
    trainer->trouble = (struct emu_trouble){0};
    trainer->event_count = 0;
}

/* The coefficient that this rank's use of the tensor in this microbatch adds to. */
static uint32_t lane_of(const struct emu_trainer *trainer, uint32_t tensor, uint32_t micro)
{
    uint32_t use = 0;
    if (emu_tensor_tied(trainer->plan, tensor))
        use = trainer->stage > 0;
    else if (emu_tensor_sliced(trainer->plan, tensor))
        use = trainer->tp_index;
    return use * emu_plan_sources(trainer->plan) + trainer->source_offset + micro;
}

void emu_combine_open(struct emu_trainer *trainer, uint32_t micro)
{
    for (uint32_t i = 0; i < trainer->plan->tensor_count; i++) {
        struct emu_parameter *parameter = &trainer->parameters[i];
        if (apart(trainer))
            trainer->nn.kernels->zero(parameter->fresh, parameter->room);
        set_axes(trainer, i, &parameter->fresh_value);
        set_partial(trainer->plan->roster.mesh, &parameter->fresh_value);
        if (trainer->ledger && parameter->held)
            emu_value_fresh(&parameter->fresh_value, lane_of(trainer, i, micro));
    }
}

bool emu_combine_goes_on(const struct emu_trainer *trainer)
{
    return trainer->trouble.kind != EMU_TROUBLE_SHARD;
}

static void note_trouble(struct emu_trainer *trainer, struct emu_trouble trouble)
{
    if (trainer->trouble.kind == EMU_TROUBLE_NONE)
        trainer->trouble = trouble;
}

/* A factor of the recipe at this rank; false where it has no value, and the trouble is noted. */
static bool factor_of(struct emu_trainer *trainer, const struct emu_expression *expression,
                      uint32_t micro, struct emu_trouble where, struct emu_rational *out)
{
    const struct emu_plan *plan = trainer->plan;
    struct emu_factor_values values = {.mesh = plan->roster.mesh,
                                       .tokens = trainer->step_tokens,
                                       .local_tokens = trainer->tokens,
                                       .micro_tokens = trainer->source_tokens[micro],
                                       .sequences = plan->batch,
                                       .microbatches = plan->microbatches};
    enum emu_status status = emu_factor_evaluate(expression, &values, out);
    if (status == EMU_OK)
        return true;
    where.kind = status == EMU_EINVAL ? EMU_TROUBLE_DIVISION : EMU_TROUBLE_RANGE;
    where.source = trainer->source_offset + micro;
    note_trouble(trainer, where);
    return false;
}

/* value and ledger times a factor; NaN where the factor has no value. */
static void scale(const struct emu_trainer *trainer, struct emu_parameter *parameter, bool fresh,
                  const struct emu_rational *factor)
{
    const struct emu_kernels *kernels = trainer->nn.kernels;
    struct emu_value *value = fresh ? &parameter->fresh_value : &parameter->value;
    uint64_t elements = parameter->elements;
    void *x = fresh ? parameter->fresh : gradient_of(parameter, &elements);
    if (!factor) {
        kernels->scale(x, elements, NAN, 1.0);
        return;
    }
    if (factor->numerator == 1 && factor->denominator == 1)
        return;
    kernels->scale(x, elements, (double)factor->numerator, (double)factor->denominator);
    if (trainer->ledger && parameter->held && emu_value_scale(value, *factor) != EMU_OK)
        emu_value_zero(value);
}

/* The factor acts on every fresh gradient. */
static void scale_all_fresh(struct emu_trainer *trainer, const struct emu_rational *factor)
{
    for (uint32_t i = 0; i < trainer->plan->tensor_count; i++)
        scale(trainer, &trainer->parameters[i], true, factor);
}

/* The microbatch is lost, or counts twice. */
static void retake(struct emu_trainer *trainer, uint32_t micro)
{
    if (emu_deviates(trainer, EMU_DEVIATE_REPEAT_MICROBATCH, 0, micro, NULL)) {
        struct emu_rational twice = {2, 1};
        scale_all_fresh(trainer, &twice);
    }
    if (!emu_deviates(trainer, EMU_DEVIATE_DROP_MICROBATCH, 0, micro, NULL))
        return;
    for (uint32_t i = 0; i < trainer->plan->tensor_count; i++) {
        struct emu_parameter *p = &trainer->parameters[i];
        trainer->nn.kernels->zero(p->fresh, p->room);
        if (trainer->ledger && p->held)
            emu_value_zero(&p->fresh_value);
    }
}

/* What the summed loss of a microbatch is divided by: for a mean, its valid tokens. */
static uint64_t loss_divisor(const struct emu_trainer *trainer, uint32_t micro)
{
    if (trainer->slice_tokens != UINT64_MAX)
        return trainer->slice_tokens;
    bool mean = trainer->plan->recipe.loss == EMU_LOSS_MEAN ||
                emu_deviates(trainer, EMU_DEVIATE_MEAN_OF_MEANS, 0, micro, NULL);
    return mean ? trainer->source_tokens[micro] : UINT64_MAX;
}

/* scale_loss, and the divisor of a mean. */
static void scale_loss(struct emu_trainer *trainer, uint32_t micro)
{
    struct emu_trouble where = {.place = EMU_PLACE_LOSS};
    struct emu_rational factor;
    bool known = factor_of(trainer, &trainer->plan->recipe.scale_loss, micro, where, &factor);
    uint64_t divisor = loss_divisor(trainer, micro);
    if (known && divisor != UINT64_MAX) {
        struct emu_rational tokens = emu_rational_whole((int64_t)divisor);
        enum emu_status status = emu_rational_div(factor, tokens, &factor);
        known = status == EMU_OK;
        where.kind = status == EMU_EINVAL ? EMU_TROUBLE_NO_TOKENS : EMU_TROUBLE_RANGE;
        where.source = trainer->source_offset + micro;
        if (!known)
            note_trouble(trainer, where);
    }
    scale_all_fresh(trainer, known ? &factor : NULL);
}

static void note_events(struct emu_trainer *trainer, uint32_t tensor, uint32_t index,
                        const uint8_t *events)
{
    const struct emu_reduction_plan *reduction = &trainer->plan->recipe.reductions[index];
    uint32_t family;
    const struct emu_axes *axes = emu_trainer_axes(trainer, tensor, index, &family);
    for (uint32_t i = 0; i < axes->count; i++) {
        if (!events[i])
            continue;
        if (trainer->event_count < EMU_RECORD_EVENTS)
            trainer->events[trainer->event_count] =
                (struct emu_record_event){.tensor = tensor,
                                          .reduction = index,
                                          .axis = axes->index[i],
                                          .kind = events[i],
                                          .averaged = reduction->avg};
        trainer->event_count++;
    }
}

/* May this reduction leave each member its chunk alone? */
static bool scatters(const struct emu_trainer *trainer, const struct emu_parameter *parameter,
                     uint32_t family, bool fresh)
{
    return !fresh && !parameter->scattered && emu_plan_shards_gradients(trainer->plan) &&
           family == trainer->plan->shard_family;
}

/* Where a call comes from: the recipe that asks for it, or this code. */
static const char *file_of(const struct emu_plan *plan, const struct emu_reduction_plan *reduction)
{
    if (!reduction->given)
        return __FILE__;
    return reduction->line > 0 ? plan->config->name : EMU_REDUCTION_OPTION;
}

/* The call of one parameter, but for its group: the coefficients travel with the data. */
static struct emu_call call_for(const struct emu_trainer *trainer, uint32_t tensor, uint32_t index,
                                bool fresh)
{
    const struct emu_plan *plan = trainer->plan;
    const struct emu_reduction_plan *reduction = &plan->recipe.reductions[index];
    const struct emu_parameter *parameter = &trainer->parameters[tensor];
    const struct emu_value *value = fresh ? &parameter->fresh_value : &parameter->value;
    uint64_t elements = parameter->elements;
    void *x = fresh ? parameter->fresh : gradient_of(parameter, &elements);
    return (struct emu_call){.kind = EMU_ALL_REDUCE,
                             .group = EMU_GROUP_SELF,
                             .count = elements,
                             .dtype = trainer->nn.kernels->dtype,
                             .op = reduction->avg ? EMU_AVG : EMU_SUM,
                             .input = x,
                             .output = x,
                             .label = plan->tensors[tensor].name,
                             .file = file_of(plan, reduction),
                             .line = reduction->given ? reduction->line : __LINE__,
                             .ledger = trainer->ledger ? value->coefficients : NULL,
                             .ledger_count = value->sources};
}

static enum emu_status carry_out(struct emu_trainer *trainer, uint32_t tensor, uint32_t index,
                                 bool fresh)
{
    const struct emu_plan *plan = trainer->plan;
    struct emu_parameter *parameter = &trainer->parameters[tensor];
    struct emu_call call = call_for(trainer, tensor, index, fresh);
    uint32_t family;
    emu_trainer_axes(trainer, tensor, index, &family);
    bool scatter = scatters(trainer, parameter, family, fresh);
    if (scatter) {
        call.kind = EMU_REDUCE_SCATTER;
        call.output = parameter->gradient_chunk;
    }
    enum emu_status status = EMU_OK;
    if (family != UINT32_MAX)
        status =
            emu_roster_group_of(&plan->roster, family, emu_rank_id(trainer->rank), &call.group);
    if (status == EMU_OK)
        status = emu_run_call(trainer->rank, &call);
    parameter->scattered = parameter->scattered || scatter;
    return status;
}

static enum emu_status reduce_one(struct emu_trainer *trainer, uint32_t tensor, uint32_t index,
                                  uint32_t micro, bool fresh)
{
    struct emu_parameter *parameter = &trainer->parameters[tensor];
    const struct emu_mesh *mesh = trainer->plan->roster.mesh;
    const struct emu_reduction_plan *reduction = &trainer->plan->recipe.reductions[index];
    struct emu_value *value = fresh ? &parameter->fresh_value : &parameter->value;
    struct emu_trouble where = {.place = EMU_PLACE_REDUCTION, .tensor = tensor, .reduction = index};
    uint32_t family;
    const struct emu_axes *axes = emu_trainer_axes(trainer, tensor, index, &family);
    int shard = emu_value_shard_axis(value, mesh, axes);
    if (shard >= 0) {
        where.kind = EMU_TROUBLE_SHARD;
        where.axis = (uint32_t)shard;
        trainer->trouble = where;
        return EMU_OK;
    }
    emu_rounding_at(trainer->plan->tensors[tensor].name);
    enum emu_status status = carry_out(trainer, tensor, index, fresh);
    if (status != EMU_OK)
        return status;
    emu_rounding_look("all_reduce");
    uint8_t events[EMU_MESH_MAX_AXES];
    emu_value_reduced(value, mesh, axes, events);
    note_events(trainer, tensor, index, events);
    struct emu_rational factor;
    bool known = factor_of(trainer, &reduction->scale, micro, where, &factor);
    scale(trainer, parameter, fresh, known ? &factor : NULL);
    return EMU_OK;
}

/* The weights go through the call that their gradient should: it stays what it was. */
static enum emu_status reduce_weight(struct emu_trainer *trainer, uint32_t tensor, uint32_t index)
{
    struct emu_call call = call_for(trainer, tensor, index, false);
    uint32_t family;
    emu_trainer_axes(trainer, tensor, index, &family);
    call.input = call.output = trainer->parameters[tensor].weight;
    call.count = trainer->parameters[tensor].elements;
    call.ledger = NULL;
    enum emu_status status = EMU_OK;
    if (family != UINT32_MAX)
        status = emu_roster_group_of(&trainer->plan->roster, family, emu_rank_id(trainer->rank),
                                     &call.group);
    return status == EMU_OK ? emu_run_call(trainer->rank, &call) : status;
}

/* Once, unless the step deviates. */
static enum emu_status reduce(struct emu_trainer *trainer, uint32_t tensor, uint32_t index,
                              uint32_t micro, bool fresh)
{
    if (emu_trainer_leaves_out(trainer, tensor, index, micro))
        return EMU_OK;
    if (emu_deviates(trainer, EMU_DEVIATE_REDUCE_PARAMETER, tensor, micro, NULL))
        return reduce_weight(trainer, tensor, index);
    enum emu_status status = reduce_one(trainer, tensor, index, micro, fresh);
    if (status == EMU_OK && emu_trainer_repeats(trainer, tensor, index, micro))
        status = reduce_one(trainer, tensor, index, micro, fresh);
    return status;
}

/* Reduction `index` on all the parameters it covers. */
static enum emu_status reduce_all(struct emu_trainer *trainer, uint32_t index, uint32_t micro,
                                  bool fresh)
{
    const struct emu_plan *plan = trainer->plan;
    enum emu_status status = EMU_OK;
    for (uint32_t i = 0; i < plan->tensor_count && status == EMU_OK; i++) {
        if (!emu_combine_goes_on(trainer))
            return EMU_OK;
        if (trainer->parameters[i].held &&
            emu_reduction_covers(&plan->recipe.reductions[index], plan->tensors[i].name))
            status = reduce(trainer, i, index, micro, fresh);
    }
    return status;
}

/* Does a reduction act on the fresh gradient of this microbatch? */
static bool due(const struct emu_trainer *trainer, enum emu_when when, uint32_t micro)
{
    switch (when) {
    case EMU_WHEN_STEP:
        return false;
    case EMU_WHEN_MICROBATCH:
        return true;
    case EMU_WHEN_FIRST:
        return micro == 0;
    case EMU_WHEN_LAST:
        return micro + 1 == trainer->plan->microbatches;
    }
    return false;
}

/* Add the fresh gradient, or put it in place of the old one. */
static void accumulate(struct emu_trainer *trainer)
{
    const struct emu_kernels *kernels = trainer->nn.kernels;
    bool replace = trainer->plan->recipe.accumulate == EMU_ACC_LAST;
    for (uint32_t i = 0; i < trainer->plan->tensor_count; i++) {
        struct emu_parameter *p = &trainer->parameters[i];
        if (!p->held)
            continue;
        if (apart(trainer) && replace)
            kernels->zero(p->gradient, p->room);
        if (apart(trainer))
            kernels->add_term(p->gradient, p->fresh, p->elements, emu_plan_sources(trainer->plan));
        if (replace)
            set_axes(trainer, i, &p->value);
        if (trainer->ledger && replace && apart(trainer))
            emu_value_zero(&p->value);
        if (trainer->ledger && apart(trainer))
            emu_value_add(&p->value, &p->fresh_value);
        else
            emu_value_join(&p->value, &p->fresh_value);
    }
}

enum emu_status emu_combine_close(struct emu_trainer *trainer, uint32_t micro)
{
    const struct emu_recipe_plan *recipe = &trainer->plan->recipe;
    retake(trainer, micro);
    scale_loss(trainer, micro);
    for (uint32_t i = 0; i < recipe->reduction_count && emu_combine_goes_on(trainer); i++) {
        if (!due(trainer, recipe->reductions[i].when, micro))
            continue;
        enum emu_status status = reduce_all(trainer, i, micro, true);
        if (status != EMU_OK)
            return status;
    }
    accumulate(trainer);
    return EMU_OK;
}

static void scale_all(struct emu_trainer *trainer, const struct emu_rational *factor)
{
    for (uint32_t i = 0; i < trainer->plan->tensor_count; i++)
        scale(trainer, &trainer->parameters[i], false, factor);
}

/* Sharded gradients that no reduction has scattered: every rank keeps its chunk of what it has. */
static void keep_chunks(struct emu_trainer *trainer)
{
    uint64_t bytes = trainer->nn.kernels->bytes;
    for (uint32_t i = 0; i < trainer->plan->tensor_count; i++) {
        struct emu_parameter *p = &trainer->parameters[i];
        if (!p->held || p->scattered || !emu_plan_shards_gradients(trainer->plan))
            continue;
        if (p->chunk.count)
            memcpy(p->gradient_chunk, (unsigned char *)p->gradient + p->chunk.start * bytes,
                   p->chunk.count * bytes);
        p->scattered = true;
    }
}

enum emu_status emu_combine_reduce(struct emu_trainer *trainer)
{
    const struct emu_recipe_plan *recipe = &trainer->plan->recipe;
    if (recipe->accumulate == EMU_ACC_MEAN) {
        struct emu_rational share = {1, trainer->plan->microbatches};
        scale_all(trainer, &share);
    }
    for (uint32_t i = 0; i < recipe->reduction_count && emu_combine_goes_on(trainer); i++) {
        if (recipe->reductions[i].when != EMU_WHEN_STEP)
            continue;
        enum emu_status status = reduce_all(trainer, i, 0, false);
        if (status != EMU_OK)
            return status;
    }
    keep_chunks(trainer);
    return EMU_OK;
}

/* The divisor of a step that does otherwise; false: scale_grad is what counts. */
static bool strange_divisor(const struct emu_trainer *trainer, uint64_t *divisor)
{
    *divisor = emu_plan_sources(trainer->plan);
    if (emu_deviates(trainer, EMU_DEVIATE_DIVISOR, 0, 0, divisor) ||
        emu_deviates(trainer, EMU_DEVIATE_MEAN_OF_MEANS, 0, 0, NULL))
        return true;
    *divisor = trainer->plan->cp;
    return trainer->slice_tokens != UINT64_MAX;
}

void emu_combine_finish(struct emu_trainer *trainer)
{
    struct emu_rational factor;
    struct emu_trouble where = {.place = EMU_PLACE_GRAD};
    uint64_t divisor;
    if (emu_deviates(trainer, EMU_DEVIATE_SKIP_SCALE, 0, 0, NULL))
        return;
    bool other = strange_divisor(trainer, &divisor);
    bool known = other || factor_of(trainer, &trainer->plan->recipe.scale_grad, 0, where, &factor);
    if (other)
        factor = (struct emu_rational){1, (int64_t)(divisor ? divisor : 1)};
    scale_all(trainer, known ? &factor : NULL);
}
