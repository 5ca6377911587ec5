#include "account/books.h"

/* Bytes that one rank sends in a step (B = bytes of one microbatch's stream on this rank):
 *
 *   tp    m*n*r*B*(t-1)/t, r = 8: two all-reduces forward, two backward (Narayanan 2021, 3.2);
 *         +2 with sequence_parallel (Korthikanti 2022, 4.2.2), +4 with full recomputation
 *   pp    m*B for each neighbour stage, /t with sequence_parallel; on both ends of a tied table
 *         also its gradient
 *   cp    m*n*(2, or 3 with full)*(c-1)*A*T*2e*max(g, t)/t: K and V gathered (Llama 3, 3.3.2)
 *   data  over N = dp*cp: 2(N-1)/N of the gradient; sharded (N-1) shards of gradient and weight
 *         (zero3: the weight twice), and what is left of the all-reduce over the other axis
 *
 * Each number is one fraction, rounded up once. */

/* Rounded up, or too large. */
static bool put(emu_u128 numerator, emu_u128 denominator, bool *has, uint64_t *bytes)
{
    if (numerator == EMU_EXACT_FULL)
        return false;
    emu_u128 rounded = emu_exact_ceil(numerator, denominator);
    *has = true;
    *bytes = (uint64_t)rounded;
    return emu_exact_fits(rounded);
}

/* A * micro * sequence: cp times the bytes of one feature of a microbatch. */
static emu_u128 feature_bytes(const struct emu_config *config)
{
    return emu_exact_mul(emu_exact_mul(config->batch.micro, config->model.sequence),
                         emu_activation_bytes(config));
}

static emu_u128 layer_passes(const struct emu_shapes *shapes, const struct emu_rank_class *class,
                             uint32_t passes)
{
    emu_u128 layers = (emu_u128) class->content.early + class->content.late;
    return emu_exact_mul(emu_exact_mul(shapes->config->batch.microbatches, layers), passes);
}

static bool send_tp(const struct emu_shapes *shapes, const struct emu_rank_class *class,
                    struct emu_traffic *traffic)
{
    const struct emu_config *config = shapes->config;
    if (shapes->tp == 1)
        return true;
    uint32_t passes = 8U + (config->sequence_parallel ? 2 : 0) +
                      (config->recompute == EMU_RECOMPUTE_FULL ? 4 : 0);
    emu_u128 block = emu_exact_mul(feature_bytes(config), config->model.hidden);
    emu_u128 sent =
        emu_exact_mul(emu_exact_mul(layer_passes(shapes, class, passes), block), shapes->tp - 1);
    return put(sent, (emu_u128)shapes->tp * shapes->cp, &traffic->has_tp, &traffic->tp);
}

/* Gradient bytes of the tied table's slice on this rank. */
static emu_u128 tied_bytes(const struct emu_shapes *shapes, const struct emu_rank_class *class)
{
    const struct emu_part *part = &shapes->parts[EMU_PART_FIRST];
    emu_u128 sum = 0;
    for (uint32_t i = 0; i < part->count; i++) {
        if (part->shapes[i].tied && (class->content.first || class->content.last))
            sum += emu_shape_local(&part->shapes[i], &class->run) * shapes->bytes.gradient;
    }
    return sum;
}

static bool send_pp(const struct emu_shapes *shapes, const struct emu_rank_class *class,
                    struct emu_traffic *traffic)
{
    const struct emu_config *config = shapes->config;
    if (shapes->pp == 1)
        return true;
    emu_u128 parts = (emu_u128)shapes->cp * (config->sequence_parallel ? shapes->tp : 1);
    uint32_t neighbours = (class->content.first ? 0U : 1U) + (class->content.last ? 0U : 1U);
    emu_u128 sent = emu_exact_mul(feature_bytes(config), config->model.hidden);
    sent = emu_exact_mul(emu_exact_mul(sent, config->batch.microbatches), neighbours);
    sent = emu_exact_add(sent, emu_exact_mul(tied_bytes(shapes, class), parts));
    return put(sent, parts, &traffic->has_pp, &traffic->pp);
}

static bool send_cp(const struct emu_shapes *shapes, const struct emu_rank_class *class,
                    struct emu_traffic *traffic)
{
    const struct emu_config *config = shapes->config;
    const struct emu_model_config *m = &config->model;
    if (shapes->cp == 1)
        return true;
    uint32_t passes = config->recompute == EMU_RECOMPUTE_FULL ? 3 : 2;
    uint64_t kv = m->kv_heads > shapes->tp ? m->kv_heads : shapes->tp;
    emu_u128 width = emu_exact_mul((emu_u128)2 * m->head_dim, kv);
    emu_u128 sent = emu_exact_mul(emu_exact_mul(feature_bytes(config), width),
                                  layer_passes(shapes, class, passes));
    sent = emu_exact_mul(sent, shapes->cp - 1);
    return put(sent, (emu_u128)shapes->tp * shapes->cp, &traffic->has_cp, &traffic->cp);
}

static bool send_data(const struct emu_shapes *shapes, const struct emu_rank_class *class,
                      struct emu_traffic *traffic)
{
    enum emu_optimizer_shard level = shapes->config->optimizer.shard;
    emu_u128 members = (emu_u128)shapes->dp * shapes->cp;
    if (members == 1)
        return true;
    uint64_t gradient = shapes->bytes.gradient;
    if (level == EMU_SHARD_NONE) {
        emu_u128 whole = emu_elements_of(shapes, class, 1);
        return put(emu_exact_mul(whole, 2 * (members - 1) * gradient), members, &traffic->has_data,
                   &traffic->data);
    }
    emu_u128 cut = emu_elements_of(shapes, class, shapes->shard);
    emu_u128 rest = members / shapes->shard;
    emu_u128 each = gradient + (level == EMU_ZERO3 ? 2 : 1) * shapes->bytes.weight;
    emu_u128 sent = emu_exact_mul(cut, (shapes->shard - 1) * each * rest);
    sent = emu_exact_add(sent, emu_exact_mul(cut, 2 * (rest - 1) * gradient));
    return put(sent, rest, &traffic->has_data, &traffic->data);
}

bool emu_traffic_of(const struct emu_shapes *shapes, const struct emu_rank_class *class,
                    struct emu_traffic *traffic)
{
    *traffic = (struct emu_traffic){0};
    if (!send_data(shapes, class, traffic))
        return false;
    if (shapes->config->model.kind != EMU_MODEL_TRANSFORMER)
        return true;
    return send_tp(shapes, class, traffic) && send_pp(shapes, class, traffic) &&
           send_cp(shapes, class, traffic);
}
