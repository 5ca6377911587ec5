#include "plan_fixture.h"

#include <criterion/parameterized.h>
#include <math.h>
#include <stdio.h>

#define MODEL "model: {kind: mlp_lm, context: 3, embed: 5, hidden: 7, layers: 2, norm: rms}\n"
#define DATA "data: {text: t.txt, sequence: 8, batch: 10, microbatches: 3}\n"

Test(plan_tensors, order_names_and_shapes_follow_the_model)
{
    struct plan_fixture f;
    cr_assert_eq(plan_open(&f, "mesh: dp=2,tp=2\n" MODEL DATA), EMU_OK);
    static const struct {
        const char *name;
        uint64_t rows, columns;
    } want[] = {{"embed.weight", 256, 5},       {"layers.0.norm.weight", 1, 15},
                {"layers.0.up.weight", 7, 15},  {"layers.0.up.bias", 1, 7},
                {"layers.0.down.weight", 5, 7}, {"layers.0.down.bias", 1, 5},
                {"layers.1.norm.weight", 1, 5}, {"layers.1.up.weight", 7, 5},
                {"layers.1.up.bias", 1, 7},     {"layers.1.down.weight", 5, 7},
                {"layers.1.down.bias", 1, 5}};
    cr_assert_eq(f.plan->tensor_count, sizeof want / sizeof want[0]);
    for (uint32_t i = 0; i < f.plan->tensor_count; i++) {
        cr_assert_str_eq(f.plan->tensors[i].name, want[i].name);
        cr_assert_eq(f.plan->tensors[i].rows, want[i].rows);
        cr_assert_eq(f.plan->tensors[i].columns, want[i].columns);
        cr_assert_eq(emu_plan_tensor(f.plan, want[i].name), i);
    }
    cr_assert_eq(emu_plan_tensor(f.plan, "head.weight"), -1);
    plan_close(&f);
}

Test(plan_tensors, an_untied_head_comes_last)
{
    struct plan_fixture f;
    cr_assert_eq(plan_open(&f, "mesh: dp=1\nmodel: {kind: mlp_lm, norm: none, layers: 1, "
                               "tie_embeddings: false}\n" DATA),
                 EMU_OK);
    cr_assert_str_eq(f.plan->tensors[f.plan->tensor_count - 1].name, "head.weight");
    cr_assert_eq(emu_plan_tensor(f.plan, "layers.0.norm.weight"), -1);
    plan_close(&f);
}

static struct emu_block block_of(const struct plan_fixture *f, const char *name, uint32_t tp)
{
    return emu_tensor_block(f->plan, (uint32_t)emu_plan_tensor(f->plan, name), tp);
}

Test(plan_blocks, uneven_hidden_is_split_by_the_chunk_rule)
{
    struct plan_fixture f;
    cr_assert_eq(plan_open(&f, "mesh: tp=4\n" MODEL DATA), EMU_OK);
    static const uint64_t start[] = {0, 2, 4, 6};
    static const uint64_t count[] = {2, 2, 2, 1};
    for (uint32_t tp = 0; tp < 4; tp++) {
        struct emu_block up = block_of(&f, "layers.0.up.weight", tp);
        struct emu_block bias = block_of(&f, "layers.0.up.bias", tp);
        struct emu_block down = block_of(&f, "layers.0.down.weight", tp);
        cr_assert(up.first_row == start[tp] && up.rows == count[tp] && up.columns == 15);
        cr_assert(bias.first_column == start[tp] && bias.columns == count[tp] && bias.rows == 1);
        cr_assert(down.first_column == start[tp] && down.columns == count[tp] && down.rows == 5);
        cr_assert_eq(block_of(&f, "layers.0.norm.weight", tp).columns, 15);
        cr_assert_eq(block_of(&f, "layers.0.down.bias", tp).columns, 5);
    }
    plan_close(&f);
}

Test(plan_blocks, blocks_tile_every_tensor_once)
{
    for (unsigned tp = 1; tp <= 9; tp++) {
        char text[512];
        snprintf(text, sizeof text, "mesh: tp=%u\n" MODEL DATA, tp);
        struct plan_fixture f;
        cr_assert_eq(plan_open(&f, text), EMU_OK);
        for (uint32_t i = 0; i < f.plan->tensor_count; i++) {
            const struct emu_tensor_plan *t = &f.plan->tensors[i];
            uint64_t held = 0;
            for (uint32_t k = 0; k < tp; k++) {
                struct emu_block b = emu_tensor_block(f.plan, i, k);
                held += b.rows * b.columns;
                cr_assert_geq(emu_tensor_room(f.plan, i, k), b.rows * b.columns);
            }
            uint64_t copies = t->over_tp.kind == EMU_SHARD ? 1 : tp;
            cr_assert_eq(held, copies * t->rows * t->columns, "%s tp=%u", t->name, tp);
        }
        plan_close(&f);
    }
}

