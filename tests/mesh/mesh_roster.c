#include "mesh/roster.h"
#include "mesh_cases.h"

static struct emu_mesh mesh;
static struct emu_roster roster;

static void open_roster(void)
{
    mesh = mesh_of("dp=2,cp=2,tp=3");
    emu_roster_init(&roster, &mesh);
}

static void close_roster(void)
{
    emu_roster_finish(&roster);
}

TestSuite(mesh_roster, .init = open_roster, .fini = close_roster);

static uint32_t family_of(const char *name)
{
    uint32_t family = UINT32_MAX;
    cr_assert_eq(emu_roster_find(&roster, name, &family), EMU_OK, "%s", name);
    return family;
}

static uint32_t group_of(const char *name, uint32_t rank)
{
    uint32_t group = UINT32_MAX;
    cr_assert_eq(emu_roster_group_of(&roster, family_of(name), rank, &group), EMU_OK);
    return group;
}

Test(mesh_roster, has_world_and_every_axis)
{
    cr_assert_eq(roster.family_count, 4);
    cr_assert_eq(roster.group_count, 1 + 6 + 6 + 4);
    cr_assert_eq(family_of("world"), 0);
    cr_assert_eq(family_of("dp"), 1);
    cr_assert_eq(family_of(" tp "), 3);
    cr_assert_eq(group_of("world", 11), 0);
}

Test(mesh_roster, world_lists_ranks_in_order_whatever_the_arrangement)
{
    const uint32_t turned[] = {11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0};
    cr_assert_eq(emu_mesh_arrange(&mesh, turned, 12, NULL), EMU_OK);
    struct emu_group world = emu_roster_group(&roster, 0);
    cr_assert_eq(world.size, 12);
    cr_assert_eq(emu_group_member(&world, 3), 3);
    cr_assert_eq(emu_group_index(&world, 11), 11);
    cr_assert_eq(emu_group_index(&world, 12), -1);
    emu_mesh_finish(&mesh);
}

Test(mesh_roster, ids_and_groups_belong_together)
{
    uint32_t family;
    struct emu_axes both = axes_of(&mesh, "cp,dp");
    cr_assert_eq(emu_roster_add_axes(&roster, &both, &family), EMU_OK);
    for (uint32_t f = 0; f < roster.family_count; f++)
        for (uint32_t rank = 0; rank < mesh.world; rank++) {
            uint32_t id;
            cr_assert_eq(emu_roster_group_of(&roster, f, rank, &id), EMU_OK);
            cr_assert_eq(emu_roster_family_of(&roster, id), f);
            struct emu_group group = emu_roster_group(&roster, id);
            cr_assert_eq(group.size, roster.families[f].group_size);
            cr_assert(emu_group_contains(&group, rank));
        }
}

Test(mesh_roster, adds_an_axis_set_once_and_tells_orders_apart)
{
    uint32_t first, again, other;
    struct emu_axes a = axes_of(&mesh, "dp,cp");
    struct emu_axes b = axes_of(&mesh, "cp,dp");
    cr_assert_eq(emu_roster_find(&roster, "dp,cp", &first), EMU_ENOTFOUND);
    cr_assert_eq(emu_roster_add_axes(&roster, &a, &first), EMU_OK);
    cr_assert_eq(emu_roster_add_axes(&roster, &a, &again), EMU_OK);
    cr_assert_eq(emu_roster_add_axes(&roster, &b, &other), EMU_OK);
    cr_assert_eq(first, again);
    cr_assert_neq(first, other);
    cr_assert_str_eq(roster.families[other].name, "cp,dp");
    cr_assert_eq(family_of("dp , cp"), first);
    struct emu_axes single = axes_of(&mesh, "tp");
    cr_assert_eq(emu_roster_add_axes(&roster, &single, &again), EMU_OK);
    cr_assert_eq(again, family_of("tp"));
}

