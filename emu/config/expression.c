#include "config/expression.h"

#include "base/suggest.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define NONE UINT16_MAX

/* In the order of enum emu_expression_name; then the axes that every mesh knows. */
static const char *const known_names[] = {
    "tokens", "local_tokens", "micro_tokens", "sequences", "microbatches",
    "world",  "dp",           "tp",           "cp",        "pp",
};

#define KNOWN_COUNT (sizeof known_names / sizeof known_names[0])

struct parser {
    const char *text;
    size_t at;
    unsigned depth;
    struct emu_expression *out;
    struct emu_expression_error *error; /* first one wins: column 0 means none yet */
};

static uint16_t parse_sum(struct parser *p);

static uint16_t fail(struct parser *p, size_t at, const char *message)
{
    if (!p->error->column) {
        p->error->column = (uint32_t)at + 1;
        snprintf(p->error->message, sizeof p->error->message, "%s", message);
    }
    return NONE;
}

static void skip_blanks(struct parser *p)
{
    while (p->text[p->at] == ' ' || p->text[p->at] == '\t')
        p->at++;
}

static bool take(struct parser *p, char wanted)
{
    skip_blanks(p);
    if (p->text[p->at] != wanted)
        return false;
    p->at++;
    return true;
}

static uint16_t add_node(struct parser *p, struct emu_expression_node node)
{
    if (p->out->count == EMU_EXPRESSION_MAX_NODES)
        return fail(p, node.column - 1, "the expression is too long");
    p->out->nodes[p->out->count] = node;
    return p->out->count++;
}

