#include "mesh/roster.h"

#include <criterion/criterion.h>

/* Groups that hold the first and the last coordinate of an axis alone (a tied table's two ends). */

static struct emu_mesh mesh_of(const char *text)
{
    struct emu_mesh mesh;
    struct emu_mesh_error error;
    cr_assert_eq(emu_mesh_parse(text, &mesh, &error), EMU_OK, "%s", error.message);
    return mesh;
}

Test(mesh_ends, members_are_the_first_and_the_last)
{
    struct emu_mesh mesh = mesh_of("dp=2,pp=4");
    struct emu_axes axes = {.count = 1, .index = {1}, .ends = 1};
    cr_assert_eq(emu_axes_group_size(&mesh, &axes), 2);
    cr_assert_eq(emu_axes_group_count(&mesh, &axes), 2);
    struct emu_group group = emu_group_of(&mesh, &axes, 7);
    cr_assert(emu_group_member(&group, 0) == 4 && emu_group_member(&group, 1) == 7);
    cr_assert(emu_group_index(&group, 4) == 0 && emu_group_index(&group, 7) == 1);
    cr_assert_eq(emu_group_index(&group, 5), -1);
    cr_assert_eq(emu_group_index(&group, 3), -1);
}

Test(mesh_ends, with_other_axes_the_order_is_kept)
{
    struct emu_mesh mesh = mesh_of("pp=3,dp=2");
    struct emu_axes axes = {.count = 2, .index = {1, 0}, .ends = 2}; /* dp, then the ends of pp */
    static const uint32_t want[] = {0, 4, 1, 5};
    struct emu_group group = emu_group_of(&mesh, &axes, 5);
    cr_assert_eq(group.size, 4);
    for (uint32_t i = 0; i < 4; i++) {
        cr_assert_eq(emu_group_member(&group, i), want[i]);
        cr_assert_eq(emu_group_index(&group, want[i]), i);
    }
    cr_assert_not(emu_group_contains(&group, 2));
}

Test(mesh_ends, short_axes_have_nothing_between)
{
    struct emu_mesh mesh = mesh_of("pp=2");
    struct emu_axes axes = {.count = 1, .index = {0}, .ends = 1};
    cr_assert_eq(emu_axes_group_size(&mesh, &axes), 2);
    mesh = mesh_of("pp=1,dp=2");
    cr_assert_eq(emu_axes_group_size(&mesh, &axes), 1);
}

Test(mesh_ends, a_rank_between_is_no_member_of_the_family)
{
    struct emu_mesh mesh = mesh_of("pp=3");
    struct emu_roster roster;
    emu_roster_init(&roster, &mesh);
    struct emu_axes axes = {.count = 1, .index = {0}, .ends = 1};
    uint32_t family;
    uint32_t group;
    cr_assert_eq(emu_roster_add_axes(&roster, &axes, &family), EMU_OK);
    cr_assert_str_eq(roster.families[family].name, "tied");
    cr_assert_eq(emu_roster_group_of(&roster, family, 1, &group), EMU_ENOTMEMBER);
    cr_assert_eq(emu_roster_group_of(&roster, family, 2, &group), EMU_OK);
    struct emu_group its = emu_roster_group(&roster, group);
    cr_assert(its.size == 2 && emu_group_member(&its, 1) == 2);
    emu_roster_finish(&roster);
}
