/* What a good config turns into. */
#include "config_reader.h"

#include <criterion/criterion.h>
#include <string.h>

static struct reading_result good(const char *text)
{
    struct reading_result result = read_text(text);
    cr_assert_eq(result.status, EMU_OK, "%s", emu_text_get(&result.diagnostics));
    cr_assert_eq(result.diagnostics.size, 0);
    return result;
}

Test(config_values, mesh_alone_gives_all_defaults)
{
    struct reading_result r = good("mesh: dp=2,tp=4\n");
    const struct emu_config *c = r.config;
    cr_expect(c->has_mesh && !c->has_model && !c->has_data && !c->recipe.given);
    cr_expect_str_eq(c->name, "test.yaml");
    cr_expect_str_eq(c->mesh_axes, "dp=2,tp=4");
    cr_expect_eq(c->mesh.world, 8);
    cr_expect_eq(c->model.kind, EMU_MODEL_MLP_LM);
    cr_expect(c->model.context == 8 && c->model.embed == 16 && c->model.hidden == 64);
    cr_expect(c->model.layers == 2 && c->model.tie_embeddings && !c->model.stages);
    cr_expect(c->data.sequence == 32 && c->data.batch == 16 && c->data.microbatches == 1);
    cr_expect_null(c->data.text);
    cr_expect_str_eq(c->recipe.scale_grad, "1/tokens");
    cr_expect_eq(c->optimizer.kind, EMU_ADAMW);
    cr_expect_eq(c->optimizer.lr, 1e-3);
    cr_expect(c->optimizer.beta1 == 0.9 && c->optimizer.beta2 == 0.999);
    cr_expect(c->optimizer.epsilon == 1e-8 && c->optimizer.weight_decay == 0);
    cr_expect(c->optimizer.over_dp && c->optimizer.over_cp && !c->optimizer.over_given);
    cr_expect(c->train.steps == 20 && c->train.seed == 1);
    cr_expect(c->checks.every == 1 && c->checks.oracle_every == 1 && c->checks.checksums);
    cr_expect(c->checks.ledger && c->checks.oracle);
    cr_expect(!c->precision.given && c->batch.micro == 1 && c->batch.microbatches == 1);
    cr_expect_eq(c->stall_after_ns, -1);
    cr_expect_eq(c->stop_grace_ns, UINT64_C(2000000000));
    reading_finish(&r);
}

Test(config_values, language_model_keys_land_in_their_fields)
{
    struct reading_result r =
        good("mesh: pp=2,dp=2\n"
             "model: {kind: mlp_lm, context: 3, embed: 5, hidden: 7, layers: 9, activation: silu,\n"
             "  norm: none, tie_embeddings: false, loss: squared, cp_split: balanced,\n"
             "  sequence_parallel: true, stages: [4, 5]}\n"
             "data: {text: a/b.txt, sequence: 11, batch: 13, microbatches: 17}\n"
             "arithmetic: f32\n");
    const struct emu_model_config *m = &r.config->model;
    cr_expect(m->context == 3 && m->embed == 5 && m->hidden == 7 && m->layers == 9);
    cr_expect(m->activation == EMU_SILU && m->norm == EMU_NORM_NONE && !m->tie_embeddings);
    cr_expect(m->loss == EMU_SQUARED && m->cp_split == EMU_BALANCED && m->sequence_parallel);
    cr_assert_eq(m->stage_count, 2);
    cr_expect(m->stages[0] == 4 && m->stages[1] == 5);
    const struct emu_data_config *d = &r.config->data;
    cr_expect_str_eq(d->text, "place/a/b.txt");
    cr_expect(d->sequence == 11 && d->batch == 13 && d->microbatches == 17);
    cr_expect_eq(r.config->arithmetic, EMU_ARITH_F32);
    reading_finish(&r);
}

Test(config_values, recipe_keys_land_in_their_fields)
{
    struct reading_result r =
        good("mesh: dp=2,tp=2,spare=3\n"
             "recipe:\n"
             "  loss: mean\n"
             "  scale_loss: dp*micro_tokens/tokens\n"
             "  accumulate: last\n"
             "  reduce:\n"
             "    - {over: [dp, cp], op: avg, params: layers.*, when: first, scale: 1/spare}\n"
             "    - {over: tied}\n"
             "  scale_grad: \"max(1,tokens)/2\"\n"
             "  clip: {max_norm: 1.5}\n"
             "  norm: replicas\n");
    const struct emu_recipe_config *c = &r.config->recipe;
    cr_expect(c->given && c->reduce_given && c->clip_given);
    cr_expect(c->loss == EMU_LOSS_MEAN && c->accumulate == EMU_ACC_LAST);
    cr_expect_str_eq(c->scale_loss, "dp*micro_tokens/tokens");
    cr_expect_str_eq(c->scale_grad, "max(1,tokens)/2");
    cr_expect(c->clip_max_norm == 1.5 && c->norm == EMU_COUNT_REPLICAS);
    cr_assert_eq(c->reduce_count, 2);
    cr_assert_eq(c->reduce[0].over_count, 2);
    cr_expect_str_eq(c->reduce[0].over[1], "cp");
    cr_expect(c->reduce[0].avg && c->reduce[0].when == EMU_WHEN_FIRST);
    cr_expect_str_eq(c->reduce[0].params, "layers.*");
    cr_expect_str_eq(c->reduce[0].scale, "1/spare");
    cr_expect(c->reduce[0].line == 7 && c->reduce[0].column == 7);
    cr_expect_str_eq(c->reduce[1].over[0], "tied");
    cr_expect(!c->reduce[1].avg && c->reduce[1].when == EMU_WHEN_STEP);
    cr_expect_str_eq(c->reduce[1].params, "all");
    cr_expect_str_eq(c->reduce[1].scale, "1");
    reading_finish(&r);
}