Test(plan_blocks, the_vocabulary_is_padded_to_a_multiple_of_tp)
{
    struct plan_fixture f;
    cr_assert_eq(plan_open(&f, "mesh: tp=3\n" MODEL DATA), EMU_OK);
    cr_assert_eq(block_of(&f, "embed.weight", 2).rows, 84); /* 256 = 86 + 86 + 84 */
    for (uint32_t tp = 0; tp < 3; tp++)
        cr_assert_eq(emu_tensor_room(f.plan, 0, tp), 86 * 5);
    plan_close(&f);
}

Test(plan_draw, every_mesh_draws_the_same_logical_model)
{
    struct plan_fixture a;
    struct plan_fixture b;
    cr_assert_eq(plan_open(&a, "mesh: dp=1\n" MODEL DATA), EMU_OK);
    cr_assert_eq(plan_open(&b, "mesh: dp=3,tp=4\n" MODEL DATA), EMU_OK);
    for (uint32_t i = 0; i < a.plan->tensor_count; i++)
        for (uint64_t e = 0; e < 25; e += 3)
            cr_assert_eq(emu_plan_draw(a.plan, i, e), emu_plan_draw(b.plan, i, e));
    plan_close(&a);
    plan_close(&b);
}

Test(plan_draw, weights_lie_within_one_over_the_root_of_their_inputs)
{
    struct plan_fixture f;
    cr_assert_eq(plan_open(&f, "mesh: dp=1\n" MODEL DATA "train: {seed: 7}\n"), EMU_OK);
    uint32_t up = (uint32_t)emu_plan_tensor(f.plan, "layers.0.up.weight");
    uint32_t norm = (uint32_t)emu_plan_tensor(f.plan, "layers.0.norm.weight");
    uint32_t bias = (uint32_t)emu_plan_tensor(f.plan, "layers.0.up.bias");
    double largest = 0;
    for (uint64_t e = 0; e < 105; e++)
        largest = fmax(largest, fabs(emu_plan_draw(f.plan, up, e)));
    cr_assert(largest <= 1 / sqrt(15) && largest > 0.8 / sqrt(15));
    cr_assert_eq(emu_plan_draw(f.plan, norm, 3), 1.0);
    cr_assert_eq(emu_plan_draw(f.plan, bias, 3), 0.0);
    plan_close(&f);
}

Test(plan_draw, another_seed_or_tensor_is_another_draw)
{
    struct plan_fixture a;
    struct plan_fixture b;
    cr_assert_eq(plan_open(&a, "mesh: dp=1\n" MODEL DATA "train: {seed: 1}\n"), EMU_OK);
    cr_assert_eq(plan_open(&b, "mesh: dp=1\n" MODEL DATA "train: {seed: 2}\n"), EMU_OK);
    cr_assert_neq(emu_plan_draw(a.plan, 0, 0), emu_plan_draw(b.plan, 0, 0));
    cr_assert_neq(emu_plan_draw(a.plan, 4, 0), emu_plan_draw(a.plan, 9, 0));
    plan_close(&a);
    plan_close(&b);
}

Test(plan_draw, f32_draws_are_floats)
{
    struct plan_fixture f;
    cr_assert_eq(plan_open(&f, "mesh: dp=1\narithmetic: f32\n" MODEL DATA), EMU_OK);
    cr_assert_eq(f.plan->dtype, EMU_F32);
    for (uint64_t e = 0; e < 50; e++) {
        double value = emu_plan_draw(f.plan, 0, e);
        cr_assert_eq(value, (double)(float)value);
    }
    plan_close(&f);
}

Test(plan_data, every_sequence_of_a_batch_is_read_once_in_order)
{
    for (unsigned dp = 1; dp <= 12; dp++) {
        char text[512];
        snprintf(text, sizeof text, "mesh: dp=%u\n" MODEL DATA, dp);
        struct plan_fixture f;
        cr_assert_eq(plan_open(&f, text), EMU_OK);
        uint64_t next = 0;
        cr_assert_eq(emu_plan_sources(f.plan), 3 * dp);
        for (uint32_t source = 0; source < 3 * dp; source++) {
            struct emu_slice s = emu_plan_sequences(f.plan, source);
            cr_assert(s.count == 0 || s.start == next);
            cr_assert_leq(s.count * 8, emu_plan_rows_most(f.plan));
            next += s.count;
        }
        cr_assert_eq(next, 10);
        plan_close(&f);
    }
}

