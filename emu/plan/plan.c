#include "plan/plan.h"

#include "plan/initial.h"
#include "plan/model.h"

#include <stdio.h>
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

/* Family over those of the named axes that the mesh has; UINT32_MAX where it has none. */
static enum emu_status family_over(struct emu_roster *roster, const char *const *names,
                                   size_t count, uint32_t *family)
{
    struct emu_axes axes = {0};
    for (size_t i = 0; i < count; i++) {
        int axis = emu_mesh_find(roster->mesh, names[i]);
        if (axis >= 0)
            axes.index[axes.count++] = (uint8_t)axis;
    }
    *family = UINT32_MAX;
    return axes.count ? emu_roster_add_axes(roster, &axes, family) : EMU_OK;
}

/* Who divides optimizer state: the axes of optimizer.over, or dp and cp. */
static enum emu_status plan_shards(struct emu_plan *plan, const struct emu_mesh *mesh, bool derive)
{
    const struct emu_optimizer_config *optimizer = &plan->config->optimizer;
    bool over_dp = !optimizer->over_given || optimizer->over_dp;
    bool over_cp = !optimizer->over_given || optimizer->over_cp;
    const char *names[2];
    size_t count = 0;
    if (over_dp)
        names[count++] = "dp";
    if (over_cp)
        names[count++] = "cp";
    plan->shard_family = UINT32_MAX;
    plan->shard_parts = 1;
    plan->norm_parts = (over_dp ? plan->dp : 1) * (over_cp ? plan->cp : 1);
    if (derive || optimizer->shard == EMU_SHARD_NONE)
        return EMU_OK;
    plan->shard = optimizer->shard;
    enum emu_status status = family_over(&plan->roster, names, count, &plan->shard_family);
    if (status != EMU_OK || plan->shard_family == UINT32_MAX)
        return status;
    plan->shard_axes = plan->roster.families[plan->shard_family].axes;
    plan->shard_parts = emu_axes_group_size(mesh, &plan->shard_axes);
    return EMU_OK;
}

/* Groups and recipe: what depends on the mesh. */
static enum emu_status plan_groups(struct emu_plan *plan, const struct emu_mesh *mesh, bool derive)
{
    static const char *const tokens[] = {"dp", "cp"};
    static const char *const tp[] = {"tp", "pp"};
    static const char *const loss[] = {"dp", "cp", "pp"};
    emu_roster_init(&plan->roster, mesh);
    plan->dp = emu_mesh_size(mesh, "dp");
    plan->tp = emu_mesh_size(mesh, "tp");
    plan->cp = emu_mesh_size(mesh, "cp");
    enum emu_status status = family_over(&plan->roster, tp, 1, &plan->tp_family);
    if (status == EMU_OK)
        status = family_over(&plan->roster, tokens, 2, &plan->gradient_family);
    if (status == EMU_OK)
        status = family_over(&plan->roster, loss, 3, &plan->loss_family);
    if (status == EMU_OK)
        status = family_over(&plan->roster, tp, 2, &plan->norm_family);
    if (status == EMU_OK)
        status = plan_shards(plan, mesh, derive);
    if (status == EMU_OK)
        status = emu_recipe_resolve(plan->config, derive, &plan->roster, &plan->recipe);
    if (status == EMU_OK)
        status = emu_initial_groups(plan);
    return status;
}

static void plan_data(struct emu_plan *plan, const struct emu_mesh *mesh)
{
    const struct emu_data_config *data = &plan->config->data;
    const struct emu_token_list *tokens = data->inline_tokens;
    plan->shape =
        (struct emu_source_shape){emu_mesh_size(mesh, "dp"), emu_mesh_size(mesh, "cp"),
                                  tokens ? tokens->microbatches : (uint32_t)data->microbatches};
    plan->batch = tokens ? emu_plan_sources(plan) : data->batch;
    plan->microbatches = plan->shape.microbatches;
}

