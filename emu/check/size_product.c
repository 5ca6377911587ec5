#include "check/size_product.h"

#include <inttypes.h>
#include <stdlib.h>

struct emu_size_product emu_size_product_one(void)
{
    return (struct emu_size_product){.known = true, .number = {1, 1}};
}

struct emu_size_product emu_size_product_of(uint32_t name, int power)
{
    struct emu_size_product product = emu_size_product_one();
    product.power[name] = power;
    return product;
}

struct emu_size_product emu_size_product_number(int64_t number, int power)
{
    struct emu_size_product product = emu_size_product_one();
    product.known = power > 0
                        ? emu_rational_make(number, 1, &product.number) == EMU_OK
                        : number != 0 && emu_rational_make(1, number, &product.number) == EMU_OK;
    return product;
}

static bool is_number(const struct emu_size_product *product)
{
    for (uint32_t i = 0; i < EMU_SIZE_NAMES; i++)
        if (product->power[i] != 0)
            return false;
    return product->known;
}

void emu_size_product_multiply(struct emu_size_product *product,
                               const struct emu_size_product *other)
{
    struct emu_rational number;
    product->known = product->known && other->known &&
                     emu_rational_mul(product->number, other->number, &number) == EMU_OK;
    if (!product->known)
        return;
    product->number = number;
    for (uint32_t i = 0; i < EMU_SIZE_NAMES; i++)
        product->power[i] += other->power[i];
}

static struct emu_size_product inverse_of(struct emu_size_product product)
{
    struct emu_rational one = {1, 1};
    product.known =
        product.known && emu_rational_div(one, product.number, &product.number) == EMU_OK;
    for (uint32_t i = 0; i < EMU_SIZE_NAMES; i++)
        product.power[i] = -product.power[i];
    return product;
}

static struct emu_size_product name_of(const struct emu_expression_node *node,
                                       const struct emu_mesh *mesh)
{
    struct emu_size_product product = emu_size_product_one();
    int axis;
    switch (node->name) {
    case EMU_NAME_TOKENS:
        return emu_size_product_of(EMU_SIZE_TOKENS, 1);
    case EMU_NAME_LOCAL_TOKENS:
        return emu_size_product_of(EMU_SIZE_LOCAL_TOKENS, 1);
    case EMU_NAME_MICRO_TOKENS:
        return emu_size_product_of(EMU_SIZE_MICRO_TOKENS, 1);
    case EMU_NAME_SEQUENCES:
        return emu_size_product_of(EMU_SIZE_SEQUENCES, 1);
    case EMU_NAME_MICROBATCHES:
        return emu_size_product_of(EMU_SIZE_MICROBATCHES, 1);
    case EMU_NAME_WORLD:
        for (uint32_t a = 0; a < mesh->axis_count; a++)
            product.power[EMU_SIZE_AXIS + a] = 1;
        return product;
    case EMU_NAME_AXIS:
        axis = emu_mesh_find(mesh, node->axis);
        return axis < 0 ? product : emu_size_product_of(EMU_SIZE_AXIS + (uint32_t)axis, 1);
    }
    return (struct emu_size_product){0};
}

/* Sums, differences and the greater of two are products only where both are numbers. */
static struct emu_size_product combine(enum emu_expression_op op,
                                       const struct emu_size_product *left,
                                       const struct emu_size_product *right)
{
    struct emu_size_product product = *left;
    struct emu_size_product other = op == EMU_EXPRESSION_DIVIDE ? inverse_of(*right) : *right;
    if (op == EMU_EXPRESSION_MULTIPLY || op == EMU_EXPRESSION_DIVIDE) {
        emu_size_product_multiply(&product, &other);
        return product;
    }
    product.known = is_number(left) && is_number(right);
    if (!product.known)
        return product;
    if (op == EMU_EXPRESSION_ADD)
        product.known = emu_rational_add(left->number, right->number, &product.number) == EMU_OK;
    else if (op == EMU_EXPRESSION_SUBTRACT)
        product.known = emu_rational_sub(left->number, right->number, &product.number) == EMU_OK;
    else if (emu_rational_compare(left->number, right->number) < 0)
        product.number = right->number;
    return product;
}

