#include "formula.h"

/* Values beyond this are not asked for: the product refuses what leaves 64 bits, and says so in
 * another class than the ones studied here. */
#define LARGEST ((emu_i128)1 << 30)

static const char *const names[NAME_COUNT] = {
    [NAME_DP] = "dp",
    [NAME_CP] = "cp",
    [NAME_TP] = "tp",
    [NAME_PP] = "pp",
    [NAME_COPY] = "copy",
    [NAME_WORLD] = "world",
    [NAME_TOKENS] = "tokens",
    [NAME_MICROBATCHES] = "microbatches",
    [NAME_SEQUENCES] = "sequences",
    [NAME_LOCAL_TOKENS] = "local_tokens",
    [NAME_MICRO_TOKENS] = "micro_tokens",
};

static int append(struct formula *formula, struct formula_node node)
{
    formula->node[formula->count] = node;
    return formula->count++;
}

void formula_set_number(struct formula *formula, int number)
{
    formula->count = 0;
    formula->root = append(formula, (struct formula_node){FORMULA_NUMBER, number, 0, 0});
}

static bool apply(struct formula *formula, enum formula_op op, struct formula_node leaf)
{
    if (formula->count + 2 > FORMULA_NODES)
        return false;
    int right = append(formula, leaf);
    formula->root = append(formula, (struct formula_node){op, 0, formula->root, right});
    return true;
}

bool formula_apply_number(struct formula *formula, enum formula_op op, int number)
{
    return apply(formula, op, (struct formula_node){FORMULA_NUMBER, number, 0, 0});
}

bool formula_apply_name(struct formula *formula, enum formula_op op, enum formula_name name)
{
    return apply(formula, op, (struct formula_node){FORMULA_NAME, (int)name, 0, 0});
}

bool formula_negate(struct formula *formula)
{
    if (formula->count == FORMULA_NODES)
        return false;
    formula->root = append(formula, (struct formula_node){FORMULA_NEGATE, 0, formula->root, 0});
    return true;
}

bool formula_double(struct formula *formula, enum formula_op op)
{
    if (formula->count == FORMULA_NODES)
        return false;
    formula->root = append(formula, (struct formula_node){op, 0, formula->root, formula->root});
    return true;
}

static int random_leaf(struct formula *formula, struct draw *draw, uint32_t allowed)
{
    enum formula_name name = (enum formula_name)draw_below(draw, NAME_COUNT);
    if (draw_percent(draw, 60) && (allowed >> name & 1))
        return append(formula, (struct formula_node){FORMULA_NAME, (int)name, 0, 0});
    int number = draw_percent(draw, 10) ? 0 : 1 + (int)draw_below(draw, 4);
    return append(formula, (struct formula_node){FORMULA_NUMBER, number, 0, 0});
}

static int random_tree(struct formula *formula, struct draw *draw, uint32_t allowed, int depth)
{
    static const enum formula_op ops[] = {FORMULA_ADD,      FORMULA_SUBTRACT, FORMULA_MULTIPLY,
                                          FORMULA_MULTIPLY, FORMULA_DIVIDE,   FORMULA_DIVIDE,
                                          FORMULA_MAX,      FORMULA_NEGATE};
    if (depth == 0 || draw_percent(draw, 30))
        return random_leaf(formula, draw, allowed);
    enum formula_op op = ops[draw_below(draw, sizeof ops / sizeof ops[0])];
    int left = random_tree(formula, draw, allowed, depth - 1);
    int right = op == FORMULA_NEGATE ? 0 : random_tree(formula, draw, allowed, depth - 1);
    return append(formula, (struct formula_node){op, 0, left, right});
}

void formula_random(struct formula *formula, struct draw *draw, uint32_t allowed)
{
    formula->count = 0;
    formula->root = random_tree(formula, draw, allowed, 3);
}

/* How tightly an operator binds: the text gets no parenthesis that the tree does not need. */
static int strength(enum formula_op op)
{
    switch (op) {
    case FORMULA_ADD:
    case FORMULA_SUBTRACT:
        return 1;
    case FORMULA_MULTIPLY:
    case FORMULA_DIVIDE:
        return 2;
    case FORMULA_NEGATE:
        return 3;
    default:
        return 4;
    }
}

static void write_node(const struct formula *formula, int at, int least, struct emu_text *out)
{
    static const char *const signs[] = {[FORMULA_ADD] = "+",
                                        [FORMULA_SUBTRACT] = " - ",
                                        [FORMULA_MULTIPLY] = "*",
                                        [FORMULA_DIVIDE] = "/",
                                        [FORMULA_MAX] = ", "};
    const struct formula_node *node = &formula->node[at];
    int own = strength(node->op);
    const char *open = node->op == FORMULA_MAX ? "max(" : own < least ? "(" : "";
    emu_text_puts(out, open);
    if (node->op == FORMULA_NUMBER) {
        emu_text_printf(out, "%d", node->number);
    } else if (node->op == FORMULA_NAME) {
        emu_text_puts(out, names[node->number]);
    } else if (node->op == FORMULA_NEGATE) {
        emu_text_puts(out, "-");
        write_node(formula, node->left, own + 1, out);
    } else {
        int inner = node->op == FORMULA_MAX ? 0 : own;
        write_node(formula, node->left, inner, out);
        emu_text_puts(out, signs[node->op]);
        write_node(formula, node->right, inner ? inner + 1 : 0, out);
    }
    if (*open)
        emu_text_puts(out, ")");
}

void formula_write(const struct formula *formula, struct emu_text *out)
{
    write_node(formula, formula->root, 0, out);
}

static struct fraction combine(enum formula_op op, struct fraction left, struct fraction right)
{
    switch (op) {
    case FORMULA_NEGATE:
        return (struct fraction){-left.top, left.bottom};
    case FORMULA_ADD:
        return fraction_add(left, right);
    case FORMULA_SUBTRACT:
        return fraction_sub(left, right);
    case FORMULA_MULTIPLY:
        return fraction_mul(left, right);
    case FORMULA_DIVIDE:
        return fraction_div(left, right);
    default:
        return fraction_less(left, right) ? right : left;
    }
}

static bool is_large(struct fraction a)
{
    return a.top > LARGEST || a.top < -LARGEST || a.bottom > LARGEST;
}

static enum formula_outcome value_at(const struct formula *formula, int at,
                                     const struct formula_values *values, struct fraction *out)
{
    const struct formula_node *node = &formula->node[at];
    struct fraction left, right = fraction_whole(1);
    if (node->op == FORMULA_NUMBER || node->op == FORMULA_NAME) {
        *out = fraction_whole(node->op == FORMULA_NUMBER ? node->number : values->of[node->number]);
        return FORMULA_FINE;
    }
    enum formula_outcome outcome = value_at(formula, node->left, values, &left);
    if (outcome == FORMULA_FINE && node->op != FORMULA_NEGATE)
        outcome = value_at(formula, node->right, values, &right);
    if (outcome != FORMULA_FINE)
        return outcome;
    if (node->op == FORMULA_DIVIDE && right.top == 0)
        return FORMULA_DIVIDES_BY_ZERO;
    *out = combine(node->op, left, right);
    return is_large(*out) ? FORMULA_TOO_LARGE : FORMULA_FINE;
}

enum formula_outcome formula_value(const struct formula *formula,
                                   const struct formula_values *values, struct fraction *out)
{
    return value_at(formula, formula->root, values, out);
}
