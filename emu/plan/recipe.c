#include "plan/recipe.h"

#include "base/number.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool emu_glob_match(const char *glob, const char *name)
{
    const char *star = NULL; /* the last * seen, and where the name stood then */
    const char *resume = NULL;
    while (*name) {
        if (*glob == '*') {
            star = glob++;
            resume = name;
        } else if (*glob == '?' || *glob == *name) {
            glob++;
            name++;
        } else if (star) {
            glob = star + 1;
            name = ++resume;
        } else {
            return false;
        }
    }
    while (*glob == '*')
        glob++;
    return *glob == '\0';
}

bool emu_reduction_covers(const struct emu_reduction_plan *reduction, const char *parameter)
{
    return !strcmp(reduction->params, "all") || emu_glob_match(reduction->params, parameter);
}

/* A factor that the config has checked; NULL is 1. */
static enum emu_status parse(const char *text, struct emu_expression *out)
{
    struct emu_expression_error error;
    return emu_expression_parse(text ? text : "1", out, &error) ? EMU_OK : EMU_EINTERNAL;
}

static void append_axis(struct emu_axes *axes, int axis, bool ends)
{
    if (ends)
        axes->ends |= (uint16_t)(1U << axes->count);
    axes->index[axes->count++] = (uint8_t)axis;
}

/* Add one name of `over`. An axis that the mesh has not is of size 1: nothing to reduce over. */
static void append_name(const struct emu_mesh *mesh, const char *name,
                        struct emu_reduction_plan *reduction)
{
    bool ends = !strcmp(name, "pp") || !strcmp(name, "tied");
    int axis = emu_mesh_find(mesh, ends ? "pp" : name);
    if (axis < 0)
        return;
    append_axis(&reduction->tied_axes, axis, ends);
    if (!ends)
        append_axis(&reduction->axes, axis, false);
}

static enum emu_status family_of(struct emu_roster *roster, const struct emu_axes *axes,
                                 uint32_t *family)
{
    *family = UINT32_MAX;
    return axes->count ? emu_roster_add_axes(roster, axes, family) : EMU_OK;
}

/* Axes and families of a list of names. */
static enum emu_status resolve_over(struct emu_roster *roster, char *const *names, size_t count,
                                    struct emu_reduction_plan *reduction)
{
    for (size_t i = 0; i < count; i++) {
        size_t used = strlen(reduction->over);
        snprintf(reduction->over + used, sizeof reduction->over - used, "%s%s", i ? "," : "",
                 names[i]);
        if (strcmp(names[i], "world"))
            append_name(roster->mesh, names[i], reduction);
        else
            for (uint32_t a = 0; a < roster->mesh->axis_count; a++)
                append_name(roster->mesh, roster->mesh->axes[a].name, reduction);
    }
    enum emu_status status = family_of(roster, &reduction->axes, &reduction->family);
    if (status == EMU_OK)
        status = family_of(roster, &reduction->tied_axes, &reduction->tied_family);
    return status;
}

static enum emu_status resolve_given(const struct emu_reduce_config *given,
                                     struct emu_roster *roster,
                                     struct emu_reduction_plan *reduction)
{
    *reduction = (struct emu_reduction_plan){.avg = given->avg,
                                             .when = given->when,
                                             .given = true,
                                             .line = given->line,
                                             .column = given->column};
    reduction->params = strdup(given->params ? given->params : "all");
    if (given->scale && strcmp(given->scale, "1"))
        reduction->scale_text = strdup(given->scale);
    if (!reduction->params || (given->scale && strcmp(given->scale, "1") && !reduction->scale_text))
        return EMU_ENOMEM;
    enum emu_status status = parse(given->scale, &reduction->scale);
    if (status != EMU_OK)
        return status;
    return resolve_over(roster, given->over, given->over_count, reduction);
}

/* One derived sum over these of the named axes that the mesh has. */
static enum emu_status derive_one(struct emu_roster *roster, const char *const *names, size_t count,
                                  const char *params, struct emu_recipe_plan *recipe)
{
    struct emu_reduction_plan *reduction = &recipe->reductions[recipe->reduction_count++];
    char *present[2];
    size_t used = 0;
    for (size_t i = 0; i < count; i++)
        if (!strcmp(names[i], "tied") || emu_mesh_find(roster->mesh, names[i]) >= 0)
            present[used++] = (char *)names[i];
    *reduction = (struct emu_reduction_plan){.when = EMU_WHEN_STEP};
    reduction->params = strdup(params);
    if (!reduction->params)
        return EMU_ENOMEM;
    enum emu_status status = parse(NULL, &reduction->scale);
    return status == EMU_OK ? resolve_over(roster, present, used, reduction) : status;
}

/* What gradients are partial over: the axes whose ranks see other tokens; for a table that two
 * stages hold, these two; for what sequence parallelism computes on slices of rows, tp. */
static enum emu_status derive_reductions(const struct emu_config *config, struct emu_roster *roster,
                                         struct emu_recipe_plan *recipe)
{
    static const char *const tokens[] = {"dp", "cp"};
    static const char *const tied[] = {"tied"};
    static const char *const tp[] = {"tp"};
    recipe->reductions = calloc(4, sizeof *recipe->reductions);
    if (!recipe->reductions)
        return EMU_ENOMEM;
    bool table = config->model.kind == EMU_MODEL_MLP_LM && config->model.tie_embeddings &&
                 emu_mesh_size(roster->mesh, "pp") > 1;
    enum emu_status status = EMU_OK;
    if (table) /* before the sum that may leave each rank a part of the gradient alone */
        status = derive_one(roster, tied, 1, "embed.weight", recipe);
    bool sliced = config->model.kind == EMU_MODEL_MLP_LM && config->model.sequence_parallel &&
                  emu_mesh_size(roster->mesh, "tp") > 1;
    if (status == EMU_OK && sliced && config->model.norm == EMU_NORM_RMS)
        status = derive_one(roster, tp, 1, "layers.*.norm.weight", recipe);
    if (status == EMU_OK && sliced)
        status = derive_one(roster, tp, 1, "layers.*.down.bias", recipe);
    if (status == EMU_OK)
        status = derive_one(roster, tokens, 2, "all", recipe);
    return status;
}

