#include "config/expression.h"

#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <stdio.h>
#include <string.h>

/* The tree as text with every operation in parentheses. */
static void print(const struct emu_expression *e, uint16_t index, char *out, size_t room)
{
    const struct emu_expression_node *n = &e->nodes[index];
    char left[256] = "";
    char right[256] = "";
    if (n->op >= EMU_EXPRESSION_NEGATE)
        print(e, n->left, left, sizeof left);
    if (n->op >= EMU_EXPRESSION_ADD)
        print(e, n->right, right, sizeof right);
    switch (n->op) {
    case EMU_EXPRESSION_NUMBER:
        snprintf(out, room, "%llu", (unsigned long long)n->number);
        break;
    case EMU_EXPRESSION_NAME:
        snprintf(out, room, "%s", n->axis);
        break;
    case EMU_EXPRESSION_NEGATE:
        snprintf(out, room, "(-%.200s)", left);
        break;
    case EMU_EXPRESSION_GREATER:
        snprintf(out, room, "max(%.100s,%.100s)", left, right);
        break;
    default:
        snprintf(out, room, "(%.100s%c%.100s)", left, "+-*/"[n->op - EMU_EXPRESSION_ADD], right);
        break;
    }
}

struct reading_case {
    char text[64];
    char tree[64];
};

ParameterizedTestParameters(config_expression, groups_as_written)
{
    static struct reading_case cases[] = {
        {"1", "1"},
        {"1/tokens", "(1/tokens)"},
        {"dp*micro_tokens/tokens", "((dp*micro_tokens)/tokens)"},
        {"1-2-3", "((1-2)-3)"},
        {"1+2*3", "(1+(2*3))"},
        {"(1+2)*3", "((1+2)*3)"},
        {"-2*3", "((-2)*3)"},
        {"2*-3", "(2*(-3))"},
        {" max ( 1 , tokens/2 ) ", "max(1,(tokens/2))"},
        {"max(max(1,2),3)", "max(max(1,2),3)"},
        {"9223372036854775807", "9223372036854775807"},
        {"maximum", "maximum"},
    };
    return cr_make_param_array(struct reading_case, cases, sizeof cases / sizeof cases[0]);
}

ParameterizedTest(const struct reading_case *c, config_expression, groups_as_written)
{
    struct emu_expression e;
    struct emu_expression_error error;
    char tree[256];
    cr_assert(emu_expression_parse(c->text, &e, &error), "%s: %s", c->text, error.message);
    print(&e, e.root, tree, sizeof tree);
    cr_expect_str_eq(tree, c->tree);
}

struct refusal_case {
    char text[64];
    uint32_t column;
};

ParameterizedTestParameters(config_expression, refuses_at_the_column)
{
    static struct refusal_case cases[] = {
        {"", 1},     {"1+", 3},     {"*2", 1},          {"(1", 3},
        {"1)", 2},   {"max(1)", 6}, {"max 1,2", 5},     {"max(1,2", 8},
        {"1 2", 3},  {"0.5", 1},    {"2+1e3", 3},       {"9223372036854775808", 1},
        {"1;", 2},   {"--1", 2},    {"dp+\xc3\xa9", 4}, {"1,2", 2},
        {"0x10", 1},
    };
    return cr_make_param_array(struct refusal_case, cases, sizeof cases / sizeof cases[0]);
}

ParameterizedTest(const struct refusal_case *c, config_expression, refuses_at_the_column)
{
    struct emu_expression e;
    struct emu_expression_error error;
    cr_assert_not(emu_expression_parse(c->text, &e, &error), "%s", c->text);
    cr_expect_eq(error.column, c->column, "%s: column %u, %s", c->text, error.column,
                 error.message);
    cr_expect(error.message[0]);
}

Test(config_expression, size_and_depth_are_bounded)
{
    char text[4096];
    struct emu_expression e;
    struct emu_expression_error error;
    memset(text, '(', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    cr_expect_not(emu_expression_parse(text, &e, &error));
    cr_expect_str_eq(error.message, "parentheses are nested too deep");
    for (size_t i = 0; i + 2 < sizeof text; i += 2)
        memcpy(text + i, "1+", 3);
    cr_expect_not(emu_expression_parse(text, &e, &error));
    cr_expect_str_eq(error.message, "the expression is too long");
}

Test(config_expression, names_are_checked_against_mesh_and_place)
{
    struct emu_mesh mesh;
    struct emu_mesh_error mesh_error;
    struct emu_expression e;
    struct emu_expression_error error;
    cr_assert_eq(emu_mesh_parse("dp=2,spare=3", &mesh, &mesh_error), EMU_OK);
    cr_assert(emu_expression_parse("spare*pp*world*sequences", &e, &error));
    cr_expect(emu_expression_check(&e, &mesh, false, &error));
    cr_assert(emu_expression_parse("1+spar", &e, &error));
    cr_expect_not(emu_expression_check(&e, &mesh, false, &error));
    cr_expect_eq(error.column, 3);
    cr_assert(emu_expression_parse("micro_tokens", &e, &error));
    cr_expect(emu_expression_check(&e, &mesh, true, &error));
    cr_expect_not(emu_expression_check(&e, &mesh, false, &error));
    emu_mesh_finish(&mesh);
}