Test(config_values, given_recipe_leaves_out_factors_of_one)
{
    struct reading_result r = good("mesh: dp=2\nrecipe: {reduce: []}\n");
    cr_expect(r.config->recipe.given && r.config->recipe.reduce_given);
    cr_expect_eq(r.config->recipe.reduce_count, 0);
    cr_expect_str_eq(r.config->recipe.scale_grad, "1");
    reading_finish(&r);
    r = good("mesh: dp=2\nrecipe: {loss: mean}\n");
    cr_expect(r.config->recipe.given && !r.config->recipe.reduce_given);
    reading_finish(&r);
    r = good("mesh: dp=2\nrecipe:\n");
    cr_expect(!r.config->recipe.given);
    reading_finish(&r);
}

Test(config_values, loop_and_optimizer_keys_land_in_their_fields)
{
    struct reading_result r =
        good("mesh: dp=2\n"
             "optimizer: {kind: momentum, lr: 0.5, momentum: 0.25, shard: zero2, over: [cp]}\n"
             "train: {steps: 3, seed: 9223372036854775807, schedule: gpipe}\n"
             "checks: {every: 2, ledger: false, oracle: false, oracle_every: 5, checksums: false}\n"
             "faults: [crash rank=1 step=1, \"nan rank=0\"]\n"
             "stall_after: 1.5s\n"
             "stop_grace: 10ms\n");
    const struct emu_config *c = r.config;
    cr_expect(c->optimizer.kind == EMU_MOMENTUM && c->optimizer.lr == 0.5);
    cr_expect(c->optimizer.momentum == 0.25 && c->optimizer.shard == EMU_ZERO2);
    cr_expect(c->optimizer.over_given && !c->optimizer.over_dp && c->optimizer.over_cp);
    cr_expect(c->train.steps == 3 && c->train.schedule == EMU_GPIPE);
    cr_expect_eq(c->train.seed, (uint64_t)INT64_MAX);
    cr_expect(c->checks.every == 2 && c->checks.oracle_every == 5 && !c->checks.checksums);
    cr_expect(!c->checks.ledger && !c->checks.oracle);
    cr_assert_eq(c->fault_count, 2);
    cr_expect_str_eq(c->faults[0], "crash rank=1 step=1");
    cr_expect_str_eq(c->faults[1], "nan rank=0");
    cr_expect_eq(c->stall_after_ns, INT64_C(1500000000));
    cr_expect_eq(c->stop_grace_ns, UINT64_C(10000000));
    reading_finish(&r);
}

Test(config_values, transformer_keys_land_in_their_fields)
{
    struct reading_result r =
        good("mesh: tp=2\n"
             "model: {kind: transformer, layers: 4, hidden: 96, heads: 8, kv_heads: 2,\n"
             "  head_dim: 10, ffn: 20, gated: true, vocab: 30, vocab_multiple: 4, sequence: 50,\n"
             "  positions: learned, norm: layer, bias: true, qkv_bias: true, qk_norm: true,\n"
             "  tie_embeddings: true, embedding_norm: true, dropout: false,\n"
             "  experts: {count: 6, active: 2, shared: 1, ffn: 12, from_layer: 3,\n"
             "    router_bias: true},\n"
             "  latent: {q: 5, kv: 6, nope: 7, rope: 8, value: 9}}\n"
             "precision: {weight: 1, gradient: 2, master: 3, moments: 4, activation: 5}\n"
             "batch: {micro: 6, microbatches: 7}\n"
             "recompute: full\nsequence_parallel: true\nflash: true\n");
    const struct emu_model_config *m = &r.config->model;
    cr_expect(m->layers == 4 && m->hidden == 96 && m->heads == 8 && m->kv_heads == 2);
    cr_expect(m->head_dim == 10 && m->ffn == 20 && m->vocab == 30 && m->vocab_multiple == 4);
    cr_expect(m->sequence == 50 && m->positions == EMU_LEARNED && m->norm == EMU_NORM_LAYER);
    cr_expect(m->gated && m->bias && m->qkv_bias && m->qk_norm && m->tie_embeddings);
    cr_expect(m->embedding_norm && !m->dropout && m->has_experts && m->has_latent);
    cr_expect(m->experts.count == 6 && m->experts.active == 2 && m->experts.shared == 1);
    cr_expect(m->experts.ffn == 12 && m->experts.from_layer == 3 && m->experts.router_bias);
    cr_expect(m->latent.q == 5 && m->latent.kv == 6 && m->latent.nope == 7);
    cr_expect(m->latent.rope == 8 && m->latent.value == 9);
    const struct emu_config *c = r.config;
    cr_expect(c->precision.given && c->precision.weight == 1 && c->precision.gradient == 2);
    cr_expect(c->precision.master == 3 && c->precision.moments == 4);
    cr_expect(c->precision.activation == 5 && c->batch.micro == 6 && c->batch.microbatches == 7);
    cr_expect(c->recompute == EMU_RECOMPUTE_FULL && c->sequence_parallel && c->flash);
    reading_finish(&r);
}