static enum emu_status resolve_reductions(const struct emu_recipe_config *given,
                                          struct emu_roster *roster, struct emu_recipe_plan *recipe)
{
    size_t count = given->reduce_count;
    recipe->reductions = calloc(count ? count : 1, sizeof *recipe->reductions);
    if (!recipe->reductions)
        return EMU_ENOMEM;
    for (size_t i = 0; i < count; i++) {
        recipe->reduction_count++; /* so that finish frees a half-built one */
        enum emu_status status = resolve_given(&given->reduce[i], roster, &recipe->reductions[i]);
        if (status != EMU_OK)
            return status;
    }
    return EMU_OK;
}

static enum emu_status resolve_factors(const struct emu_recipe_config *given,
                                       struct emu_recipe_plan *recipe)
{
    const char *loss = !recipe->derived && given->scale_loss ? given->scale_loss : "1";
    const char *grad = recipe->derived ? "1/tokens" : given->scale_grad ? given->scale_grad : "1";
    recipe->scale_loss_text = strdup(loss);
    recipe->scale_grad_text = strdup(grad);
    if (!recipe->scale_loss_text || !recipe->scale_grad_text)
        return EMU_ENOMEM;
    enum emu_status status = parse(loss, &recipe->scale_loss);
    return status == EMU_OK ? parse(grad, &recipe->scale_grad) : status;
}

enum emu_status emu_recipe_resolve(const struct emu_config *config, bool derive,
                                   struct emu_roster *roster, struct emu_recipe_plan *recipe)
{
    const struct emu_recipe_config *given = &config->recipe;
    *recipe = (struct emu_recipe_plan){.derived = derive || !given->given};
    if (!recipe->derived) {
        recipe->loss = given->loss;
        recipe->accumulate = given->accumulate;
        recipe->norm = given->norm;
    }
    recipe->clipped = given->given && given->clip_given;
    recipe->max_norm = given->clip_max_norm;
    enum emu_status status = resolve_factors(given, recipe);
    bool listed = !recipe->derived && given->reduce_given;
    if (status == EMU_OK)
        status = listed ? resolve_reductions(given, roster, recipe)
                        : derive_reductions(config, roster, recipe);
    if (status != EMU_OK)
        emu_recipe_finish(recipe);
    return status;
}

static void finish_reduction(struct emu_reduction_plan *reduction)
{
    free(reduction->params);
    free(reduction->scale_text);
}

void emu_recipe_finish(struct emu_recipe_plan *recipe)
{
    for (uint32_t i = 0; i < recipe->reduction_count; i++)
        finish_reduction(&recipe->reductions[i]);
    free(recipe->reductions);
    free(recipe->scale_loss_text);
    free(recipe->scale_grad_text);
    *recipe = (struct emu_recipe_plan){0};
}

void emu_reduction_place(const struct emu_reduction_plan *reduction, const char *file,
                         struct emu_text *out)
{
    if (!reduction->given)
        emu_text_puts(out, "derived");
    else if (reduction->line == 0)
        emu_text_puts(out, EMU_REDUCTION_OPTION);
    else
        emu_text_printf(out, "%s%s%" PRIu32, file[0] ? file : "line", file[0] ? ":" : " ",
                        reduction->line);
}

static const char *when_word(enum emu_when when)
{
    static const char *const words[] = {"step", "microbatch", "first", "last"};
    return words[when];
}

static void put_reduction(const struct emu_reduction_plan *reduction, struct emu_text *out)
{
    emu_text_printf(out, "    - {over: [%s], op: %s, params: \"%s\", when: %s", reduction->over,
                    reduction->avg ? "avg" : "sum", reduction->params, when_word(reduction->when));
    if (reduction->scale_text)
        emu_text_printf(out, ", scale: \"%s\"", reduction->scale_text);
    emu_text_puts(out, "}\n");
}

void emu_recipe_to_yaml(const struct emu_recipe_plan *recipe, struct emu_text *out)
{
    static const char *const accumulate[] = {"sum", "mean", "last"};
    static const char *const norm[] = {"unique", "local", "replicas"};
    char number[EMU_NUMBER_MAX];
    emu_text_puts(out, "recipe:\n");
    emu_text_printf(out, "  loss: %s\n", recipe->loss == EMU_LOSS_MEAN ? "mean" : "sum");
    emu_text_printf(out, "  scale_loss: \"%s\"\n", recipe->scale_loss_text);
    emu_text_printf(out, "  accumulate: %s\n", accumulate[recipe->accumulate]);
    emu_text_puts(out, recipe->reduction_count ? "  reduce:\n" : "  reduce: []\n");
    for (uint32_t i = 0; i < recipe->reduction_count; i++)
        put_reduction(&recipe->reductions[i], out);
    emu_text_printf(out, "  scale_grad: \"%s\"\n", recipe->scale_grad_text);
    if (recipe->clipped)
        emu_text_printf(out, "  clip: {max_norm: %s}\n", emu_number_f64(recipe->max_norm, number));
    emu_text_printf(out, "  norm: %s\n", norm[recipe->norm]);
}
