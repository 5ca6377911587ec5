/* How are this config's gradients combined, step by step? The recipe with every name resolved.
 *
 * Either what the config gives, read as written, or what follows from the plan: the loss summed,
 * each gradient summed over the axes over which it is partial, then divided by the valid tokens.
 */
#ifndef EMU_PLAN_RECIPE_H
#define EMU_PLAN_RECIPE_H

#include "base/text.h"
#include "config/config.h"
#include "config/expression.h"
#include "mesh/roster.h"

#include <stdbool.h>
#include <stdint.h>

/* One reduction: members are the ranks of the group over the axes that hold the parameter. */
struct emu_reduction_plan {
    struct emu_axes
        axes; /* of the mesh, in the order asked for; absent axes have size 1 and fall away */
    uint32_t family; /* in the roster; UINT32_MAX: every group is one rank alone */
    /* Likewise for a tied table, which the two ends of pp hold: pp and `tied` mean these ends. For
     * other parameters one stage is the only holder, and pp falls away. */
    struct emu_axes tied_axes;
    uint32_t tied_family;
    bool avg; /* divide by the number of members */
    enum emu_when when;
    char over[EMU_NAME_MAX * 2]; /* as written, for messages: "dp,cp" */
    char *params;                /* glob on parameter names, or "all"; owned */
    struct emu_expression scale; /* multiplies the result */
    char *scale_text;            /* as written; NULL: 1. Owned */
    bool given;                  /* false: derived */
    uint32_t line, column;       /* in the file; 0: derived, or from the command line */
};

struct emu_recipe_plan {
    bool derived;
    enum emu_loss_reduction loss;
    enum emu_accumulate accumulate;
    enum emu_norm_count norm;
    struct emu_expression scale_loss, scale_grad;
    bool clipped;
    double max_norm;
    struct emu_reduction_plan *reductions; /* owned */
    uint32_t reduction_count;
    char *scale_loss_text, *scale_grad_text; /* as written; owned */
};

/* Resolve config->recipe, or with `derive` what follows from the plan whatever was given (only the
 * clip is kept); families are added to the roster. EMU_ENOMEM, EMU_ERANGE (too many different
 * groups). The texts of expressions were checked by the config. */
EMU_MUST_CHECK enum emu_status emu_recipe_resolve(const struct emu_config *config, bool derive,
                                                  struct emu_roster *roster,
                                                  struct emu_recipe_plan *recipe);
void emu_recipe_finish(struct emu_recipe_plan *recipe);

/* Does the reduction's glob name this parameter? `all` names every one, `*` any run of characters
 * (dots too), `?` one. */
bool emu_reduction_covers(const struct emu_reduction_plan *reduction, const char *parameter);
bool emu_glob_match(const char *glob, const char *name);

/* What stands for the file of a reduction from the command line. */
#define EMU_REDUCTION_OPTION "--set recipe.reduce=..."

/* Where a reduction stands: "FILE:8" (with an empty file "line 8"), "--set recipe.reduce=...", or
 * "derived". */
void emu_reduction_place(const struct emu_reduction_plan *reduction, const char *file,
                         struct emu_text *out);

/* The recipe as the config would write it, for --show-recipe. */
void emu_recipe_to_yaml(const struct emu_recipe_plan *recipe, struct emu_text *out);

#endif
