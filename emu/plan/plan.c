#include "plan/plan.h"

#include "base/philox.h"
#include "plan/model.h"

#include <stdlib.h>
#include <string.h>

/* Bytes of one element of the values. */
static enum emu_dtype dtype_of(enum emu_arithmetic arithmetic)
{
    return arithmetic == EMU_ARITH_F32 ? EMU_F32 : EMU_F64;
}

static uint32_t moments_of(enum emu_optimizer_kind kind)
{
    switch (kind) {
    case EMU_SGD:
        return 0;
    case EMU_MOMENTUM:
        return 1;
    case EMU_ADAMW:
        return 2;
    }
    return 0;
}

static bool family_of_axis(const struct emu_plan *plan, const char *axis, uint32_t *family)
{
    return emu_roster_find(&plan->roster, axis, family) == EMU_OK;
}

/* Everything but the tensors, which depend on the model alone. */
static void plan_groups(struct emu_plan *plan, const struct emu_mesh *mesh)
{
    emu_roster_init(&plan->roster, mesh);
    plan->dp = emu_mesh_size(mesh, "dp");
    plan->tp = emu_mesh_size(mesh, "tp");
    plan->tp_family = UINT32_MAX;
    plan->gradient_family = UINT32_MAX;
    if (!family_of_axis(plan, "tp", &plan->tp_family))
        plan->tp_family = UINT32_MAX;
    if (!family_of_axis(plan, "dp", &plan->gradient_family))
        plan->gradient_family = UINT32_MAX;
}

static enum emu_status plan_make(const struct emu_config *config, struct emu_plan **plan)
{
    struct emu_plan *made = calloc(1, sizeof *made);
    if (!made)
        return EMU_ENOMEM;
    made->config = config;
    made->dtype = dtype_of(config->arithmetic);
    made->moments = moments_of(config->optimizer.kind);
    made->batch = config->data.batch;
    made->microbatches = config->data.microbatches;
    enum emu_status status = emu_plan_tensors(made);
    if (status != EMU_OK) {
        emu_plan_destroy(made);
        return status;
    }
    *plan = made;
    return EMU_OK;
}

enum emu_status emu_plan_create(const struct emu_config *config, struct emu_text *diagnostics,
                                struct emu_plan **plan)
{
    if (!emu_plan_runnable(config, diagnostics))
        return EMU_EPARSE;
    struct emu_plan *made;
    enum emu_status status = plan_make(config, &made);
    if (status != EMU_OK)
        return status;
    plan_groups(made, &config->mesh);
    *plan = made;
    return EMU_OK;
}

enum emu_status emu_plan_create_oracle(const struct emu_plan *plan, struct emu_plan **oracle)
{
    struct emu_plan *made;
    enum emu_status status = plan_make(plan->config, &made);
    if (status != EMU_OK)
        return status;
    made->mesh = (struct emu_mesh){
        .axis_count = 1, .world = 1, .axes = {{.name = "dp", .size = 1, .stride = 1}}};
    plan_groups(made, &made->mesh);
    made->microbatches = 1;
    made->dtype = plan->dtype == EMU_F32 ? EMU_BOUND32 : EMU_BOUND64;
    *oracle = made;
    return EMU_OK;
}

void emu_plan_destroy(struct emu_plan *plan)
{
    if (!plan)
        return;
    emu_roster_finish(&plan->roster);
    free(plan->tensors);
    free(plan);
}

bool emu_tensor_is_vocabulary(const struct emu_tensor_plan *tensor)
{
    return tensor->rows == EMU_VOCAB && tensor->over_tp.kind == EMU_SHARD &&
           (!strcmp(tensor->name, "embed.weight") || !strcmp(tensor->name, "head.weight"));
}

struct emu_block emu_tensor_block(const struct emu_plan *plan, uint32_t tensor, uint32_t tp_index)
{
    const struct emu_tensor_plan *t = &plan->tensors[tensor];
    struct emu_block block = {0, t->rows, 0, t->columns};
    if (t->over_tp.kind != EMU_SHARD)
        return block;
    bool by_rows = t->over_tp.dimension == 0;
    struct emu_slice part = emu_slice_chunk(by_rows ? t->rows : t->columns, plan->tp, tp_index);
    if (by_rows) {
        block.first_row = part.start;
        block.rows = part.count;
    } else {
        block.first_column = part.start;
        block.columns = part.count;
    }
    return block;
}

uint64_t emu_tensor_room(const struct emu_plan *plan, uint32_t tensor, uint32_t tp_index)
{
    const struct emu_tensor_plan *t = &plan->tensors[tensor];
    struct emu_block block = emu_tensor_block(plan, tensor, tp_index);
    if (emu_tensor_is_vocabulary(t))
        block.rows = (t->rows + plan->tp - 1) / plan->tp;
    return block.rows * block.columns;
}

double emu_plan_draw(const struct emu_plan *plan, uint32_t tensor, uint64_t element)
{
    const struct emu_tensor_plan *t = &plan->tensors[tensor];
    if (t->init == EMU_INIT_ONES)
        return 1.0;
    uint64_t seed = plan->config->train.seed;
    if (plan->config->arithmetic == EMU_ARITH_EXACT)
        return emu_random_ternary(seed, tensor, element);
    if (t->init == EMU_INIT_ZEROS)
        return 0.0;
    double value = emu_random_symmetric(seed, tensor, element) * t->init_scale;
    return plan->config->arithmetic == EMU_ARITH_F32 ? (double)(float)value : value;
}

int64_t emu_plan_tensor(const struct emu_plan *plan, const char *name)
{
    for (uint32_t i = 0; i < plan->tensor_count; i++)
        if (!strcmp(plan->tensors[i].name, name))
            return i;
    return -1;
}

struct emu_slice emu_plan_sequences(const struct emu_plan *plan, uint32_t dp_index, uint32_t micro)
{
    struct emu_slice shard = emu_slice_chunk(plan->batch, plan->dp, dp_index);
    struct emu_slice part = emu_slice_chunk(shard.count, plan->microbatches, micro);
    part.start += shard.start;
    return part;
}

uint64_t emu_plan_sequences_most(const struct emu_plan *plan)
{
    return emu_plan_sequences(plan, 0, 0).count;
}
