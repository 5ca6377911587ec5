#include "plan/factor.h"

static enum emu_status whole(uint64_t n, struct emu_rational *out)
{
    if (n > INT64_MAX)
        return EMU_ERANGE;
    *out = emu_rational_whole((int64_t)n);
    return EMU_OK;
}

static uint64_t value_of(const struct emu_expression_node *node,
                         const struct emu_factor_values *values)
{
    switch (node->name) {
    case EMU_NAME_TOKENS:
        return values->tokens;
    case EMU_NAME_LOCAL_TOKENS:
        return values->local_tokens;
    case EMU_NAME_MICRO_TOKENS:
        return values->micro_tokens;
    case EMU_NAME_SEQUENCES:
        return values->sequences;
    case EMU_NAME_MICROBATCHES:
        return values->microbatches;
    case EMU_NAME_WORLD:
        return values->mesh->world;
    case EMU_NAME_AXIS:
        return emu_mesh_size(values->mesh, node->axis);
    }
    return 0;
}

static enum emu_status combine(enum emu_expression_op op, struct emu_rational left,
                               struct emu_rational right, struct emu_rational *out)
{
    switch (op) {
    case EMU_EXPRESSION_ADD:
        return emu_rational_add(left, right, out);
    case EMU_EXPRESSION_SUBTRACT:
        return emu_rational_sub(left, right, out);
    case EMU_EXPRESSION_MULTIPLY:
        return emu_rational_mul(left, right, out);
    case EMU_EXPRESSION_DIVIDE:
        return emu_rational_div(left, right, out);
    case EMU_EXPRESSION_GREATER:
        *out = emu_rational_compare(left, right) < 0 ? right : left;
        return EMU_OK;
    default:
        return EMU_EINTERNAL;
    }
}

/* Children lie before their parents, so one pass in order sees every operand first. */
enum emu_status emu_factor_evaluate(const struct emu_expression *expression,
                                    const struct emu_factor_values *values,
                                    struct emu_rational *out)
{
    struct emu_rational value[EMU_EXPRESSION_MAX_NODES];
    for (uint16_t i = 0; i < expression->count; i++) {
        const struct emu_expression_node *node = &expression->nodes[i];
        enum emu_status status;
        if (node->op == EMU_EXPRESSION_NUMBER)
            status = whole(node->number, &value[i]);
        else if (node->op == EMU_EXPRESSION_NAME)
            status = whole(value_of(node, values), &value[i]);
        else if (node->op == EMU_EXPRESSION_NEGATE)
            status = emu_rational_sub(emu_rational_whole(0), value[node->left], &value[i]);
        else
            status = combine(node->op, value[node->left], value[node->right], &value[i]);
        if (status != EMU_OK)
            return status;
    }
    *out = value[expression->root];
    return EMU_OK;
}
