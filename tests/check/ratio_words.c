#include "check/ratio.h"
#include "evidence_maker.h"

#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <math.h>

struct near {
    double x;
    int64_t top, bottom; /* bottom 0: no fraction */
};

ParameterizedTestParameters(check_ratio, small_fractions_are_found)
{
    static struct near cases[] = {
        {2.0, 2, 1},
        {1.0, 1, 1},
        {0.5, 1, 2},
        {1.0 / 3.0, 1, 3},
        {-0.75, -3, 4},
        {1.0 / 64.0, 1, 64},
        {1.0 / 65.0, 0, 0},
        {63.0 / 64.0, 63, 64},
        {2.0000000001, 2, 1},
        {2.001, 0, 0},
        {1048576.0, 1048576, 1},
        {3.14159265358979, 0, 0},
        {0.0, 0, 0},
        {1e300, 0, 0},
        {1e-300, 0, 0},
        {(double)INFINITY, 0, 0},
        {(double)NAN, 0, 0},
    };
    return cr_make_param_array(struct near, cases, sizeof cases / sizeof *cases);
}

ParameterizedTest(struct near *near, check_ratio, small_fractions_are_found)
{
    struct emu_ratio ratio = {0, 0};
    bool found = emu_ratio_near(near->x, 1e-6, &ratio);
    cr_expect_eq(found, near->bottom != 0, "%g", near->x);
    cr_expect_eq(ratio.top, near->top, "%g: %d", near->x, (int)ratio.top);
    cr_expect_eq(ratio.bottom, near->bottom, "%g: %d", near->x, (int)ratio.bottom);
}

struct reason {
    char mesh[32];
    int64_t top, bottom;
    char text[128];
};

/* Three microbatches, see evidence_maker.c. */
ParameterizedTestParameters(check_ratio, sizes_of_the_mesh_explain_it)
{
    static struct reason cases[] = {
        {"dp=4,tp=2", 2, 1, "2 = size of tp"},
        {"dp=4,tp=2", 4, 1, "4 = size of dp"},
        {"dp=4,tp=2", 1, 4, "1/4 = 1 / size of dp"},
        {"dp=4,tp=2", 3, 1, "3 = microbatches"},
        {"dp=4,tp=2", 8, 1, "8 = size of dp * size of tp"},
        {"dp=4,tp=2", 1, 8, "1/8 = 1 / (size of dp * size of tp)"},
        {"dp=4,tp=2", 4, 3, "4/3 = size of dp / microbatches"},
        {"dp=4,tp=2", 3, 2, "3/2 = microbatches / size of tp"},
        {"dp=2,tp=2", 2, 1, "2 = size of dp, or size of tp"},
        {"dp=4,tp=2", 5, 1, ""},
        {"dp=4,tp=2", 1, 1, ""},
        {"dp=4,tp=2", -2, 1, ""},
    };
    return cr_make_param_array(struct reason, cases, sizeof cases / sizeof *cases);
}

ParameterizedTest(struct reason *reason, check_ratio, sizes_of_the_mesh_explain_it)
{
    struct made made;
    made_init(&made, reason->mesh, 0, EMU_F64);
    struct emu_text text = {0};
    emu_ratio_explain(&text, &made.plan, (struct emu_ratio){reason->top, reason->bottom});
    cr_expect_str_eq(emu_text_get(&text), reason->text);
    emu_text_finish(&text);
    made_finish(&made);
}
