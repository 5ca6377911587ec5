#include "mesh_cases.h"

#include <criterion/parameterized.h>
#include <string.h>

struct refusal {
    char text[96];
    char says[64]; /* the message must contain this */
    uint32_t column;
};

ParameterizedTestParameters(mesh_parse, refuses_and_says_why)
{
    static struct refusal rows[] = {
        {"", "empty", 1},
        {"  ", "empty", 1},
        {"dp=0,tp=2", "axis 'dp' has size '0'", 4},
        {"dp=-2,tp=2", "axis 'dp' has size '-2'", 4},
        {"dp=two,tp=2", "axis 'dp' has size 'two'", 4},
        {"dp=2.5", "'2.5': a whole number of at least 1", 4},
        {"dp=1_0", "'1_0'", 4},
        {"dp=0x2", "'0x2'", 4},
        {"dp=+2", "'+2'", 4},
        {"dp=2 3", "'2 3'", 4},
        {"dp=", "axis 'dp' has size ''", 4},
        {"dp=2=2", "'2=2'", 4},
        {"dp,tp=2", "'dp' has no size", 1},
        {"tp=2,dp", "'dp' has no size", 6},
        {"=2", "no axis name", 1},
        {"2p=2", "'2p' is no axis name", 1},
        {"d p=2", "'d p' is no axis name", 1},
        {"d\x01p=2", "'d?p' is no axis name", 1},
        {"dp=2,,tp=2", "an axis is missing", 6},
        {"dp=2,", "an axis is missing", 6},
        {",", "an axis is missing", 1},
        {"dp=2,dp=2", "axis 'dp' is given twice", 6},
        {"world=2,tp=2", "'world' is reserved", 1},
        {"tp=2,tied=1", "'tied' is reserved", 6},
        {"dp=2147483649", "axis 'dp' of size 2147483649", 4},
        {"dp=65536,tp=65536", "axis 'tp' of size 65536 makes the mesh larger than 2^31", 13},
        {"a=65536,b=65536,c=65536,d=65536", "larger than 2^31", 11},
        {"dp=18446744073709551617", "larger than 2^31", 4},
        {"dp=99999999999999999999999999999999999999999999999999", "larger than 2^31", 4},
        {"a=1,b=1,c=1,d=1,e=1,f=1,g=1,h=1,i=1,j=1,k=1,l=1,m=1,n=1,o=1,p=1,q=1", "16 are allowed",
         65},
        {"abcdefghijklmnopqrstuvwxyz123456=2", "longer than 31 bytes", 1},
    };
    return cr_make_param_array(struct refusal, rows, sizeof rows / sizeof rows[0]);
}

ParameterizedTest(struct refusal *row, mesh_parse, refuses_and_says_why)
{
    struct emu_mesh mesh = {.world = 77};
    struct emu_mesh_error error = {0};
    cr_assert_eq(emu_mesh_parse(row->text, &mesh, &error), EMU_EPARSE, "%s", row->text);
    cr_assert(strstr(error.message, row->says), "%s: got: %s", row->text, error.message);
    cr_assert_eq(error.column, row->column, "%s: column %u", row->text, error.column);
    cr_assert_eq(mesh.world, 77, "the output was touched");
}

Test(mesh_parse, takes_no_error_for_an_answer)
{
    struct emu_mesh mesh;
    cr_assert_eq(emu_mesh_parse("dp=0", &mesh, NULL), EMU_EPARSE);
}

Test(mesh_parse, cuts_endless_words_short)
{
    char text[4096];
    memset(text, 'x', sizeof text);
    text[sizeof text - 1] = '\0';
    struct emu_mesh mesh;
    struct emu_mesh_error error;
    cr_assert_eq(emu_mesh_parse(text, &mesh, &error), EMU_EPARSE);
    cr_assert_lt(strlen(error.message), 120u);
}

