#include "mesh/beside.h"

#include <criterion/criterion.h>

static void assert_places(const char *axes, uint32_t room)
{
    struct emu_mesh mesh;
    struct emu_mesh_error error;
    cr_assert_eq(emu_mesh_parse(axes, &mesh, &error), EMU_OK);
    cr_assert_eq(emu_beside_room(&mesh), room, "%s", axes);
    for (uint32_t rank = 0; rank < mesh.world; rank++) {
        uint32_t beside = 0;
        for (uint32_t other = 0; other < mesh.world; other++) {
            struct emu_beside found;
            if (!emu_beside_find(&mesh, rank, other, &found))
                continue;
            beside++;
            cr_assert_lt(found.place, room);
            cr_assert_eq(emu_beside_rank(&mesh, rank, found.place), other, "%s", axes);
        }
        cr_assert_eq(beside, room - mesh.axis_count, "%s", axes);
    }
    emu_mesh_finish(&mesh);
}

Test(mesh_beside, every_rank_along_one_axis_has_a_place_and_no_other)
{
    assert_places("dp=5", 5);
    assert_places("dp=2,tp=3", 5);
    assert_places("pp=3,dp=2,cp=1,tp=4", 10);
}

Test(mesh_beside, a_rank_is_not_beside_itself_nor_beside_strangers)
{
    struct emu_mesh mesh;
    struct emu_mesh_error error;
    struct emu_beside found;
    cr_assert_eq(emu_mesh_parse("dp=2,tp=3", &mesh, &error), EMU_OK);
    cr_assert_not(emu_beside_find(&mesh, 4, 4, &found));
    cr_assert_not(emu_beside_find(&mesh, 0, 4, &found), "two axes apart");
    cr_assert_not(emu_beside_find(&mesh, 0, 6, &found));
    cr_assert_not(emu_beside_find(&mesh, 6, 0, &found));
    cr_assert(emu_beside_find(&mesh, 4, 1, &found));
    cr_assert_eq(found.axis, 0);
    cr_assert_eq(found.place, 0);
    emu_mesh_finish(&mesh);
}
