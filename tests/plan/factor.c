#include "plan/factor.h"

#include <criterion/criterion.h>

static enum emu_status value_of(const char *text, struct emu_rational *out)
{
    struct emu_mesh mesh;
    struct emu_mesh_error mesh_error;
    cr_assert_eq(emu_mesh_parse("dp=2,tp=3", &mesh, &mesh_error), EMU_OK);
    struct emu_factor_values values = {.mesh = &mesh,
                                       .tokens = 12,
                                       .local_tokens = 0,
                                       .micro_tokens = 3,
                                       .sequences = 4,
                                       .microbatches = 5};
    struct emu_expression expression;
    struct emu_expression_error error;
    cr_assert(emu_expression_parse(text, &expression, &error), "%s", error.message);
    return emu_factor_evaluate(&expression, &values, out);
}

static void assert_is(const char *text, int64_t n, int64_t d)
{
    struct emu_rational got;
    struct emu_rational want;
    cr_assert_eq(value_of(text, &got), EMU_OK, "%s", text);
    cr_assert_eq(emu_rational_make(n, d, &want), EMU_OK);
    cr_assert(emu_rational_equal(got, want), "%s", text);
}

Test(plan_factor, names_are_the_numbers_of_this_rank)
{
    assert_is("1/tokens", 1, 12);
    assert_is("dp*micro_tokens/tokens", 1, 2);
    assert_is("world", 6, 1);
    assert_is("sequences*microbatches", 20, 1);
    assert_is("cp", 1, 1); /* the mesh has none: size 1 */
}

Test(plan_factor, operators_of_one_level_group_from_the_left)
{
    assert_is("12/2/3", 2, 1);
    assert_is("1-2-3", -4, 1);
    assert_is("2*(3+4)-max(5,6)", 8, 1);
    assert_is("-3/-6", 1, 2);
    assert_is("1/max(1,local_tokens)", 1, 1);
}

Test(plan_factor, division_by_zero_and_overflow_are_told_apart)
{
    struct emu_rational out;
    cr_assert_eq(value_of("1/local_tokens", &out), EMU_EINVAL);
    cr_assert_eq(value_of("0/local_tokens", &out), EMU_EINVAL);
    cr_assert_eq(value_of("9223372036854775807*2", &out), EMU_ERANGE);
}
