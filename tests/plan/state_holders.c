/* Who holds which part of weights and optimizer, and what is lost with ranks that die. */
#include "plan/holders.h"
#include "plan_fixture.h"

#include <stdio.h>

static struct plan_fixture f;

static void open_plan(const char *mesh, const char *optimizer)
{
    char text[512];
    snprintf(text, sizeof text,
             "mesh: %s\nmodel: {kind: mlp_lm, context: 3, embed: 5, hidden: 7, layers: 3}\n"
             "data: {text: t.txt}\noptimizer: %s\nchecks: {ledger: false}\n",
             mesh, optimizer);
    cr_assert_eq(plan_open(&f, text), EMU_OK, "%s", emu_text_get(&f.diagnostics));
}

static struct emu_holders find(enum emu_held what, const bool *dead)
{
    struct emu_holders holders;
    cr_assert_eq(emu_holders_find(f.plan, what, dead, &holders), EMU_OK);
    return holders;
}

/* Elements of a tensor's state that a rank holds, straight from block and chunk. */
static uint64_t held_by(uint32_t tensor, uint32_t rank, bool divided)
{
    const struct emu_mesh *mesh = f.plan->roster.mesh;
    if (!emu_tensor_held(f.plan, tensor, emu_mesh_coord(mesh, rank, "pp")))
        return 0;
    struct emu_block block = emu_tensor_block(f.plan, tensor, emu_mesh_coord(mesh, rank, "tp"));
    uint64_t whole = block.rows * block.columns;
    return divided ? emu_plan_chunk(f.plan, whole, emu_plan_shard_index(f.plan, rank)).count
                   : whole;
}

static void assert_partition(enum emu_held what, bool divided)
{
    const bool dead[64] = {false};
    struct emu_holders holders = find(what, dead);
    uint64_t unique = 0;
    uint64_t resident[64] = {0};
    for (size_t i = 0; i < holders.count; i++) {
        const struct emu_held_shard *shard = &holders.shards[i];
        unique += shard->elements;
        cr_assert(shard->count > 0 && shard->alive == shard->count);
        for (uint32_t k = 0; k < shard->count; k++)
            resident[shard->holders[k]] += shard->elements;
    }
    cr_assert_eq(holders.lost, 0);
    for (uint32_t i = 0; i < f.plan->tensor_count; i++)
        unique -= f.plan->tensors[i].rows * f.plan->tensors[i].columns;
    cr_expect_eq(unique, 0);
    for (uint32_t rank = 0; rank < f.plan->roster.mesh->world; rank++) {
        for (uint32_t i = 0; i < f.plan->tensor_count; i++)
            resident[rank] -= held_by(i, rank, divided);
        cr_expect_eq(resident[rank], 0, "rank %u", rank);
    }
    emu_holders_finish(&holders);
}

Test(plan_holders, every_element_is_in_one_shard_and_every_rank_holds_what_the_plan_gives_it)
{
    static const char *const meshes[] = {"dp=1",      "dp=3",           "tp=3,dp=2",
                                         "pp=3,dp=2", "cp=2,dp=2,tp=2", "extra=2,pp=2,tp=2"};
    static const char *const shards[] = {"none", "zero1", "zero2", "zero3"};
    for (size_t m = 0; m < sizeof meshes / sizeof meshes[0]; m++)
        for (int level = 0; level < 4; level++) {
            char optimizer[64];
            snprintf(optimizer, sizeof optimizer, "{kind: adamw, shard: %s}", shards[level]);
            open_plan(meshes[m], optimizer);
            assert_partition(EMU_HELD_WEIGHTS, level == 3);
            assert_partition(EMU_HELD_MOMENTS, level >= 1);
            plan_close(&f);
        }
}

Test(plan_holders, copies_over_dp_outlive_one_rank_and_no_pair)
{
    open_plan("dp=2,tp=2", "{kind: adamw}");
    for (int what = 0; what < EMU_HELD_COUNT; what++) {
        struct emu_holders one = find((enum emu_held)what, (bool[]){true, false, false, false});
        cr_expect(one.count == 3 && one.lost == 0 && one.fewest == 1);
        emu_holders_finish(&one);
        /* ranks 0 and 1 are one copy of the model, ranks 0 and 2 both holders of half of it */
        struct emu_holders copy = find((enum emu_held)what, (bool[]){true, true, false, false});
        cr_expect(copy.lost == 0 && copy.fewest == 1);
        emu_holders_finish(&copy);
        struct emu_holders pair = find((enum emu_held)what, (bool[]){true, false, true, false});
        cr_expect(pair.lost == 1 && pair.fewest == 0 && pair.shards[0].alive == 0);
        emu_holders_finish(&pair);
    }
    plan_close(&f);
}

Test(plan_holders, a_divided_optimizer_dies_with_one_rank_and_weights_do_not)
{
    const bool dead[2] = {false, true};
    open_plan("dp=2", "{kind: adamw, shard: zero1}");
    struct emu_holders weights = find(EMU_HELD_WEIGHTS, dead);
    struct emu_holders moments = find(EMU_HELD_MOMENTS, dead);
    cr_expect(weights.count == 1 && weights.lost == 0 && weights.fewest == 1);
    cr_expect(moments.count == 2 && moments.lost == 1);
    cr_expect(moments.shards[0].alive == 1 && moments.shards[1].alive == 0);
    emu_holders_finish(&weights);
    emu_holders_finish(&moments);
    plan_close(&f);
}

Test(plan_holders, sgd_has_no_state_to_lose_and_both_ends_hold_a_tied_table)
{
    const bool dead[2] = {true, false};
    char text[] = "mesh: pp=2\nmodel: {kind: mlp_lm, layers: 2, tie_embeddings: true}\n"
                  "data: {text: t.txt}\noptimizer: {kind: sgd}\n";
    cr_assert_eq(plan_open(&f, text), EMU_OK, "%s", emu_text_get(&f.diagnostics));
    struct emu_holders moments = find(EMU_HELD_MOMENTS, dead);
    struct emu_holders weights = find(EMU_HELD_WEIGHTS, dead);
    cr_expect(moments.count == 0 && moments.lost == 0 && moments.fewest == 0);
    cr_expect(weights.count == 3 && weights.lost == 1);
    cr_expect(weights.shards[0].tied && weights.shards[0].count == 2 &&
              weights.shards[0].alive == 1);
    emu_holders_finish(&weights);
    plan_close(&f);
}
