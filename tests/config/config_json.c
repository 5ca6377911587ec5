/* The resolved config and the help. */
#include "config_reader.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

static char *json_of(const char *text)
{
    struct reading_result r = read_text(text);
    cr_assert_eq(r.status, EMU_OK, "%s", emu_text_get(&r.diagnostics));
    struct emu_text out = {0};
    emu_config_to_json(r.config, &out);
    reading_finish(&r);
    return emu_text_take(&out);
}

static void expect_json(const char *text, const char *wanted)
{
    char *json = json_of(text);
    cr_expect_str_eq(json, wanted);
    free(json);
}

/* What is printed is a config that means the same. */
static void expect_round_trip(const char *text)
{
    char *once = json_of(text);
    char *twice = json_of(once);
    cr_expect_str_eq(twice, once);
    free(once);
    free(twice);
}

#define DEFAULTS                                                                                   \
    "\"checks\": {\"every\": 1, \"ledger\": true, \"oracle\": true, \"oracle_every\": 1, "         \
    "\"checksums\": true}, "                                                                       \
    "\"precision\": null, \"batch\": {\"micro\": 1, \"microbatches\": 1}, \"recompute\": "         \
    "\"none\", \"sequence_parallel\": false, \"dropout\": true, \"flash\": false, \"faults\": "    \
    "[], "                                                                                         \
    "\"stall_after\": null, \"stop_grace\": \"2s\"}"

Test(config_json, every_key_with_the_value_in_force)
{
    expect_json("mesh: dp=2\n"
                "model: {kind: linear, features: 1}\n"
                "data: {tokens: [[[2, null, 0.5]], [[4]]]}\n"
                "recipe: {loss: mean, reduce: [{over: [dp], op: avg}]}\n"
                "optimizer: {kind: sgd, lr: 1}\n"
                "arithmetic: exact\n",
                "{\"mesh\": \"dp=2\", \"model\": {\"kind\": \"linear\", \"features\": 1}, "
                "\"data\": {\"text\": null, \"microbatches\": 1, \"tokens\": [[[2, null, 0.5]], "
                "[[4]]]}, \"recipe\": {\"loss\": \"mean\", \"scale_loss\": \"1\", "
                "\"accumulate\": \"sum\", \"reduce\": [{\"over\": [\"dp\"], \"op\": \"avg\", "
                "\"params\": \"all\", \"when\": \"step\", \"scale\": \"1\"}], \"scale_grad\": "
                "\"1\", \"clip\": null, \"norm\": \"unique\"}, \"optimizer\": {\"kind\": \"sgd\", "
                "\"lr\": 1, \"shard\": \"none\", \"over\": [\"dp\", \"cp\"]}, \"train\": "
                "{\"steps\": 20, \"seed\": 1, \"schedule\": \"1f1b\", \"initial\": \"seed\"}, "
                "\"arithmetic\": \"exact\", " DEFAULTS);
}

Test(config_json, sections_left_out_are_null)
{
    expect_json("mesh: {axes: \"dp=2\", ranks: [1, 0]}\n",
                "{\"mesh\": {\"axes\": \"dp=2\", \"ranks\": [1, 0]}, \"model\": null, \"data\": "
                "null, \"recipe\": null, \"optimizer\": {\"kind\": \"adamw\", \"lr\": 0.001, "
                "\"beta1\": 0.9, \"beta2\": 0.999, \"epsilon\": 1e-08, \"weight_decay\": 0, "
                "\"shard\": \"none\", \"over\": [\"dp\", \"cp\"]}, \"train\": {\"steps\": 20, "
                "\"seed\": 1, \"schedule\": \"1f1b\", \"initial\": \"seed\"}, \"arithmetic\": "
                "\"f64\", " DEFAULTS);
}

Test(config_json, printed_config_reads_back_as_itself)
{
    expect_round_trip("mesh: dp=2\n");
    expect_round_trip("mesh: dp=2,tp=2\nmodel: {kind: mlp_lm}\ndata: {text: /x}\n"
                      "recipe: {clip: {max_norm: 0.1}, reduce: [{over: [dp, tp]}, {over: "
                      "tied}]}\nfaults: [\"a\\\"\\\\\\u00e9\\e\\x85\", b]\nstall_after: 90s\n");
    expect_round_trip("mesh: cp=2,dp=2\nmodel: {kind: linear, features: 2}\n"
                      "data: {tokens: [[[[[1, 2]], []], [[null], [[3, 4]]]],\n"
                      "                [[[], [[5, 6], null]], [[[7, 8]], [[-9, 1e300]]]]]}\n");
    expect_round_trip("mesh: pp=2\nmodel: {kind: transformer, layers: 5, hidden: 96, heads: 8, "
                      "vocab: 30, sequence: 50, stages: [2, 3], experts: {count: 2, active: 1, "
                      "ffn: 3}, latent: {kv: 1, nope: 2, rope: 3, value: 4}}\ndropout: false\n"
                      "precision: {weight: 2, gradient: 4, master: 0, moments: 8}\n"
                      "optimizer: {kind: momentum, over: [cp]}\n");
}

Test(config_json, control_characters_are_escaped)
{
    char *json = json_of("mesh: dp=2\nfaults: [\"\\e\\x85\\t\\\"\"]\n");
    cr_expect_not_null(strstr(json, "\"faults\": [\"\\u001b\\u0085\\u0009\\u0022\"]"));
    free(json);
}

Test(config_help, manual_page_holds_the_printed_help)
{
    struct emu_text help = {0};
    emu_config_help(&help);
    size_t size = 0;
    char *page = load_file(beside("../../configs/README.md"), &size);
    cr_assert_not_null(page);
    cr_expect_not_null(strstr(page, emu_text_get(&help)),
                       "put the output of --help-config into configs/README.md");
    free(page);
    emu_text_finish(&help);
}

Test(config_help, words_defaults_and_owners_are_named)
{
    struct emu_text help = {0};
    emu_config_help(&help);
    const char *text = emu_text_get(&help);
    cr_expect_not_null(strstr(text, "one of: gelu, relu, silu; default gelu; model.kind mlp_lm\n"));
    cr_expect_not_null(strstr(text, "a whole number, at least 1; required; model.kind linear\n"));
    cr_expect_not_null(strstr(text, "a number of at least 0 and below 1; default 0.999; "
                                    "optimizer.kind adamw\n"));
    emu_text_finish(&help);
}