Test(mesh_roster, keeps_the_order_of_a_list)
{
    uint32_t family, group;
    uint32_t members[] = {7, 0, 3};
    cr_assert_eq(emu_roster_add_list(&roster, "odd-ones", members, 3, &family), EMU_OK);
    members[0] = 1; /* the roster has its own copy */
    cr_assert_eq(family_of("odd-ones"), family);
    cr_assert_eq(emu_roster_group_of(&roster, family, 0, &group), EMU_OK);
    struct emu_group list = emu_roster_group(&roster, group);
    cr_assert_eq(emu_group_member(&list, 0), 7);
    cr_assert_eq(emu_group_index(&list, 3), 2);
    cr_assert_eq(emu_group_index(&list, 1), -1);
    cr_assert_eq(emu_roster_group_of(&roster, family, 1, &group), EMU_ENOTMEMBER);
}

Test(mesh_roster, refuses_bad_lists_and_names)
{
    uint32_t family;
    const uint32_t good[] = {0, 1};
    cr_assert_eq(emu_roster_add_list(&roster, "a", (uint32_t[]){1, 1}, 2, &family), EMU_EINVAL);
    cr_assert_eq(emu_roster_add_list(&roster, "a", (uint32_t[]){0, 12}, 2, &family), EMU_EINVAL);
    cr_assert_eq(emu_roster_add_list(&roster, "a", good, 0, &family), EMU_EINVAL);
    const char *const names[] = {"", "world", "dp", "a,b", "a b"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        cr_assert_eq(emu_roster_add_list(&roster, names[i], good, 2, &family), EMU_EINVAL, "%s",
                     names[i]);
    cr_assert_eq(emu_roster_add_list(&roster, "a", good, 2, &family), EMU_OK);
    cr_assert_eq(emu_roster_add_list(&roster, "a", good, 2, &family), EMU_EINVAL);
    cr_assert_eq(emu_roster_find(&roster, "b", &family), EMU_ENOTFOUND);
    cr_assert_eq(emu_roster_find(&roster, "", &family), EMU_ENOTFOUND);
    cr_assert_eq(emu_roster_group_of(&roster, 0, 12, &family), EMU_ENOTMEMBER);
    cr_assert_eq(emu_roster_group_of(&roster, 99, 0, &family), EMU_ENOTFOUND);
}

Test(mesh_roster, says_when_families_run_out)
{
    char name[] = "g00";
    const uint32_t one[] = {0};
    uint32_t family;
    while (roster.family_count < EMU_ROSTER_MAX_FAMILIES) {
        name[1] = (char)('0' + roster.family_count / 10);
        name[2] = (char)('0' + roster.family_count % 10);
        cr_assert_eq(emu_roster_add_list(&roster, name, one, 1, &family), EMU_OK);
    }
    cr_assert_eq(emu_roster_add_list(&roster, "more", one, 1, &family), EMU_ERANGE);
}

Test(mesh_roster, never_hands_out_ids_that_wrap)
{
    struct emu_mesh large = mesh_of("one=1,other=1,third=1,dp=2147483648");
    struct emu_roster many;
    emu_roster_init(&many, &large);
    uint32_t family;
    cr_assert_eq(emu_roster_find(&many, "one", &family), EMU_OK);
    cr_assert_eq(emu_roster_find(&many, "other", &family), EMU_ENOTFOUND);
    cr_assert_lt(many.group_count, UINT32_MAX);
    emu_roster_finish(&many);
}

Test(mesh_roster, shortens_a_name_that_is_too_long)
{
    struct emu_mesh wide =
        mesh_of("abcdefghijklmnopqrstuvwxyz12345=1,bcdefghijklmnopqrstuvwxyz123456=1,"
                "cdefghijklmnopqrstuvwxyz1234567=1");
    struct emu_roster long_names;
    emu_roster_init(&long_names, &wide);
    struct emu_axes all = emu_axes_all(&wide);
    uint32_t family, found;
    cr_assert_eq(emu_roster_add_axes(&long_names, &all, &family), EMU_OK);
    const char *name = long_names.families[family].name;
    cr_assert_str_eq(name + strlen(name) - 4, ",...");
    cr_assert_eq(emu_roster_find(&long_names,
                                 "abcdefghijklmnopqrstuvwxyz12345,bcdefghijklmnopqrstuvwxyz123456,"
                                 "cdefghijklmnopqrstuvwxyz1234567",
                                 &found),
                 EMU_OK);
    cr_assert_eq(found, family);
    emu_roster_finish(&long_names);
}
