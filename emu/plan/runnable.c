#include "plan/model.h"

#include <stdio.h>
#include <string.h>

/* Largest model that a run may ask for: keeps every size below 2^53 elements, far below 64 bits. */
#define ELEMENTS_MOST (UINT64_C(1) << 40)

static bool too_large(uint64_t a, uint64_t b, uint64_t c)
{
    uint64_t product;
    return __builtin_mul_overflow(a, b, &product) || __builtin_mul_overflow(product, c, &product) ||
           product > ELEMENTS_MOST;
}

/* Sources of gradient: each has a coefficient on every rank. */
#define SOURCES_MOST (UINT64_C(1) << 20)

static bool check_sources(const struct emu_config *config, struct emu_text *diagnostics)
{
    const struct emu_token_list *tokens = config->data.inline_tokens;
    uint64_t microbatches = tokens ? tokens->microbatches : config->data.microbatches;
    uint64_t owners =
        (uint64_t)emu_mesh_size(&config->mesh, "dp") * emu_mesh_size(&config->mesh, "cp");
    if (microbatches <= SOURCES_MOST / owners)
        return true;
    emu_config_complain(config, diagnostics, "data.microbatches",
                        "dp * cp * microbatches may be 2^20 at most");
    return false;
}

static bool check_sizes(const struct emu_config *config, struct emu_text *diagnostics)
{
    const struct emu_model_config *model = &config->model;
    if (model->kind == EMU_MODEL_LINEAR)
        return true; /* the config bounds its features and tokens */
    if (model->layers > 4096) {
        emu_config_complain(config, diagnostics, "model.layers",
                            "a run can hold at most 4096 layers, got %llu",
                            (unsigned long long)model->layers);
        return false;
    }
    if (too_large(model->context, model->embed, model->hidden) ||
        too_large(model->layers, model->embed, model->hidden)) {
        emu_config_complain(config, diagnostics, "model",
                            "a weight of this model has more than 2^40 elements; "
                            "lower context, embed, hidden or layers");
        return false;
    }
    uint64_t widest = model->context * model->embed;
    if (widest < model->hidden)
        widest = model->hidden;
    if (too_large(config->data.batch, config->data.sequence, widest + EMU_VOCAB)) {
        emu_config_complain(config, diagnostics, "data.batch",
                            "the activations of a step have more than 2^40 elements; "
                            "lower data.batch or data.sequence");
        return false;
    }
    return true;
}

/* Parts of the contract that this version reads but does not run. */
static bool check_axes(const struct emu_config *config, struct emu_text *diagnostics)
{
    bool linear = config->model.kind == EMU_MODEL_LINEAR;
    uint32_t pp = emu_mesh_size(&config->mesh, "pp");
    bool good = true;
    if (pp > 1 && linear) {
        emu_config_complain(config, diagnostics, "mesh",
                            "pp=%u: a linear model has one weight and no stages; pp must be 1",
                            (unsigned)pp);
        good = false;
    }
    if (pp > 1 && !linear && config->model.layers < pp) {
        emu_config_complain(config, diagnostics, "model.layers",
                            "%llu layers cannot fill %u pipeline stages",
                            (unsigned long long)config->model.layers, (unsigned)pp);
        good = false;
    }
    return good;
}

static bool refuse(const struct emu_config *config, struct emu_text *diagnostics, const char *key,
                   const char *message)
{
    emu_config_complain(config, diagnostics, key, "%s", message);
    return false;
}

bool emu_plan_runnable(const struct emu_config *config, struct emu_text *diagnostics)
{
    if (!config->has_mesh)
        return refuse(config, diagnostics, "mesh", "a run needs a mesh, e.g. mesh: dp=2,tp=2");
    if (!config->has_model)
        return refuse(config, diagnostics, "model",
                      "a run needs a model, e.g. model: {kind: mlp_lm}");
    if (config->model.kind == EMU_MODEL_TRANSFORMER)
        return refuse(config, diagnostics, "model.kind",
                      "transformer is for accounting only; a run needs kind: mlp_lm or linear");
    bool linear = config->model.kind == EMU_MODEL_LINEAR;
    if (!config->data.text && !config->data.inline_tokens)
        return refuse(config, diagnostics, "data",
                      linear ? "a run of kind: linear needs tokens, e.g. data: {tokens: [[[1, 2]]]}"
                             : "a run needs a text, e.g. data: {text: quickstart.txt}");
    bool good = check_sizes(config, diagnostics);
    good = check_sources(config, diagnostics) && good;
    return check_axes(config, diagnostics) && good;
}
