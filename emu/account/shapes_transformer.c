#include "account/shapes.h"

#include <inttypes.h>
#include <stdio.h>

/* What every function here needs. */
struct layout {
    struct emu_shapes *shapes;
    const struct emu_model_config *model;
    struct emu_part *part;
};

static emu_u128 product(emu_u128 a, emu_u128 b, emu_u128 c)
{
    return emu_exact_mul(emu_exact_mul(a, b), c);
}

static struct emu_shape *add(const struct layout *at, const char *name, enum emu_split split,
                             emu_u128 elements)
{
    struct emu_shape *shape = emu_part_add(at->part, name, split, elements);
    if (split == EMU_SPLIT_ROWS || split == EMU_SPLIT_COLUMNS)
        shape->pieces = at->shapes->tp;
    if (split == EMU_SPLIT_HEADS)
        shape->pieces =
            at->model->kv_heads < at->shapes->tp ? (uint32_t)at->model->kv_heads : at->shapes->tp;
    return shape;
}

static void add_norm(const struct layout *at, const char *name, uint64_t width)
{
    char full[EMU_SHAPE_NAME_MAX];
    snprintf(full, sizeof full, "%s.weight", name);
    add(at, full, EMU_SPLIT_COPIED, width);
    snprintf(full, sizeof full, "%s.bias", name);
    if (at->model->norm == EMU_NORM_LAYER)
        add(at, full, EMU_SPLIT_COPIED, width);
}

static void add_heads(const struct layout *at)
{
    const struct emu_model_config *m = at->model;
    add(at, "q.weight", EMU_SPLIT_ROWS, product(m->heads, m->head_dim, m->hidden));
    add(at, "k.weight", EMU_SPLIT_HEADS, product(m->kv_heads, m->head_dim, m->hidden));
    add(at, "v.weight", EMU_SPLIT_HEADS, product(m->kv_heads, m->head_dim, m->hidden));
    add(at, "o.weight", EMU_SPLIT_COLUMNS, product(m->hidden, m->heads, m->head_dim));
    if (m->bias || m->qkv_bias) {
        add(at, "q.bias", EMU_SPLIT_ROWS, emu_exact_mul(m->heads, m->head_dim));
        add(at, "k.bias", EMU_SPLIT_HEADS, emu_exact_mul(m->kv_heads, m->head_dim));
        add(at, "v.bias", EMU_SPLIT_HEADS, emu_exact_mul(m->kv_heads, m->head_dim));
    }
    if (m->bias)
        add(at, "o.bias", EMU_SPLIT_COPIED, m->hidden);
    if (m->qk_norm) {
        add_norm(at, "q_norm", m->head_dim);
        add_norm(at, "k_norm", m->head_dim);
    }
}

/* The down projections and their norms are copied, the up projections split by heads. */
static void add_latent(const struct layout *at)
{
    const struct emu_model_config *m = at->model;
    emu_u128 q_width = emu_exact_add(m->latent.nope, m->latent.rope);
    emu_u128 kv_width = emu_exact_add(m->latent.nope, m->latent.value);
    emu_u128 kv_down = emu_exact_add(m->latent.kv, m->latent.rope);
    if (m->latent.q) {
        add(at, "q_down.weight", EMU_SPLIT_COPIED, emu_exact_mul(m->latent.q, m->hidden));
        add_norm(at, "q_norm", m->latent.q);
    }
    add(at, "q_up.weight", EMU_SPLIT_ROWS,
        product(m->heads, q_width, m->latent.q ? m->latent.q : m->hidden));
    add(at, "kv_down.weight", EMU_SPLIT_COPIED, emu_exact_mul(kv_down, m->hidden));
    add_norm(at, "kv_norm", m->latent.kv);
    add(at, "kv_up.weight", EMU_SPLIT_ROWS, product(m->heads, kv_width, m->latent.kv));
    add(at, "o.weight", EMU_SPLIT_COLUMNS, product(m->hidden, m->heads, m->latent.value));
}

static void add_dense_mlp(const struct layout *at)
{
    const struct emu_model_config *m = at->model;
    emu_u128 matrix = emu_exact_mul(m->ffn, m->hidden);
    if (m->gated)
        add(at, "gate.weight", EMU_SPLIT_ROWS, matrix);
    if (m->gated && m->bias)
        add(at, "gate.bias", EMU_SPLIT_ROWS, m->ffn);
    add(at, "up.weight", EMU_SPLIT_ROWS, matrix);
    if (m->bias)
        add(at, "up.bias", EMU_SPLIT_ROWS, m->ffn);
    add(at, "down.weight", EMU_SPLIT_COLUMNS, matrix);
    if (m->bias)
        add(at, "down.bias", EMU_SPLIT_COPIED, m->hidden);
}

