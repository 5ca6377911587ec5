#include "mesh/cost.h"

#include <criterion/criterion.h>

static uint64_t cost(enum emu_kind kind, uint64_t bytes, uint32_t members)
{
    return emu_cost_bytes(kind, EMU_LAYOUT_EQUAL, bytes, members);
}

Test(mesh_cost, rings_send_all_but_the_own_share)
{
    cr_assert_eq(cost(EMU_ALL_REDUCE, 800, 4), 1200);
    cr_assert_eq(cost(EMU_REDUCE_SCATTER, 800, 4), 600);
    cr_assert_eq(cost(EMU_ALL_GATHER, 200, 4), 600);
    cr_assert_eq(emu_cost_bytes(EMU_ALL_GATHER, EMU_LAYOUT_CHUNKS, 800, 4), 600);
    cr_assert_eq(cost(EMU_BROADCAST, 800, 4), 800);
    cr_assert_eq(cost(EMU_SEND, 800, 1), 800);
    cr_assert_eq(cost(EMU_RECV, 800, 1), 0);
    cr_assert_eq(cost(EMU_BARRIER, 0, 4), 0);
}

Test(mesh_cost, odd_shares_are_rounded_down_once)
{
    for (uint64_t bytes = 0; bytes < 50; bytes++)
        for (uint32_t n = 2; n < 9; n++) {
            cr_assert_eq(cost(EMU_ALL_REDUCE, bytes, n), 2 * bytes * (n - 1) / n);
            cr_assert_eq(cost(EMU_REDUCE_SCATTER, bytes, n), bytes * (n - 1) / n);
        }
}

Test(mesh_cost, a_group_of_one_sends_nothing)
{
    for (int kind = 0; kind < EMU_KIND_COUNT; kind++)
        if (kind != EMU_SEND)
            cr_assert_eq(cost((enum emu_kind)kind, 800, 1), 0);
}