static uint16_t add_pair(struct parser *p, enum emu_expression_op op, size_t at, uint16_t left,
                         uint16_t right)
{
    if (left == NONE || right == NONE)
        return NONE;
    return add_node(p, (struct emu_expression_node){
                           .op = op, .column = (uint32_t)at + 1, .left = left, .right = right});
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static uint16_t parse_integer(struct parser *p)
{
    size_t start = p->at;
    uint64_t value = 0;
    for (; is_digit(p->text[p->at]); p->at++) {
        if (__builtin_mul_overflow(value, UINT64_C(10), &value) ||
            __builtin_add_overflow(value, (uint64_t)(p->text[p->at] - '0'), &value) ||
            value > INT64_MAX)
            return fail(p, start, "this integer is too large");
    }
    if (p->text[p->at] == '.' || is_letter(p->text[p->at]))
        return fail(p, start, "numbers are whole and decimal: write 1/2, not 0.5");
    return add_node(p, (struct emu_expression_node){.op = EMU_EXPRESSION_NUMBER,
                                                    .number = value,
                                                    .column = (uint32_t)start + 1});
}

/* "max" has been read. */
static uint16_t parse_max(struct parser *p, size_t start)
{
    if (!take(p, '('))
        return fail(p, p->at, "max needs two expressions in parentheses: max(a,b)");
    uint16_t left = parse_sum(p);
    if (left == NONE || !take(p, ','))
        return fail(p, p->at, "max needs a comma and a second expression: max(a,b)");
    uint16_t right = parse_sum(p);
    if (right == NONE || !take(p, ')'))
        return fail(p, p->at, "')' is missing here");
    return add_pair(p, EMU_EXPRESSION_GREATER, start, left, right);
}

static enum emu_expression_name name_of(const char *word)
{
    for (size_t i = 0; i < EMU_NAME_AXIS; i++) {
        if (!strcmp(word, known_names[i]))
            return (enum emu_expression_name)i;
    }
    return EMU_NAME_AXIS;
}

static uint16_t parse_name(struct parser *p)
{
    size_t start = p->at;
    struct emu_expression_node node = {.op = EMU_EXPRESSION_NAME, .column = (uint32_t)start + 1};
    while (is_letter(p->text[p->at]) || is_digit(p->text[p->at])) {
        if (p->at - start == sizeof node.axis - 1)
            return fail(p, start, "this name is too long");
        node.axis[p->at - start] = p->text[p->at];
        p->at++;
    }
    if (!strcmp(node.axis, "max"))
        return parse_max(p, start);
    node.name = name_of(node.axis);
    return add_node(p, node);
}

static uint16_t parse_operand(struct parser *p)
{
    skip_blanks(p);
    char c = p->text[p->at];
    if (is_digit(c))
        return parse_integer(p);
    if (is_letter(c))
        return parse_name(p);
    if (!take(p, '('))
        return fail(p, p->at, "an integer, a name, max(a,b) or '(' is missing here");
    uint16_t inner = parse_sum(p);
    if (inner == NONE || !take(p, ')'))
        return fail(p, p->at, "')' is missing here");
    return inner;
}

static uint16_t parse_factor(struct parser *p)
{
    skip_blanks(p);
    size_t start = p->at;
    bool negative = take(p, '-');
    uint16_t operand = parse_operand(p);
    return negative ? add_pair(p, EMU_EXPRESSION_NEGATE, start, operand, operand) : operand;
}

static uint16_t parse_product(struct parser *p)
{
    uint16_t left = parse_factor(p);
    while (left != NONE) {
        skip_blanks(p);
        size_t at = p->at;
        if (take(p, '*'))
            left = add_pair(p, EMU_EXPRESSION_MULTIPLY, at, left, parse_factor(p));
        else if (take(p, '/'))
            left = add_pair(p, EMU_EXPRESSION_DIVIDE, at, left, parse_factor(p));
        else
            break;
    }
    return left;
}

static uint16_t parse_sum(struct parser *p)
{
    if (++p->depth > EMU_EXPRESSION_MAX_DEPTH)
        return fail(p, p->at, "parentheses are nested too deep");
    uint16_t left = parse_product(p);
    while (left != NONE) {
        skip_blanks(p);
        size_t at = p->at;
        if (take(p, '+'))
            left = add_pair(p, EMU_EXPRESSION_ADD, at, left, parse_product(p));
        else if (take(p, '-'))
            left = add_pair(p, EMU_EXPRESSION_SUBTRACT, at, left, parse_product(p));
        else
            break;
    }
    p->depth--;
    return left;
}

bool emu_expression_parse(const char *text, struct emu_expression *out,
                          struct emu_expression_error *error)
{
    *error = (struct emu_expression_error){0};
    out->count = 0;
    struct parser p = {.text = text, .out = out, .error = error};
    out->root = parse_sum(&p);
    skip_blanks(&p);
    if (!error->column && text[p.at])
        fail(&p, p.at, "an operator (* / + -) or the end is missing here");
    return !error->column;
}

static bool axis_known(const struct emu_mesh *mesh, const char *axis)
{
    for (size_t i = EMU_NAME_AXIS; i < KNOWN_COUNT; i++) {
        if (!strcmp(axis, known_names[i]))
            return true;
    }
    return emu_mesh_find(mesh, axis) >= 0;
}

static bool refuse_name(const struct emu_expression_node *node, struct emu_expression_error *error)
{
    const char *near = emu_suggest(node->axis, known_names, KNOWN_COUNT);
    error->column = node->column;
    snprintf(error->message, sizeof error->message,
             "'%s' is no axis of the mesh and none of tokens, local_tokens, micro_tokens, "
             "sequences, microbatches, world%s%s%s",
             node->axis, near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
    return false;
}

bool emu_expression_check(const struct emu_expression *expression, const struct emu_mesh *mesh,
                          bool inside_microbatch, struct emu_expression_error *error)
{
    for (size_t i = 0; i < expression->count; i++) {
        const struct emu_expression_node *node = &expression->nodes[i];
        if (node->op != EMU_EXPRESSION_NAME)
            continue;
        if (node->name == EMU_NAME_AXIS && !axis_known(mesh, node->axis))
            return refuse_name(node, error);
        if (node->name == EMU_NAME_MICRO_TOKENS && !inside_microbatch) {
            error->column = node->column;
            snprintf(error->message, sizeof error->message,
                     "micro_tokens is known inside a microbatch only: in scale_loss and in "
                     "reductions with when: microbatch, first or last");
            return false;
        }
    }
    return true;
}
