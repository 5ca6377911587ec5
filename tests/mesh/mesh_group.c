#include "mesh_cases.h"

#include <criterion/parameterized.h>
#include <criterion/theories.h>

struct membership {
    char mesh[32];
    char over[16];
    uint32_t nth;
    uint32_t size;
    uint32_t members[8];
};

ParameterizedTestParameters(mesh_group, lists_members_in_the_order_of_the_axes_asked_for)
{
    static struct membership rows[] = {
        {"dp=2,tp=2", "dp", 0, 2, {0, 2}},
        {"dp=2,tp=2", "tp", 1, 2, {2, 3}},
        {"dp=2,tp=4", "dp", 3, 2, {3, 7}},
        {"dp=2,pp=2,cp=2", "dp,cp", 0, 4, {0, 1, 4, 5}},
        {"dp=2,pp=2,cp=2", "cp,dp", 0, 4, {0, 4, 1, 5}},
        {"dp=2,pp=2,cp=2", "cp,dp", 1, 4, {2, 6, 3, 7}},
        {"dp=2,cp=2,tp=2", "dp,cp,tp", 0, 8, {0, 1, 2, 3, 4, 5, 6, 7}},
        {"dp=2,cp=2,tp=2", "tp,cp,dp", 0, 8, {0, 4, 2, 6, 1, 5, 3, 7}},
        {"dp=2,one=1,tp=2", "one", 2, 1, {2}},
        {"dp=2,one=1,tp=2", "one,tp", 1, 2, {2, 3}},
    };
    return cr_make_param_array(struct membership, rows, sizeof rows / sizeof rows[0]);
}

ParameterizedTest(struct membership *row, mesh_group,
                  lists_members_in_the_order_of_the_axes_asked_for)
{
    struct emu_mesh mesh = mesh_of(row->mesh);
    struct emu_axes axes = axes_of(&mesh, row->over);
    struct emu_group group = emu_group_nth(&mesh, &axes, row->nth);
    cr_assert_eq(group.size, row->size);
    for (uint32_t i = 0; i < row->size; i++)
        cr_assert_eq(emu_group_member(&group, i), row->members[i], "%s over %s member %u: %u",
                     row->mesh, row->over, i, emu_group_member(&group, i));
}

static const char *const shapes[] = {"dp=2,cp=3,tp=2", "dp=3,cp=1,tp=4", "dp=1,cp=2,tp=1",
                                     "tp=5,cp=2,dp=3"};
static const char *const sets[] = {"dp",    "cp",       "tp",       "dp,cp",   "cp,dp",
                                   "tp,dp", "dp,cp,tp", "tp,cp,dp", "cp,dp,tp"};

TheoryDataPoints(mesh_group, siblings_hold_every_rank_once) = {
    DataPoints(int, 0, 1, 2, 3),
    DataPoints(int, 0, 1, 2, 3, 4, 5, 6, 7, 8),
    DataPoints(bool, false, true),
};

/* Reverse the ranks: the furthest arrangement from the plain one. */
static void turn_round(struct emu_mesh *mesh)
{
    uint32_t ranks[64];
    for (uint32_t i = 0; i < mesh->world; i++)
        ranks[i] = mesh->world - 1 - i;
    cr_assert_eq(emu_mesh_arrange(mesh, ranks, mesh->world, NULL), EMU_OK);
}

Theory((int shape, int set, bool arranged), mesh_group, siblings_hold_every_rank_once)
{
    struct emu_mesh mesh = mesh_of(shapes[shape]);
    if (arranged)
        turn_round(&mesh);
    struct emu_axes axes = axes_of(&mesh, sets[set]);
    uint32_t seen[64] = {0};
    for (uint32_t nth = 0; nth < emu_axes_group_count(&mesh, &axes); nth++) {
        struct emu_group group = emu_group_nth(&mesh, &axes, nth);
        for (uint32_t i = 0; i < group.size; i++) {
            uint32_t rank = emu_group_member(&group, i);
            seen[rank]++;
            cr_assert_eq(emu_group_index(&group, rank), (int64_t)i);
            cr_assert_eq(emu_group_number_of(&mesh, &axes, rank), nth);
            cr_assert_eq(emu_group_of(&mesh, &axes, rank).base, group.base);
        }
    }
    for (uint32_t rank = 0; rank < mesh.world; rank++)
        cr_assert_eq(seen[rank], 1, "rank %u is in %u groups", rank, seen[rank]);
    emu_mesh_finish(&mesh);
}

Test(mesh_group, order_of_the_axes_changes_the_order_of_members_alone)
{
    struct emu_mesh mesh = mesh_of("dp=3,pp=2,cp=4");
    struct emu_axes one = axes_of(&mesh, "dp,cp");
    struct emu_axes other = axes_of(&mesh, "cp,dp");
    for (uint32_t rank = 0; rank < mesh.world; rank++) {
        struct emu_group a = emu_group_of(&mesh, &one, rank);
        struct emu_group b = emu_group_of(&mesh, &other, rank);
        for (uint32_t i = 0; i < a.size; i++)
            cr_assert(emu_group_contains(&b, emu_group_member(&a, i)));
        cr_assert_eq(emu_group_member(&a, 1), emu_group_member(&b, 3));
    }
}

Test(mesh_group, tells_strangers_from_members)
{
    struct emu_mesh mesh = mesh_of("dp=2,tp=4");
    struct emu_axes tp = axes_of(&mesh, "tp");
    struct emu_group group = emu_group_of(&mesh, &tp, 5);
    cr_assert_eq(emu_group_index(&group, 6), 2);
    cr_assert_eq(emu_group_index(&group, 3), -1);
    cr_assert_eq(emu_group_index(&group, 8), -1);
    cr_assert_not(emu_group_contains(&group, UINT32_MAX));
}

Test(mesh_group, follows_an_arrangement)
{
    struct emu_mesh mesh = mesh_of("dp=2,tp=2");
    cr_assert_eq(emu_mesh_arrange(&mesh, (uint32_t[]){0, 2, 1, 3}, 4, NULL), EMU_OK);
    struct emu_axes dp = axes_of(&mesh, "dp");
    struct emu_group group = emu_group_of(&mesh, &dp, 1);
    cr_assert_eq(emu_group_member(&group, 0), 0);
    cr_assert_eq(emu_group_member(&group, 1), 1);
    emu_mesh_finish(&mesh);
}

Test(mesh_group, costs_nothing_in_the_largest_world, .timeout = 5)
{
    struct emu_mesh mesh = mesh_of("pp=2,dp=65536,tp=16384");
    struct emu_axes axes = axes_of(&mesh, "tp,dp");
    uint32_t last = mesh.world - 1;
    struct emu_group group = emu_group_of(&mesh, &axes, last);
    cr_assert_eq(group.size, UINT32_C(1) << 30);
    cr_assert_eq(emu_group_index(&group, last), (int64_t)group.size - 1);
    cr_assert_eq(emu_group_member(&group, group.size - 1), last);
    cr_assert_eq(emu_group_index(&group, 0), -1);
    cr_assert_eq(emu_group_number_of(&mesh, &axes, last), 1);
    struct emu_axes all = emu_axes_all(&mesh);
    cr_assert_eq(emu_axes_group_size(&mesh, &all), mesh.world);
    cr_assert_eq(emu_axes_group_count(&mesh, &all), 1);
}
