/* What cannot be laid out, or counted, is said with its place. */
#include "account_fixture.h"

#include <criterion/criterion.h>
#include <criterion/parameterized.h>

struct refusal {
    char text[256]; /* arrays: parameters are copied into another process */
    char says[64];
};

#define TRANSFORMER "model: {kind: transformer, hidden: 8, vocab: 16, sequence: 4, "

static struct refusal refusals[] = {
    {"mesh: tp=2\n" TRANSFORMER "layers: 1, heads: 3, head_dim: 2, ffn: 8}", "heads: 3"},
    {"mesh: tp=4\n" TRANSFORMER "layers: 1, heads: 8, kv_heads: 8, ffn: 6}",
     "6 is not divisible by the size of tp, 4"},
    {"mesh: tp=2\n" TRANSFORMER "layers: 1, heads: 2, experts: {count: 2, active: 1, ffn: 3}}",
     "3 is not divisible by the size of tp, 2"},
    {"mesh: tp=4\n" TRANSFORMER "layers: 1, heads: 12, head_dim: 2, kv_heads: 6, ffn: 8}",
     "6 key-value heads on tp 4"},
    {"mesh: dp=1\n" TRANSFORMER "layers: 1, heads: 8, kv_heads: 3, ffn: 8}",
     "3 key-value heads do not divide 8 heads"},
    {"mesh: pp=4\n" TRANSFORMER "layers: 3, heads: 8, ffn: 8}", "3 layers cannot fill 4 stages"},
    {"mesh: pp=3\nmodel: {kind: mlp_lm, layers: 2}", "2 layers cannot fill 3 stages"},
    {"mesh: dp=1\nmodel: {kind: linear, features: 9223372036854775807}", "2^63-1"},
    {"mesh: dp=2147483648\nmodel: {kind: linear, features: 4294967296}", "2^63-1"},
    {"mesh: dp=1\nmodel: {kind: mlp_lm, context: 9223372036854775807, embed: "
     "9223372036854775807}",
     "2^63-1"},
    {"mesh: dp=1\n" TRANSFORMER "layers: 1, heads: 8, ffn: 8}\n"
     "batch: {micro: 9223372036854775807}",
     "2^63-1"},
};

ParameterizedTestParameters(account_books, a_refusal_names_its_place)
{
    return cr_make_param_array(struct refusal, refusals, sizeof refusals / sizeof refusals[0]);
}

ParameterizedTest(struct refusal *refusal, account_books, a_refusal_names_its_place)
{
    struct fixture f;
    fixture_begin(&f, refusal->text);
    const char *said = emu_text_get(&f.diagnostics);
    cr_assert_eq(f.status, EMU_EPARSE, "%s", refusal->text);
    cr_assert(!strncmp(said, "case.yaml:", 10) && strstr(said, ": error: "), "%s", said);
    cr_assert(strstr(said, refusal->says), "%s\nwant %s", said, refusal->says);
    fixture_end(&f);
}

Test(account_books, all_refusals_of_a_model_come_together)
{
    struct fixture f;
    fixture_begin(&f, "mesh: tp=4,pp=2\n" TRANSFORMER "layers: 1, heads: 6, head_dim: 2, ffn: 6}");
    const char *said = emu_text_get(&f.diagnostics);
    cr_assert(strstr(said, "1 layers cannot") && strstr(said, "6 key-value heads on tp"), "%s",
              said);
    fixture_end(&f);
}

Test(account_books, the_largest_counts_are_exact)
{
    struct fixture f;
    fixture_begin(&f, "mesh: dp=2147483648\nmodel: {kind: linear, features: 134217728}\n"
                      "optimizer: {kind: sgd}\narithmetic: f32\n");
    cr_assert_eq(f.status, EMU_OK, "%s", emu_text_get(&f.diagnostics));
    cr_assert_eq(f.books.aggregate.elements, UINT64_C(1) << 58);
    cr_assert_eq(f.books.aggregate.total, UINT64_C(1) << 61);
    cr_assert_eq(f.books.causes[0].elements, (UINT64_C(1) << 58) - 134217728);
    fixture_end(&f);
}

Test(account_books, a_mesh_of_2147483648_ranks_has_few_classes)
{
    struct fixture f;
    fixture_begin(&f, "mesh: dp=65536,pp=1024,tp=32\n" TRANSFORMER
                      "layers: 2000, heads: 32, head_dim: 4, ffn: 64}\n"
                      "batch: {microbatches: 4}");
    cr_assert_eq(f.status, EMU_OK, "%s", emu_text_get(&f.diagnostics));
    cr_assert_leq(f.books.classes.count, 8);
    uint64_t ranks = 0;
    for (size_t i = 0; i < f.books.classes.count; i++)
        ranks += f.books.classes.items[i].count;
    cr_assert_eq(ranks, UINT64_C(1) << 31);
    fixture_end(&f);
}
