#include "plain_model.h"

#include "base/philox.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

static uint64_t up(uint64_t a, uint64_t b)
{
    return (a + b - 1) / b;
}

static struct plain_tensor *add(struct plain_model *m, uint64_t elements, uint64_t pieces,
                                uint32_t stage)
{
    assert(m->count < PLAIN_TENSORS);
    struct plain_tensor *t = &m->tensors[m->count++];
    *t = (struct plain_tensor){
        .elements = elements, .padded = elements, .pieces = pieces, .stage = stage, .also = stage};
    return t;
}

static void add_norm(struct plain_model *m, const struct emu_config *c, uint64_t width,
                     uint32_t stage)
{
    add(m, width, 1, stage);
    if (c->model.norm == EMU_NORM_LAYER)
        add(m, width, 1, stage);
}

static void add_table(struct plain_model *m, uint64_t vocab, uint64_t multiple, uint64_t width,
                      uint32_t stage, uint32_t also)
{
    struct plain_tensor *t = add(m, vocab * width, m->tp, stage);
    t->padded = up(vocab, multiple * m->tp) * multiple * m->tp * width;
    t->also = also;
}

static uint32_t stage_of(const struct emu_config *c, uint32_t pp, uint64_t layer)
{
    uint64_t end = 0;
    for (uint32_t s = 0;; s++) {
        end += c->model.stage_count ? c->model.stages[s]
                                    : c->model.layers / pp + (s < c->model.layers % pp);
        if (layer < end)
            return s;
    }
}

static void add_mlp_layer(struct plain_model *m, const struct emu_config *c, uint64_t layer)
{
    uint32_t s = stage_of(c, m->pp, layer);
    uint64_t wide = layer == 0 ? c->model.context * c->model.embed : c->model.embed;
    const uint64_t units[] = {wide, 1, c->model.embed};
    if (c->model.norm != EMU_NORM_NONE)
        add(m, wide, 1, s);
    for (int i = 0; i < 3; i++) {
        struct plain_tensor *t = add(m, c->model.hidden * units[i], m->tp, s);
        t->chunks = c->model.hidden;
        t->unit = units[i];
    }
    add(m, c->model.embed, 1, s);
}

static void add_attention(struct plain_model *m, const struct emu_config *c, uint32_t s)
{
    const struct emu_model_config *o = &c->model;
    uint64_t kv = o->kv_heads < m->tp ? o->kv_heads : m->tp;
    add(m, o->heads * o->head_dim * o->hidden, m->tp, s);
    add(m, o->heads * o->head_dim * o->hidden, m->tp, s);
    add(m, o->kv_heads * o->head_dim * o->hidden, kv, s)->heads = true;
    add(m, o->kv_heads * o->head_dim * o->hidden, kv, s)->heads = true;
    if (o->bias || o->qkv_bias) {
        add(m, o->heads * o->head_dim, m->tp, s);
        add(m, o->kv_heads * o->head_dim, kv, s)->heads = true;
        add(m, o->kv_heads * o->head_dim, kv, s)->heads = true;
    }
    if (o->bias)
        add(m, o->hidden, 1, s);
    for (int i = 0; i < 2 && o->qk_norm; i++)
        add_norm(m, c, o->head_dim, s);
}

static void add_latent(struct plain_model *m, const struct emu_config *c, uint32_t s)
{
    const struct emu_model_config *o = &c->model;
    uint64_t from = o->latent.q ? o->latent.q : o->hidden;
    if (o->latent.q) {
        add(m, o->latent.q * o->hidden, 1, s);
        add_norm(m, c, o->latent.q, s);
    }
    add(m, o->heads * (o->latent.nope + o->latent.rope) * from, m->tp, s);
    add(m, (o->latent.kv + o->latent.rope) * o->hidden, 1, s);
    add_norm(m, c, o->latent.kv, s);
    add(m, o->heads * (o->latent.nope + o->latent.value) * o->latent.kv, m->tp, s);
    add(m, o->hidden * o->heads * o->latent.value, m->tp, s);
}

static void add_feed_forward(struct plain_model *m, const struct emu_config *c, uint64_t layer,
                             uint32_t s)
{
    const struct emu_model_config *o = &c->model;
    uint64_t matrices = o->gated ? 3 : 2;
    if (o->has_experts && layer >= o->experts.from_layer) {
        add(m, o->experts.count * o->hidden, 1, s);
        if (o->experts.router_bias)
            add(m, o->experts.count, 1, s);
        for (uint64_t i = 0; i < (o->experts.count + o->experts.shared) * matrices; i++)
            add(m, o->experts.ffn * o->hidden, m->tp, s);
        return;
    }
    for (uint64_t i = 0; i < matrices; i++) {
        bool down = i == matrices - 1;
        add(m, o->ffn * o->hidden, m->tp, s);
        if (o->bias)
            add(m, down ? o->hidden : o->ffn, down ? 1 : m->tp, s);
    }
}