static enum emu_status plan_make(const struct emu_config *config, uint32_t pp,
                                 struct emu_plan **plan)
{
    struct emu_plan *made = calloc(1, sizeof *made);
    if (!made)
        return EMU_ENOMEM;
    made->config = config;
    made->pp = pp;
    made->dtype = dtype_of(config->arithmetic);
    made->moments = moments_of(config->optimizer.kind);
    made->split_most = emu_mesh_size(&config->mesh, "tp") * emu_mesh_size(&config->mesh, "pp");
    plan_data(made, &config->mesh);
    enum emu_status status = emu_plan_tensors(made);
    if (status != EMU_OK) {
        emu_plan_destroy(made);
        return status;
    }
    *plan = made;
    return EMU_OK;
}

/* A reduction that covers no parameter is a slip of the pen: say which names there are. */
static bool covers_something(const struct emu_plan *plan, struct emu_text *diagnostics)
{
    const struct emu_recipe_config *recipe = &plan->config->recipe;
    bool good = true;
    for (size_t i = 0; recipe->given && i < recipe->reduce_count; i++) {
        const char *glob = recipe->reduce[i].params;
        bool found = !glob || !strcmp(glob, "all");
        for (uint32_t t = 0; t < plan->tensor_count && !found; t++)
            found = emu_glob_match(glob, plan->tensors[t].name);
        if (found)
            continue;
        char key[64];
        snprintf(key, sizeof key, "recipe.reduce[%zu].params", i);
        emu_config_complain(plan->config, diagnostics, key,
                            "'%s' names no parameter; there are %s%s%s%s", glob,
                            plan->tensors[0].name, plan->tensor_count > 1 ? ", " : "",
                            plan->tensor_count > 1 ? plan->tensors[1].name : "",
                            plan->tensor_count > 2 ? ", ..." : "");
        good = false;
    }
    return good;
}

enum emu_status emu_plan_create(const struct emu_config *config, struct emu_text *diagnostics,
                                struct emu_plan **plan)
{
    if (!emu_plan_runnable(config, diagnostics))
        return EMU_EPARSE;
    struct emu_plan *made;
    enum emu_status status = plan_make(config, emu_mesh_size(&config->mesh, "pp"), &made);
    if (status != EMU_OK)
        return status;
    made->keeps_ledger = config->checks.ledger;
    status =
        covers_something(made, diagnostics) ? plan_groups(made, &config->mesh, false) : EMU_EPARSE;
    if (status != EMU_OK) {
        emu_plan_destroy(made);
        return status;
    }
    *plan = made;
    return EMU_OK;
}

enum emu_status emu_plan_create_oracle(const struct emu_plan *plan, bool bounded,
                                       struct emu_plan **oracle)
{
    struct emu_plan *made;
    enum emu_status status = plan_make(plan->config, 1, &made);
    if (status != EMU_OK)
        return status;
    made->mesh = (struct emu_mesh){
        .axis_count = 1, .world = 1, .axes = {{.name = "dp", .size = 1, .stride = 1}}};
    made->microbatches = emu_plan_sources(plan);
    if (bounded)
        made->dtype = plan->dtype == EMU_F32 ? EMU_BOUND32 : EMU_BOUND64;
    status = plan_groups(made, &made->mesh, true);
    if (status != EMU_OK) {
        emu_plan_destroy(made);
        return status;
    }
    *oracle = made;
    return EMU_OK;
}

void emu_plan_destroy(struct emu_plan *plan)
{
    if (!plan)
        return;
    emu_recipe_finish(&plan->recipe);
    emu_roster_finish(&plan->roster);
    free(plan->tensors);
    free(plan);
}

bool emu_plan_keeps_fresh(const struct emu_plan *plan)
{
    bool oracle = plan->roster.mesh == &plan->mesh;
    bool shards = plan->shard_family != UINT32_MAX;
    return plan->microbatches > 1 || plan->recipe.clipped || oracle || shards;
}