Test(config_values, transformer_widths_follow_from_heads)
{
    struct reading_result r = good("mesh: tp=2\nmodel: {kind: transformer, layers: 4, hidden: 96, "
                                   "heads: 8, ffn: 20, vocab: 30, sequence: 50}\ndropout: false\n");
    const struct emu_model_config *m = &r.config->model;
    cr_expect(m->kv_heads == 8 && m->head_dim == 12 && !m->tie_embeddings);
    cr_expect(m->vocab_multiple == 1 && m->positions == EMU_ROTARY && m->norm == EMU_NORM_RMS);
    cr_expect(!m->dropout && !r.config->dropout, "dropout may stand outside of the model");
    reading_finish(&r);
}

Test(config_values, ranks_are_arranged_explicitly)
{
    struct reading_result r = good("mesh: {axes: \"dp=2,cp=2\", ranks: [0, 2, 1, 3]}\n");
    cr_expect_eq(r.config->mesh.rank_at[1], 2);
    cr_expect_str_eq(r.config->mesh_axes, "dp=2,cp=2");
    reading_finish(&r);
}

Test(config_values, inline_tokens_are_flattened_by_dp_cp_microbatch)
{
    struct reading_result r =
        good("mesh: cp=2,dp=2\nmodel: {kind: linear, features: 2}\n"
             "data: {tokens: [[[[[1, 2]], []], [[null], [[3, 4]]]],\n"
             "                [[[], [[5, 6], null]], [[[7, 8e0]], [[-9, .5]]]]]}\n");
    const struct emu_token_list *t = r.config->data.inline_tokens;
    const uint64_t first[] = {0, 1, 1, 2, 3, 3, 5, 6, 7};
    cr_assert_not_null(t);
    cr_expect(t->dp_count == 2 && t->cp_count == 2 && t->microbatches == 2 && t->features == 2);
    cr_expect_eq(r.config->data.microbatches, 2);
    cr_assert_eq(t->tokens, 7);
    cr_expect_arr_eq(t->first, first, sizeof first);
    cr_expect(t->masked[1] && t->masked[4] && !t->masked[0] && !t->masked[6]);
    cr_expect(t->value[0] == 1 && t->value[1] == 2 && t->value[5] == 4 && t->value[11] == 8);
    cr_expect(t->value[12] == -9 && t->value[13] == 0.5);
    reading_finish(&r);
}

Test(config_values, json_is_read_as_flow)
{
    struct reading_result r = good("{\"mesh\":\"dp=2\",\"model\":{\"kind\":\"linear\",\"features\":"
                                   "3},\"train\":{\"steps\":4},\"faults\":[]}");
    cr_expect(r.config->model.kind == EMU_MODEL_LINEAR && r.config->model.features == 3);
    cr_expect_eq(r.config->train.steps, 4);
    reading_finish(&r);
}

Test(config_values, byte_order_mark_and_carriage_returns_are_no_matter)
{
    struct reading_result r = good("\xef\xbb\xbfmesh: dp=2\r\ntrain:\r\n  steps: 4\r\n");
    cr_expect_eq(r.config->train.steps, 4);
    reading_finish(&r);
    r = read_text("\xef\xbb\xbfmesh: dp=2\r\nsteps: 4\r\n");
    cr_expect_str_eq(emu_text_get(&r.diagnostics), "test.yaml:2:1: error: unknown key 'steps'\n"
                                                   "    2 | steps: 4\n"
                                                   "      | ^~~~~\n"
                                                   "note: did you mean 'train.steps'?\n");
    reading_finish(&r);
}

Test(config_values, absolute_paths_stay_as_they_are)
{
    struct reading_result r = good("mesh: dp=2\nmodel: {}\ndata: {text: /x/y.txt}\n");
    cr_expect_str_eq(r.config->data.text, "/x/y.txt");
    reading_finish(&r);
}