static void add_transformer(struct plain_model *m, const struct emu_config *c)
{
    const struct emu_model_config *o = &c->model;
    add_table(m, o->vocab, o->vocab_multiple, o->hidden, 0, o->tie_embeddings ? m->pp - 1 : 0);
    if (o->positions == EMU_LEARNED)
        add(m, o->sequence * o->hidden, 1, 0);
    if (o->embedding_norm)
        add_norm(m, c, o->hidden, 0);
    for (uint64_t n = 0; n < o->layers; n++) {
        uint32_t s = stage_of(c, m->pp, n);
        add_norm(m, c, o->hidden, s);
        if (o->has_latent)
            add_latent(m, c, s);
        else
            add_attention(m, c, s);
        add_norm(m, c, o->hidden, s);
        add_feed_forward(m, c, n, s);
    }
    add_norm(m, c, o->hidden, m->pp - 1);
    if (!o->tie_embeddings)
        add_table(m, o->vocab, o->vocab_multiple, o->hidden, m->pp - 1, m->pp - 1);
}

void plain_model_make(const struct emu_config *c, struct plain_model *m)
{
    *m = (struct plain_model){.world = c->mesh.world};
    m->dp = emu_mesh_size(&c->mesh, "dp");
    m->tp = emu_mesh_size(&c->mesh, "tp");
    m->cp = emu_mesh_size(&c->mesh, "cp");
    m->pp = emu_mesh_size(&c->mesh, "pp");
    m->level = (int)c->optimizer.shard;
    m->over_dp = c->optimizer.over_dp;
    m->over_cp = c->optimizer.over_cp;
    m->shard = (m->over_dp ? m->dp : 1) * (m->over_cp ? m->cp : 1);
    if (c->model.kind == EMU_MODEL_LINEAR) {
        add(m, c->model.features, 1, 0);
    } else if (c->model.kind == EMU_MODEL_TRANSFORMER) {
        add_transformer(m, c);
    } else {
        bool tied = c->model.tie_embeddings;
        add_table(m, 256, 1, c->model.embed, 0, tied ? m->pp - 1 : 0);
        for (uint64_t n = 0; n < c->model.layers; n++)
            add_mlp_layer(m, c, n);
        if (!tied)
            add_table(m, 256, 1, c->model.embed, m->pp - 1, m->pp - 1);
    }
}

struct plain_place plain_place_of(const struct emu_config *config, uint32_t rank)
{
    struct plain_place place = {0};
    for (uint32_t i = config->mesh.axis_count; i-- > 0;) { /* the last axis is the fastest */
        const char *name = config->mesh.axes[i].name;
        uint32_t coordinate = rank % config->mesh.axes[i].size;
        rank /= config->mesh.axes[i].size;
        if (!strcmp(name, "dp"))
            place.dp = coordinate;
        if (!strcmp(name, "tp"))
            place.tp = coordinate;
        if (!strcmp(name, "cp"))
            place.cp = coordinate;
        if (!strcmp(name, "pp"))
            place.pp = coordinate;
    }
    return place;
}

struct plain_piece plain_piece_of(const struct plain_model *m, const struct plain_tensor *t,
                                  struct plain_place at, bool sharded)
{
    struct plain_piece piece = {0};
    if (at.pp != t->stage && at.pp != t->also)
        return piece;
    uint64_t local;
    if (t->chunks) {
        uint64_t width = up(t->chunks, m->tp);
        uint64_t first = at.tp * width < t->chunks ? at.tp * width : t->chunks;
        uint64_t end = first + width < t->chunks ? first + width : t->chunks;
        piece.first = first * t->unit;
        local = (end - first) * t->unit;
    } else {
        local = t->padded / t->pieces;
        piece.first = at.tp * t->pieces / m->tp * local;
    }
    piece.allocated = local;
    piece.end = piece.first + local;
    if (sharded) {
        uint64_t index =
            (m->over_dp ? at.dp : 0) * (m->over_cp ? m->cp : 1) + (m->over_cp ? at.cp : 0);
        uint64_t each = up(local, m->shard);
        uint64_t first = piece.first + index * each;
        piece.allocated = each;
        piece.first = first < piece.end ? first : piece.end;
        piece.end = first + each < piece.end ? first + each : piece.end;
    }
    return piece;
}

/* Random numbers of a config, drawn one after the other. */
struct draw {
    uint64_t seed;
    uint32_t next;
};

static uint32_t below(struct draw *d, uint32_t n)
{
    return (uint32_t)(emu_random_bits(d->seed, 0, d->next++) >> 32) % n;
}