Test(mesh_parse, keeps_order_sizes_and_strides)
{
    struct emu_mesh mesh = mesh_of("pp=4,dp=2,tp=3");
    cr_assert_eq(mesh.axis_count, 3);
    cr_assert_eq(mesh.world, 24);
    cr_assert_str_eq(mesh.axes[0].name, "pp");
    cr_assert_eq(mesh.axes[0].stride, 6);
    cr_assert_eq(mesh.axes[1].stride, 3);
    cr_assert_eq(mesh.axes[2].stride, 1);
    cr_assert_eq(mesh.axes[2].size, 3);
}

Test(mesh_parse, lets_blanks_be)
{
    struct emu_mesh mesh = mesh_of(" dp = 2 ,\ttp=3 ");
    cr_assert_eq(mesh.world, 6);
    cr_assert_str_eq(mesh.axes[1].name, "tp");
}

Test(mesh_parse, takes_the_largest_world)
{
    cr_assert_eq(mesh_of("dp=2147483648").world, UINT32_C(1) << 31);
    cr_assert_eq(mesh_of("a=1,b=65536,c=32768,d=1").world, UINT32_C(1) << 31);
}

Test(mesh_parse, takes_sixteen_axes_and_long_names)
{
    cr_assert_eq(mesh_of("a=1,b=1,c=1,d=1,e=1,f=1,g=1,h=1,i=1,j=1,k=1,l=1,m=1,n=1,o=1,p=2").world,
                 2);
    struct emu_mesh mesh = mesh_of("Replicate_2abcdefghijklmnopqrst=3");
    cr_assert_eq(mesh.world, 3);
}

Test(mesh_find, knows_the_axes_alone)
{
    struct emu_mesh mesh = mesh_of("dp=2,tp=4");
    cr_assert_eq(emu_mesh_find(&mesh, "tp"), 1);
    cr_assert_eq(emu_mesh_find(&mesh, "t"), -1);
    cr_assert_eq(emu_mesh_find(&mesh, "world"), -1);
    cr_assert_eq(emu_mesh_size(&mesh, "tp"), 4);
    cr_assert_eq(emu_mesh_size(&mesh, "cp"), 1);
}

ParameterizedTestParameters(axes_parse, refuses_and_says_why)
{
    static struct refusal rows[] = {
        {"", "no axis ''", 1},
        {"dp,", "no axis ''", 4},
        {"dp,xx", "no axis 'xx': it has dp, cp, tp", 4},
        {"dp,dp", "axis 'dp' is named twice", 4},
        {"dp cp", "no axis 'dp cp'", 1},
        {"world", "no axis 'world'", 1},
    };
    return cr_make_param_array(struct refusal, rows, sizeof rows / sizeof rows[0]);
}

ParameterizedTest(struct refusal *row, axes_parse, refuses_and_says_why)
{
    struct emu_mesh mesh = mesh_of("dp=2,cp=2,tp=2");
    struct emu_axes axes = {.count = 9};
    struct emu_mesh_error error = {0};
    cr_assert_eq(emu_axes_parse(&mesh, row->text, &axes, &error), EMU_EPARSE, "%s", row->text);
    cr_assert(strstr(error.message, row->says), "%s: got: %s", row->text, error.message);
    cr_assert_eq(error.column, row->column, "%s: column %u", row->text, error.column);
    cr_assert_eq(axes.count, 9);
}

Test(axes_parse, keeps_the_order_asked_for)
{
    struct emu_mesh mesh = mesh_of("dp=2,cp=3,tp=5");
    struct emu_axes axes = axes_of(&mesh, "tp , dp");
    cr_assert_eq(axes.count, 2);
    cr_assert_eq(axes.index[0], 2);
    cr_assert_eq(axes.index[1], 0);
    cr_assert_eq(emu_axes_group_size(&mesh, &axes), 10);
    cr_assert_eq(emu_axes_group_count(&mesh, &axes), 3);
}
