#include "account/books.h"
#include "account/claim.h"

/* Korthikanti et al. 2022 (arXiv 2205.05198), equations 1 to 6, for any widths. With T = micro *
 * sequence / cp tokens, A bytes an activation, D = 1 with dropout, S = t with sequence_parallel:
 *
 *   T*h*(4A + 2D)/S + T*A*(2ae + 2e*max(g, t) + kf)/t + T*sequence*(a/t)*(A + D(1 + A))
 *
 * Everything is a multiple of 1/(cp*t), so sums are kept as numerators over that. The last term,
 * the scores, falls away with flash or selective recomputation; full leaves T*h*A/S. */

struct terms {
    emu_u128 stream; /* h * (4A + 2D) * t/S, or h * A * t/S */
    emu_u128 inner;  /* A * (2ae + 2e*max(g, t)), without the MLP */
    emu_u128 score;  /* sequence * a * (A + D(1 + A)) */
};

uint64_t emu_activation_bytes(const struct emu_config *config)
{
    return config->precision.given ? config->precision.activation : 2;
}

/* tp: 1 for what all tp ranks together hold, each value once. */
static struct terms terms_of(const struct emu_shapes *shapes, uint32_t tp)
{
    const struct emu_config *config = shapes->config;
    const struct emu_model_config *m = &config->model;
    uint64_t act = emu_activation_bytes(config);
    uint64_t drop = config->dropout;
    uint32_t spread = config->sequence_parallel ? 1 : tp;
    struct terms terms = {0};
    if (config->recompute == EMU_RECOMPUTE_FULL) {
        terms.stream = emu_exact_mul(m->hidden, (emu_u128)act * spread);
        return terms;
    }
    uint64_t kv = m->kv_heads > tp ? m->kv_heads : tp;
    emu_u128 heads = emu_exact_mul(2 * ((emu_u128)m->heads + kv), m->head_dim);
    terms.stream = emu_exact_mul(m->hidden, (emu_u128)(4 * act + 2 * drop) * spread);
    terms.inner = emu_exact_mul(heads, act);
    if (config->recompute == EMU_RECOMPUTE_NONE && !config->flash)
        terms.score = emu_exact_mul(emu_exact_mul(m->sequence, m->heads), act + drop * (1 + act));
    return terms;
}

/* One layer and microbatch, for each sequence position, times cp*t. */
static emu_u128 layer(const struct emu_shapes *shapes, const struct terms *terms, emu_u128 width)
{
    const struct emu_config *config = shapes->config;
    emu_u128 sum = emu_exact_add(emu_exact_add(terms->stream, terms->inner), terms->score);
    if (config->recompute == EMU_RECOMPUTE_FULL)
        return sum;
    uint64_t matrices = config->model.gated ? 3 : 2;
    return emu_exact_add(
        sum, emu_exact_mul(emu_exact_mul(width, matrices), emu_activation_bytes(config)));
}

/* The stage's layers for its microbatches in flight, times cp*t. */
static emu_u128 stage_sum(const struct emu_shapes *shapes, const struct terms *terms,
                          const struct emu_stage_content *content)
{
    const struct emu_config *config = shapes->config;
    const struct emu_model_config *m = &config->model;
    emu_u128 routed =
        emu_exact_mul((emu_u128)m->experts.active + m->experts.shared, m->experts.ffn);
    emu_u128 sum = emu_exact_add(emu_exact_mul(layer(shapes, terms, m->ffn), content->early),
                                 emu_exact_mul(layer(shapes, terms, routed), content->late));
    sum = emu_exact_mul(sum, emu_exact_mul(config->batch.micro, m->sequence));
    return emu_exact_mul(sum, content->in_flight);
}

bool emu_activations_counted(const struct emu_config *config)
{
    return config->model.kind == EMU_MODEL_TRANSFORMER && !config->model.has_latent;
}

bool emu_activations_of(const struct emu_shapes *shapes, const struct emu_rank_class *class,
                        uint64_t *bytes)
{
    *bytes = 0;
    if (!emu_activations_counted(shapes->config))
        return true;
    struct terms terms = terms_of(shapes, shapes->tp);
    emu_u128 sum = stage_sum(shapes, &terms, &class->content);
    if (sum == EMU_EXACT_FULL)
        return false;
    sum = emu_exact_ceil(sum, (emu_u128)shapes->cp * shapes->tp);
    *bytes = (uint64_t)sum;
    return emu_exact_fits(sum);
}

bool emu_activations_unique(const struct emu_books *books, uint64_t *bytes)
{
    const struct emu_shapes *shapes = &books->shapes;
    emu_u128 sum = 0;
    *bytes = 0;
    if (!emu_activations_counted(shapes->config))
        return true;
    struct terms terms = terms_of(shapes, 1);
    for (size_t i = 0; i < books->classes.count; i++) {
        const struct emu_rank_class *class = &books->classes.items[i];
        emu_u128 stage = stage_sum(shapes, &terms, &class->content);
        sum = emu_exact_add(sum, emu_exact_mul(stage, (emu_u128) class->stages * shapes->dp));
    }
    *bytes = (uint64_t)sum;
    return emu_exact_fits(sum);
}