static void draw_mesh(struct draw *d, uint32_t size[5], char *out, size_t room)
{
    static const char *const names[] = {"dp", "tp", "cp", "pp", "x"};
    uint32_t order[5] = {0, 1, 2, 3, 4};
    size_t used = 0;
    uint32_t world = 1;
    for (uint32_t i = 5; i-- > 1;) {
        uint32_t k = below(d, i + 1);
        uint32_t kept = order[i];
        order[i] = order[k];
        order[k] = kept;
    }
    for (uint32_t i = 0; i < 5; i++) {
        size[i] = 1 + below(d, i == 4 ? 2 : 4);
        if (world * size[i] > 48)
            size[i] = 1;
        world *= size[i];
    }
    used += (size_t)snprintf(out, room, "mesh: \"");
    for (uint32_t i = 0; i < 5; i++)
        used += (size_t)snprintf(out + used, room - used, "%s%s=%u", i ? "," : "", names[order[i]],
                                 size[order[i]]);
    snprintf(out + used, room - used, "\"\n");
}

/* A number of its own for each place: the order in which arguments are evaluated is free. */
static uint32_t pick(const struct draw *d, uint32_t place, uint32_t n)
{
    return (uint32_t)(emu_random_bits(d->seed, 1, place) >> 32) % n;
}

static const char *flag(const struct draw *d, uint32_t place)
{
    return pick(d, place, 2) ? "true" : "false";
}

static void draw_transformer(const struct draw *d, const uint32_t size[5], char *out, size_t room)
{
    uint32_t tp = size[1];
    uint32_t heads = tp * (1 + pick(d, 1, 2)) * (1 + pick(d, 2, 2));
    uint32_t layers = size[3] + pick(d, 3, 3);
    bool few = heads % tp == 0 && pick(d, 4, 2);
    size_t used = (size_t)snprintf(
        out, room,
        "model:\n  kind: transformer\n  layers: %u\n  hidden: %u\n  heads: %u\n  kv_heads: %u\n"
        "  head_dim: %u\n  ffn: %u\n  vocab: %u\n  vocab_multiple: %u\n  sequence: %u\n"
        "  gated: %s\n  bias: %s\n  qkv_bias: %s\n  qk_norm: %s\n  tie_embeddings: %s\n"
        "  embedding_norm: %s\n  norm: %s\n  positions: %s\n",
        layers, 1 + pick(d, 5, 6), heads, few ? 1 : heads, 1 + pick(d, 6, 3),
        tp * (1 + pick(d, 7, 3)), 1 + pick(d, 8, 20), 1 + pick(d, 9, 3), 1 + pick(d, 10, 5),
        flag(d, 30), flag(d, 31), flag(d, 32), flag(d, 33), flag(d, 34), flag(d, 35),
        pick(d, 11, 2) ? "rms" : "layer", pick(d, 12, 2) ? "learned" : "rotary");
    if (pick(d, 13, 3) == 0)
        used += (size_t)snprintf(
            out + used, room - used,
            "  experts: {count: %u, active: 1, shared: %u, ffn: %u, from_layer: %u, "
            "router_bias: %s}\n",
            1 + pick(d, 14, 3), pick(d, 15, 2), tp * (1 + pick(d, 16, 2)), pick(d, 17, layers + 1),
            flag(d, 36));
    if (pick(d, 18, 4) == 0) {
        char query[16] = "";
        if (pick(d, 19, 2))
            snprintf(query, sizeof query, "q: %u, ", 1 + pick(d, 20, 4));
        snprintf(out + used, room - used, "  latent: {%skv: %u, nope: %u, rope: %u, value: %u}\n",
                 query, 1 + pick(d, 21, 4), 1 + pick(d, 22, 3), pick(d, 23, 3), 1 + pick(d, 24, 3));
    }
}

static void draw_mlp(const struct draw *d, const uint32_t size[5], char *out, size_t room)
{
    snprintf(out, room,
             "model: {kind: mlp_lm, context: %u, embed: %u, hidden: %u, layers: %u, norm: %s, "
             "tie_embeddings: %s}\n",
             1 + pick(d, 25, 3), 1 + pick(d, 26, 3), 1 + pick(d, 27, 9), size[3] + pick(d, 28, 3),
             pick(d, 29, 2) ? "rms" : "none", flag(d, 37));
}

void plain_config_draw(uint64_t seed, char *out, size_t room)
{
    static const char *const levels[] = {"none", "zero1", "zero2", "zero3"};
    static const char *const groups[] = {"[dp, cp]", "[dp]", "[cp]"};
    struct draw d = {.seed = seed};
    uint32_t size[5];
    draw_mesh(&d, size, out, room);
    size_t used = strlen(out);
    uint32_t kind = below(&d, 8);
    if (kind < 5)
        draw_transformer(&d, size, out + used, room - used);
    else if (kind < 7 || size[3] > 1)
        draw_mlp(&d, size, out + used, room - used);
    else
        snprintf(out + used, room - used, "model: {kind: linear, features: %u}\n",
                 1 + below(&d, 40));
    used = strlen(out);
    snprintf(out + used, room - used, "optimizer: {kind: adamw, shard: %s, over: %s}\n",
             levels[pick(&d, 50, 4)], groups[pick(&d, 51, 3)]);
}