/* Children lie before their parents. */
struct emu_size_product emu_size_product_read(const struct emu_expression *expression,
                                              const struct emu_mesh *mesh)
{
    struct emu_size_product unknown = {0};
    struct emu_size_product *all = calloc(EMU_EXPRESSION_MAX_NODES, sizeof *all);
    if (!all)
        return unknown;
    struct emu_size_product minus = emu_size_product_number(-1, 1);
    for (uint16_t i = 0; i < expression->count; i++) {
        const struct emu_expression_node *node = &expression->nodes[i];
        if (node->op == EMU_EXPRESSION_NUMBER)
            all[i] = node->number > INT64_MAX ? unknown
                                              : emu_size_product_number((int64_t)node->number, 1);
        else if (node->op == EMU_EXPRESSION_NAME)
            all[i] = name_of(node, mesh);
        else if (node->op == EMU_EXPRESSION_NEGATE)
            all[i] = combine(EMU_EXPRESSION_MULTIPLY, &minus, &all[node->left]);
        else
            all[i] = combine(node->op, &all[node->left], &all[node->right]);
    }
    struct emu_size_product product = all[expression->root];
    free(all);
    return product;
}

static uint64_t value_of(const struct emu_factor_values *values, uint32_t name)
{
    switch (name) {
    case EMU_SIZE_TOKENS:
        return values->tokens;
    case EMU_SIZE_LOCAL_TOKENS:
        return values->local_tokens;
    case EMU_SIZE_MICRO_TOKENS:
        return values->micro_tokens;
    case EMU_SIZE_SEQUENCES:
        return values->sequences;
    case EMU_SIZE_MICROBATCHES:
        return values->microbatches;
    default:
        return name - EMU_SIZE_AXIS < values->mesh->axis_count
                   ? values->mesh->axes[name - EMU_SIZE_AXIS].size
                   : 1;
    }
}

enum emu_status emu_size_product_evaluate(const struct emu_size_product *product,
                                          const struct emu_factor_values *values,
                                          struct emu_rational *out)
{
    struct emu_rational result = product->number;
    if (!product->known)
        return EMU_EINVAL;
    for (uint32_t i = 0; i < EMU_SIZE_NAMES; i++) {
        struct emu_rational size = emu_rational_whole((int64_t)value_of(values, i));
        for (int p = 0; p < abs(product->power[i]); p++) {
            enum emu_status status = product->power[i] > 0
                                         ? emu_rational_mul(result, size, &result)
                                         : emu_rational_div(result, size, &result);
            if (status != EMU_OK)
                return status;
        }
    }
    *out = result;
    return EMU_OK;
}

/* The number, unless it is 1, and the names with a power of this sign, joined by '*'. */
static size_t put_side(const struct emu_size_product *product, const struct emu_mesh *mesh,
                       int sign, struct emu_text *out)
{
    static const char *const words[] = {"tokens", "local_tokens", "micro_tokens", "sequences",
                                        "microbatches"};
    int64_t number = sign > 0 ? product->number.numerator : product->number.denominator;
    size_t put = 0;
    if (number != 1 && ++put)
        emu_text_printf(out, "%" PRId64, number);
    for (uint32_t i = 0; i < EMU_SIZE_NAMES; i++) {
        uint32_t axis = i - EMU_SIZE_AXIS;
        if (i >= EMU_SIZE_AXIS && (axis >= mesh->axis_count || mesh->axes[axis].size == 1))
            continue;
        for (int p = 0; p < sign * product->power[i]; p++)
            emu_text_printf(out, "%s%s", put++ ? "*" : "",
                            i < EMU_SIZE_AXIS ? words[i] : mesh->axes[axis].name);
    }
    return put;
}

void emu_size_product_text(const struct emu_size_product *product, const struct emu_mesh *mesh,
                           struct emu_text *out)
{
    struct emu_text below = {0};
    if (put_side(product, mesh, 1, out) == 0)
        emu_text_putc(out, '1');
    size_t divisors = put_side(product, mesh, -1, &below);
    if (divisors > 0)
        emu_text_printf(out, divisors > 1 ? "/(%s)" : "/%s", emu_text_get(&below));
    emu_text_finish(&below);
}
