/* What does a factor of a recipe say, and what is it worth? A tree that is built here, written as
 * text for the config, and evaluated by the reference from the tree, never from the text. */
#ifndef TESTS_PROPERTY_FORMULA_H
#define TESTS_PROPERTY_FORMULA_H

#include "base/text.h"
#include "draw.h"
#include "fraction.h"

#define FORMULA_NODES 48

enum formula_op {
    FORMULA_NUMBER,
    FORMULA_NAME,
    FORMULA_NEGATE,
    FORMULA_ADD,
    FORMULA_SUBTRACT,
    FORMULA_MULTIPLY,
    FORMULA_DIVIDE,
    FORMULA_MAX
};

enum formula_name {
    NAME_DP, /* the axes stand first, in the order of enum axis_name */
    NAME_CP,
    NAME_TP,
    NAME_PP,
    NAME_COPY,
    NAME_WORLD,
    NAME_TOKENS,
    NAME_MICROBATCHES,
    NAME_SEQUENCES,
    NAME_LOCAL_TOKENS,
    NAME_MICRO_TOKENS,
    NAME_COUNT
};

struct formula {
    int count, root;
    struct formula_node {
        enum formula_op op;
        int number; /* NUMBER: the integer; NAME: enum formula_name */
        int left, right;
    } node[FORMULA_NODES];
};

/* What the names mean at one rank and in one microbatch. */
struct formula_values {
    int64_t of[NAME_COUNT];
};

enum formula_outcome { FORMULA_FINE, FORMULA_DIVIDES_BY_ZERO, FORMULA_TOO_LARGE };

/* Builders: each makes its node the root. false where the tree is full; it is unchanged then. */
void formula_set_number(struct formula *formula, int number);
bool formula_apply_number(struct formula *formula, enum formula_op op, int number);
bool formula_apply_name(struct formula *formula, enum formula_op op, enum formula_name name);
bool formula_negate(struct formula *formula);
/* root op root, both the same node: x+x, x/x, max(x,x) */
bool formula_double(struct formula *formula, enum formula_op op);

/* Any tree of some depth; `names` is the set of names it may use, as bits. */
void formula_random(struct formula *formula, struct draw *draw, uint32_t names);

void formula_write(const struct formula *formula, struct emu_text *out);

enum formula_outcome formula_value(const struct formula *formula,
                                   const struct formula_values *values, struct fraction *out);

#endif
