/* Factors as products of names: what cancels, what is left, and what is no product. */
#include "check/size_product.h"

#include <criterion/criterion.h>

static struct emu_mesh mesh;

static void open_mesh(void)
{
    cr_assert_eq(emu_mesh_parse("dp=4,tp=1,cp=2", &mesh, NULL), EMU_OK);
}

static struct emu_size_product product_of(const char *text)
{
    struct emu_expression expression;
    struct emu_expression_error error;
    cr_assert(emu_expression_parse(text, &expression, &error), "%s", error.message);
    return emu_size_product_read(&expression, &mesh);
}

static void expect_product(const char *expression, const char *want)
{
    struct emu_size_product product = product_of(expression);
    struct emu_text text = {0};
    cr_assert(product.known, "%s is a product", expression);
    emu_size_product_text(&product, &mesh, &text);
    cr_expect_str_eq(emu_text_get(&text), want, "%s: %s", expression, emu_text_get(&text));
    emu_text_finish(&text);
}

TestSuite(check_size_product, .init = open_mesh);

Test(check_size_product, names_cancel_as_on_paper)
{
    expect_product("dp/tokens", "dp/tokens");
    expect_product("dp*cp/(dp*tokens)", "cp/tokens");
    expect_product("micro_tokens/tokens/micro_tokens", "1/tokens");
    expect_product("2*dp/(4*dp*dp)", "1/(2*dp)");
    expect_product("-dp/2", "-1*dp/2");
    expect_product("dp/dp", "1");
}

Test(check_size_product, the_world_is_all_axes_and_one_rank_is_none)
{
    expect_product("world", "dp*cp");
    expect_product("1/world*dp", "1/cp");
    expect_product("tp*pp", "1");
}

Test(check_size_product, numbers_are_calculated)
{
    expect_product("(1+3)*max(1,2)/3", "8/3");
    expect_product("8/4", "2");
}

Test(check_size_product, a_sum_with_a_name_is_no_product)
{
    cr_expect_not(product_of("1/(tokens+1)").known);
    cr_expect_not(product_of("max(1,local_tokens)").known);
    cr_expect_not(product_of("dp/0").known);
}

Test(check_size_product, left_over_is_the_product_of_all)
{
    struct emu_size_product left = emu_size_product_of(EMU_SIZE_TOKENS, 1);
    struct emu_size_product loss = product_of("dp/tokens");
    struct emu_size_product average = product_of("1/world");
    emu_size_product_multiply(&left, &loss);
    emu_size_product_multiply(&left, &average);
    struct emu_factor_values values = {.mesh = &mesh, .tokens = 16};
    struct emu_rational value;
    struct emu_text text = {0};
    cr_assert_eq(emu_size_product_evaluate(&left, &values, &value), EMU_OK);
    cr_expect(value.numerator == 1 && value.denominator == 2);
    emu_size_product_text(&left, &mesh, &text);
    cr_expect_str_eq(emu_text_get(&text), "1/cp");
    emu_text_finish(&text);
}

Test(check_size_product, no_tokens_are_no_divisor)
{
    struct emu_size_product mean = emu_size_product_of(EMU_SIZE_MICRO_TOKENS, -1);
    struct emu_factor_values values = {.mesh = &mesh};
    struct emu_rational value = {7, 1};
    cr_expect_eq(emu_size_product_evaluate(&mean, &values, &value), EMU_EINVAL);
    cr_expect_eq(value.numerator, 7, "written on success alone");
}