Test(plan_data, sources_are_named_by_the_coordinates_that_differ)
{
    static const struct {
        const char *mesh;
        uint32_t source;
        const char *name;
    } cases[] = {{"dp=2,tp=2", 4, "dp=1,mb=1"}, {"tp=2", 2, "mb=2"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[512];
        snprintf(text, sizeof text, "mesh: %s\n" MODEL DATA, cases[i].mesh);
        struct plan_fixture f;
        cr_assert_eq(plan_open(&f, text), EMU_OK);
        struct emu_text name = {0};
        emu_source_name(f.plan, cases[i].source, &name);
        cr_assert_str_eq(emu_text_get(&name), cases[i].name);
        emu_text_finish(&name);
        plan_close(&f);
    }
}

Test(plan_groups, tp_and_gradient_groups_are_families_of_the_roster)
{
    struct plan_fixture f;
    cr_assert_eq(plan_open(&f, "mesh: copy=2,dp=2,tp=2\n" MODEL DATA), EMU_OK);
    uint32_t group;
    cr_assert_eq(emu_roster_group_of(&f.plan->roster, f.plan->gradient_family, 5, &group), EMU_OK);
    struct emu_group members = emu_roster_group(&f.plan->roster, group);
    cr_assert(members.size == 2 && emu_group_member(&members, 0) == 5 &&
              emu_group_member(&members, 1) == 7);
    cr_assert_eq(emu_roster_group_of(&f.plan->roster, f.plan->tp_family, 5, &group), EMU_OK);
    members = emu_roster_group(&f.plan->roster, group);
    cr_assert(emu_group_member(&members, 0) == 4 && emu_group_member(&members, 1) == 5);
    plan_close(&f);
}

Test(plan_groups, a_mesh_without_the_axis_has_no_family)
{
    struct plan_fixture f;
    cr_assert_eq(plan_open(&f, "mesh: other=2\n" MODEL DATA), EMU_OK);
    cr_assert(f.plan->tp_family == UINT32_MAX && f.plan->gradient_family == UINT32_MAX);
    cr_assert(f.plan->dp == 1 && f.plan->tp == 1);
    plan_close(&f);
}

Test(plan_oracle, it_is_the_same_model_on_a_mesh_of_one)
{
    struct plan_fixture f;
    cr_assert_eq(plan_open(&f, "mesh: dp=2,tp=4\n" MODEL DATA), EMU_OK);
    struct emu_plan *oracle;
    cr_assert_eq(emu_plan_create_oracle(f.plan, true, &oracle), EMU_OK);
    cr_assert(oracle->dp == 1 && oracle->tp == 1);
    cr_assert_eq(oracle->microbatches, 6); /* one for each source of the mesh */
    cr_assert_eq(oracle->dtype, EMU_BOUND64);
    cr_assert_eq(oracle->roster.mesh->world, 1);
    cr_assert_eq(oracle->tensor_count, f.plan->tensor_count);
    cr_assert_eq(emu_plan_draw(oracle, 2, 17), emu_plan_draw(f.plan, 2, 17));
    for (uint32_t source = 0; source < 6; source++)
        cr_assert_eq(emu_plan_sequences(oracle, source).start,
                     emu_plan_sequences(f.plan, source).start);
    emu_plan_destroy(oracle);
    plan_close(&f);
}

/* What a run refuses: the key and a word of the reason. */
struct refused { /* arrays: a parameter reaches its test by copy, without what it points to */
    char text[256];
    char says[32];
};

ParameterizedTestParameters(plan_runnable, what_cannot_run_is_refused_with_a_reason)
{
    static struct refused cases[] = {
        {"mesh: dp=2\n", "needs a model"},
        {"mesh: dp=2\n" MODEL, "needs a text"},
        {"mesh: dp=2\n" MODEL DATA "recipe: {reduce: [{over: [dp], params: 'layer.*'}]}\n",
         "names no parameter"},
        {"mesh: dp=2,pp=3\n" MODEL DATA, "cannot fill 3 pipeline stages"},
        {"mesh: dp=2\nmodel: {kind: mlp_lm, hidden: 1000000000, embed: 1000000000}\n" DATA,
         "2^40 elements"},
    };
    return cr_make_param_array(struct refused, cases, sizeof cases / sizeof cases[0]);
}

ParameterizedTest(struct refused *c, plan_runnable, what_cannot_run_is_refused_with_a_reason)
{
    struct plan_fixture f;
    cr_assert_eq(plan_open(&f, c->text), EMU_EPARSE);
    cr_assert(strstr(emu_text_get(&f.diagnostics), c->says), "%s", emu_text_get(&f.diagnostics));
    cr_assert(strstr(emu_text_get(&f.diagnostics), "test.yaml"));
    plan_close(&f);
}
