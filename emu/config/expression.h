/* What does a scale factor of a recipe ("dp*micro_tokens/tokens", "max(1,local_tokens)") mean?
 *
 * Text -> a small tree, to be evaluated exactly by whoever knows the numbers. Grammar:
 *   sum     = product { ("+" | "-") product }
 *   product = factor { ("*" | "/") factor }
 *   factor  = [ "-" ] ( integer | name | "max" "(" sum "," sum ")" | "(" sum ")" )
 * Integers are decimal, below 2^63. Operators of one level group from the left. No memory is
 * allocated; the size and the depth are bounded.
 */
#ifndef EMU_CONFIG_EXPRESSION_H
#define EMU_CONFIG_EXPRESSION_H

#include <meshemu/mesh.h>

#include <stdbool.h>
#include <stdint.h>

#define EMU_EXPRESSION_MAX_NODES 128
#define EMU_EXPRESSION_MAX_DEPTH 32
#define EMU_EXPRESSION_MESSAGE_MAX 256

enum emu_expression_op {
    EMU_EXPRESSION_NUMBER,
    EMU_EXPRESSION_NAME,
    EMU_EXPRESSION_NEGATE, /* left */
    EMU_EXPRESSION_ADD,    /* left, right, as all below */
    EMU_EXPRESSION_SUBTRACT,
    EMU_EXPRESSION_MULTIPLY,
    EMU_EXPRESSION_DIVIDE,
    EMU_EXPRESSION_GREATER, /* max(left, right) */
};

enum emu_expression_name {
    EMU_NAME_TOKENS,       /* valid tokens of the step on the whole mesh */
    EMU_NAME_LOCAL_TOKENS, /* of this rank in the step */
    EMU_NAME_MICRO_TOKENS, /* of this rank in this microbatch */
    EMU_NAME_SEQUENCES,    /* of the step on the whole mesh */
    EMU_NAME_MICROBATCHES,
    EMU_NAME_WORLD,
    EMU_NAME_AXIS, /* size of the axis, 1 where the mesh has none of that name */
};

struct emu_expression_node {
    enum emu_expression_op op;
    enum emu_expression_name name;
    uint64_t number;
    char axis[EMU_NAME_MAX];
    uint32_t column; /* byte of the text, from 1 */
    uint16_t left;   /* index into nodes, always below the node's own */
    uint16_t right;
};

struct emu_expression {
    uint16_t count;
    uint16_t root;
    struct emu_expression_node nodes[EMU_EXPRESSION_MAX_NODES];
};

struct emu_expression_error {
    uint32_t column; /* byte of the text, from 1 */
    char message[EMU_EXPRESSION_MESSAGE_MAX];
};

/* false: *error says what is wrong, what is allowed and where; *out is not to be used. Names are
 * read as axes where they are none of the above. */
bool emu_expression_parse(const char *text, struct emu_expression *out,
                          struct emu_expression_error *error);

/* Whether every name means something here: axes of the mesh or dp, tp, cp, pp; micro_tokens only
 * where the expression belongs to one microbatch. */
bool emu_expression_check(const struct emu_expression *expression, const struct emu_mesh *mesh,
                          bool inside_microbatch, struct emu_expression_error *error);

#endif
