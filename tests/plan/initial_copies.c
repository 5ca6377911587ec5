/* Who draws which parameters where train.initial is broadcast, and who waits for whom? */
#include "plan/initial.h"
#include "plan_fixture.h"

#include <stdio.h>

static struct plan_fixture f;

static void open_plan(const char *mesh, const char *initial)
{
    char text[512];
    snprintf(text, sizeof text,
             "mesh: %s\nmodel: {kind: mlp_lm, context: 3, embed: 5, hidden: 7, layers: 2}\n"
             "data: {text: t.txt}\ntrain: {initial: %s}\n",
             mesh, initial);
    cr_assert_eq(plan_open(&f, text), EMU_OK, "%s", emu_text_get(&f.diagnostics));
}

static uint32_t tensor(const char *name)
{
    int64_t found = emu_plan_tensor(f.plan, name);
    cr_assert_geq(found, 0);
    return (uint32_t)found;
}

/* Whom does the rank get the tensor from? Itself where it draws. */
static uint32_t giver(const char *name, uint32_t rank)
{
    uint32_t id;
    if (!emu_initial_group(f.plan, tensor(name), rank, &id))
        return rank;
    struct emu_group group = emu_roster_group(&f.plan->roster, id);
    uint32_t first = emu_group_member(&group, 0);
    cr_expect_eq(emu_initial_draws(f.plan, tensor(name), rank), first == rank);
    return first;
}

Test(plan_initial, by_seed_everybody_draws)
{
    open_plan("dp=2,tp=2", "seed");
    for (uint32_t rank = 0; rank < 4; rank++) {
        cr_expect(emu_initial_draws(f.plan, tensor("embed.weight"), rank));
        cr_expect_eq(emu_initial_calls(f.plan, rank), 0);
    }
    plan_close(&f);
}

Test(plan_initial, shards_come_from_the_same_shard_and_copies_from_the_first_of_the_stage)
{
    open_plan("dp=2,tp=2,pp=2", "broadcast"); /* rank = dp * 4 + tp * 2 + pp */
    for (uint32_t rank = 0; rank < 8; rank++) {
        cr_expect_eq(giver("layers.0.up.weight", rank), rank % 4);
        cr_expect_eq(giver("layers.0.norm.weight", rank), rank % 2);
    }
    plan_close(&f);
}

Test(plan_initial, plain_axes_and_cp_copy_too)
{
    open_plan("x=2,cp=2,tp=1", "broadcast");
    for (uint32_t rank = 0; rank < 4; rank++)
        cr_expect_eq(giver("embed.weight", rank), 0);
    plan_close(&f);
}

Test(plan_initial, who_is_the_only_copy_draws_without_a_call)
{
    open_plan("tp=2,pp=2", "broadcast"); /* rank = tp * 2 + pp */
    cr_expect(emu_initial_draws(f.plan, tensor("layers.0.up.weight"), 3));
    cr_expect_not(emu_initial_draws(f.plan, tensor("layers.0.norm.weight"), 2));
    uint64_t whole = 0; /* on tp: norm.weight and down.bias of one layer */
    for (uint32_t i = 0; i < f.plan->tensor_count; i++)
        whole += emu_tensor_held(f.plan, i, 0) && !emu_tensor_is_shard(f.plan, i);
    cr_expect_gt(whole, 0);
    cr_expect_eq(emu_initial_calls(f.plan, 0), whole);
    cr_expect_eq(emu_initial_calls(f.plan, 2), whole);
    plan_close(&f);
}
