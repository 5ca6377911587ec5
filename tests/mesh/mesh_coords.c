#include "mesh_cases.h"

#include <criterion/parameterized.h>
#include <criterion/theories.h>
#include <stdlib.h>
#include <string.h>

struct placing {
    char mesh[48];
    uint32_t rank;
    uint32_t coords[4];
};

ParameterizedTestParameters(mesh_coords, first_axis_is_outermost)
{
    static struct placing rows[] = {
        {"dp=2,tp=4", 5, {1, 1}},
        {"dp=2,tp=4", 3, {0, 3}},
        {"tp=4,dp=2", 5, {2, 1}},
        {"dp=768,pp=16,tp=8", 12345, {96, 7, 1}},
        {"pp=16,dp=768,tp=8", 98303, {15, 767, 7}},
        {"a=1,b=3,c=1,d=2", 5, {0, 2, 0, 1}},
        {"a=65536,b=32768", UINT32_C(0x7fffffff), {65535, 32767}},
        {"x=2147483648", UINT32_C(0x7ffffffe), {UINT32_C(0x7ffffffe)}},
    };
    return cr_make_param_array(struct placing, rows, sizeof rows / sizeof rows[0]);
}

ParameterizedTest(struct placing *row, mesh_coords, first_axis_is_outermost)
{
    struct emu_mesh mesh = mesh_of(row->mesh);
    uint32_t coords[EMU_MESH_MAX_AXES];
    emu_mesh_coords(&mesh, row->rank, coords);
    for (uint32_t i = 0; i < mesh.axis_count; i++) {
        cr_assert_eq(coords[i], row->coords[i], "%s axis %u: %u", row->mesh, i, coords[i]);
        cr_assert_eq(emu_mesh_coord(&mesh, row->rank, mesh.axes[i].name), row->coords[i]);
    }
    cr_assert_eq(emu_mesh_rank(&mesh, coords), row->rank);
}

static const char *const shapes[] = {"dp=1",
                                     "dp=2,tp=2",
                                     "dp=3,pp=1,tp=5",
                                     "pp=16,dp=768,tp=8",
                                     "a=65536,b=32768",
                                     "a=2,b=1,c=2,d=3,e=2,f=5,g=1,h=7",
                                     "x=2147483648"};

TheoryDataPoints(mesh_coords, rank_of_coords_is_identity) = {
    DataPoints(int, 0, 1, 2, 3, 4, 5, 6),
    DataPoints(uint32_t, 0, 1, 7, 12345, 98303, UINT32_C(0x7fffffff), UINT32_C(0x55555555)),
};

Theory((int shape, uint32_t draw), mesh_coords, rank_of_coords_is_identity)
{
    struct emu_mesh mesh = mesh_of(shapes[shape]);
    uint32_t rank = draw % mesh.world;
    uint32_t coords[EMU_MESH_MAX_AXES];
    emu_mesh_coords(&mesh, rank, coords);
    cr_assert_eq(emu_mesh_rank(&mesh, coords), rank);
    for (uint32_t i = 0; i < mesh.axis_count; i++)
        cr_assert_lt(coords[i], mesh.axes[i].size);
}

Test(mesh_coords, an_absent_axis_has_coordinate_zero)
{
    struct emu_mesh mesh = mesh_of("dp=2,tp=4");
    cr_assert_eq(emu_mesh_coord(&mesh, 7, "cp"), 0);
}

Test(mesh_arrange, puts_the_given_ranks_row_major)
{
    struct emu_mesh mesh = mesh_of("g=2,r=4");
    const uint32_t ranks[] = {4, 7, 5, 6, 0, 1, 2, 3};
    cr_assert_eq(emu_mesh_arrange(&mesh, ranks, 8, NULL), EMU_OK);
    cr_assert_eq(emu_mesh_coord(&mesh, 7, "g"), 0);
    cr_assert_eq(emu_mesh_coord(&mesh, 7, "r"), 1);
    for (uint32_t rank = 0; rank < 8; rank++) {
        uint32_t coords[EMU_MESH_MAX_AXES];
        emu_mesh_coords(&mesh, rank, coords);
        cr_assert_eq(emu_mesh_rank(&mesh, coords), rank);
        cr_assert_eq(ranks[coords[0] * 4 + coords[1]], rank);
    }
    emu_mesh_finish(&mesh);
    cr_assert_null(mesh.rank_at);
}

Test(mesh_arrange, replaces_an_earlier_arrangement)
{
    struct emu_mesh mesh = mesh_of("x=3");
    cr_assert_eq(emu_mesh_arrange(&mesh, (uint32_t[]){2, 1, 0}, 3, NULL), EMU_OK);
    cr_assert_eq(emu_mesh_arrange(&mesh, (uint32_t[]){1, 2, 0}, 3, NULL), EMU_OK);
    cr_assert_eq(emu_mesh_coord(&mesh, 0, "x"), 2);
    emu_mesh_finish(&mesh);
    emu_mesh_finish(NULL);
}

struct list {
    uint32_t ranks[5];
    size_t count;
    uint32_t column;
    char says[48];
};

ParameterizedTestParameters(mesh_arrange, refuses_what_is_no_permutation)
{
    static struct list rows[] = {
        {{0, 2, 2, 3}, 4, 3, "rank 2 stands twice"},
        {{0, 2, 1}, 3, 3, "3 ranks are listed, the mesh has 4"},
        {{0, 2, 1, 3, 4}, 5, 5, "5 ranks are listed, the mesh has 4"},
        {{0}, 0, 1, "0 ranks are listed"},
        {{0, 4, 1, 2}, 4, 2, "rank 4 is outside the mesh"},
        {{0, UINT32_MAX, 1, 2}, 4, 2, "rank 4294967295 is outside"},
    };
    return cr_make_param_array(struct list, rows, sizeof rows / sizeof rows[0]);
}

ParameterizedTest(struct list *row, mesh_arrange, refuses_what_is_no_permutation)
{
    struct emu_mesh mesh = mesh_of("dp=2,tp=2");
    struct emu_mesh_error error = {0};
    cr_assert_eq(emu_mesh_arrange(&mesh, row->ranks, row->count, &error), EMU_EINVAL);
    cr_assert(strstr(error.message, row->says), "got: %s", error.message);
    cr_assert_eq(error.column, row->column);
    cr_assert_null(mesh.rank_at);
    cr_assert_null(mesh.place_of);
}