/* All experts of the layer (or all shared ones): each split like a dense MLP, without biases. */
static void add_expert_mlps(const struct layout *at, const char *owner, uint64_t count)
{
    static const char *const matrices[] = {"gate", "up", "down"};
    emu_u128 matrix = emu_exact_mul(at->model->experts.ffn, at->model->hidden);
    for (int i = at->model->gated ? 0 : 1; i < 3 && count; i++) {
        char name[EMU_SHAPE_NAME_MAX];
        snprintf(name, sizeof name, "%s.*.%s.weight", owner, matrices[i]);
        add(at, name, i == 2 ? EMU_SPLIT_COLUMNS : EMU_SPLIT_ROWS, matrix)->repeat = count;
    }
}

static void add_experts(const struct layout *at)
{
    const struct emu_model_config *m = at->model;
    add(at, "router.weight", EMU_SPLIT_COPIED, emu_exact_mul(m->experts.count, m->hidden));
    if (m->experts.router_bias)
        add(at, "router.bias", EMU_SPLIT_COPIED, m->experts.count);
    add_expert_mlps(at, "experts", m->experts.count);
    add_expert_mlps(at, "shared", m->experts.shared);
}

static void add_layer(struct layout *at, enum emu_part_kind kind, bool experts)
{
    at->part = &at->shapes->parts[kind];
    add_norm(at, "norm1", at->model->hidden);
    if (at->model->has_latent)
        add_latent(at);
    else
        add_heads(at);
    add_norm(at, "norm2", at->model->hidden);
    if (experts)
        add_experts(at);
    else
        add_dense_mlp(at);
}

static void add_table(const struct layout *at, const char *name)
{
    const struct emu_model_config *m = at->model;
    emu_u128 rows = emu_vocabulary_round(m->vocab, m->vocab_multiple, at->shapes->tp);
    struct emu_shape *table = add(at, name, EMU_SPLIT_ROWS, emu_exact_mul(m->vocab, m->hidden));
    table->padded = emu_exact_mul(rows, m->hidden);
    table->tied = m->tie_embeddings && at->shapes->pp > 1;
}

static void refuse(const struct emu_shapes *shapes, struct emu_text *diagnostics, const char *key,
                   uint64_t value)
{
    emu_config_complain(shapes->config, diagnostics, key,
                        "%" PRIu64 " is not divisible by the size of tp, %" PRIu32
                        ": tp has to divide it",
                        value, shapes->tp);
}

static void check(const struct emu_shapes *shapes, struct emu_text *diagnostics)
{
    const struct emu_model_config *m = &shapes->config->model;
    uint32_t tp = shapes->tp;
    bool dense = !m->has_experts || m->experts.from_layer > 0;
    if (m->heads % tp)
        refuse(shapes, diagnostics, "model.heads", m->heads);
    if (!m->has_latent && m->heads % m->kv_heads)
        emu_config_complain(shapes->config, diagnostics, "model.kv_heads",
                            "%" PRIu64 " key-value heads do not divide %" PRIu64 " heads",
                            m->kv_heads, m->heads);
    if (!m->has_latent && m->kv_heads % tp && tp % m->kv_heads)
        emu_config_complain(shapes->config, diagnostics, "model.kv_heads",
                            "%" PRIu64 " key-value heads on tp %" PRIu32
                            ": one of the two has to divide the other",
                            m->kv_heads, tp);
    if (dense && m->ffn % tp)
        refuse(shapes, diagnostics, "model.ffn", m->ffn);
    if (m->has_experts && m->experts.from_layer < m->layers && m->experts.ffn % tp)
        refuse(shapes, diagnostics, "model.experts.ffn", m->experts.ffn);
}

void emu_shapes_transformer(struct emu_shapes *shapes, struct emu_text *diagnostics)
{
    const struct emu_model_config *model = &shapes->config->model;
    struct layout at = {shapes, model, &shapes->parts[EMU_PART_FIRST]};
    check(shapes, diagnostics);
    add_table(&at, "embed.weight");
    if (model->positions == EMU_LEARNED)
        add(&at, "positions.weight", EMU_SPLIT_COPIED,
            emu_exact_mul(model->sequence, model->hidden));
    if (model->embedding_norm)
        add_norm(&at, "embedding_norm", model->hidden);
    bool mixed = model->has_experts && model->experts.from_layer < model->layers;
    shapes->early = mixed ? model->experts.from_layer : model->layers;
    add_layer(&at, EMU_PART_EARLY, false);
    if (mixed)
        add_layer(&at, EMU_PART_LATE, true);
    at.part = &shapes->parts[EMU_PART_LAST];
    add_norm(&at, "final_norm", model->hidden);
    if (!model->tie_embeddings)
        add_table(&at, "head.weight");
}
