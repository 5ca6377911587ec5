/* What is a factor made of, by name? Products and quotients of sizes: dp/tokens, 1/(dp*cp).
 *
 * Where every factor of a recipe is such a product, names cancel as they do on paper, and what is
 * left names the size that was forgotten even where two sizes are equal numbers. `world` is the
 * product of all axes. Pure; allocates nothing but text.
 */
#ifndef EMU_CHECK_SIZE_PRODUCT_H
#define EMU_CHECK_SIZE_PRODUCT_H

#include "base/text.h"
#include "plan/factor.h"

enum emu_size_name {
    EMU_SIZE_TOKENS,
    EMU_SIZE_LOCAL_TOKENS,
    EMU_SIZE_MICRO_TOKENS,
    EMU_SIZE_SEQUENCES,
    EMU_SIZE_MICROBATCHES,
    EMU_SIZE_AXIS /* axis a of the mesh is EMU_SIZE_AXIS + a */
};
#define EMU_SIZE_NAMES (EMU_SIZE_AXIS + EMU_MESH_MAX_AXES)

struct emu_size_product {
    bool known; /* false: no product (a sum, a max), or its number does not fit */
    struct emu_rational number;
    int power[EMU_SIZE_NAMES];
};

struct emu_size_product emu_size_product_one(void);

/* size^power, power 1 or -1; number^power. */
struct emu_size_product emu_size_product_of(uint32_t name, int power);
struct emu_size_product emu_size_product_number(int64_t number, int power);

/* The expression, where it is a product; numbers on their own are calculated. */
struct emu_size_product emu_size_product_read(const struct emu_expression *expression,
                                              const struct emu_mesh *mesh);

/* product *= other. */
void emu_size_product_multiply(struct emu_size_product *product,
                               const struct emu_size_product *other);

/* EMU_EINVAL: not known, or a division by zero; EMU_ERANGE. */
EMU_MUST_CHECK enum emu_status emu_size_product_evaluate(const struct emu_size_product *product,
                                                         const struct emu_factor_values *values,
                                                         struct emu_rational *out);

/* "1/cp", "tokens/(4*dp)", "2"; axes of size 1 are left out. */
void emu_size_product_text(const struct emu_size_product *product, const struct emu_mesh *mesh,
                           struct emu_text *out);

#endif
