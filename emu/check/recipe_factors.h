/* Which factors of the recipe does a gradient meet on its way, in what order, and how large is each
 * at a rank and in a microbatch?
 *
 * The recipe read again, beside what the ranks did: for words only. The verdict never depends on
 * it.
 */
#ifndef EMU_CHECK_RECIPE_FACTORS_H
#define EMU_CHECK_RECIPE_FACTORS_H

#include "check/ledger_evidence.h"
#include "check/size_product.h"

enum emu_factor_place {
    EMU_FACTOR_MEAN,       /* loss: mean */
    EMU_FACTOR_LOSS,       /* scale_loss */
    EMU_FACTOR_SUM,        /* a sum over copies that were whole: their number */
    EMU_FACTOR_AVERAGE,    /* op: avg */
    EMU_FACTOR_REDUCTION,  /* scale of a reduction */
    EMU_FACTOR_ACCUMULATE, /* accumulate: mean */
    EMU_FACTOR_GRAD        /* scale_grad */
};

struct emu_recipe_factor {
    enum emu_factor_place place;
    const struct emu_reduction_plan *reduction; /* NULL: none */
    const struct emu_expression *expression;    /* NULL: `product` is all there is */
    const char *text;                           /* of the expression, as written; NULL: none */
    struct emu_size_product product;
};

struct emu_recipe_factors {
    const struct emu_evidence *evidence;
    struct emu_recipe_factor *at; /* owned */
    size_t count;
};

/* The factors that are not 1 in name; `rank` is whose record tells which sums met whole values.
 * false: memory. */
EMU_MUST_CHECK bool emu_recipe_factors_list(const struct emu_evidence *evidence, uint32_t tensor,
                                            uint32_t rank, struct emu_recipe_factors *out);
void emu_recipe_factors_finish(struct emu_recipe_factors *factors);

/* The factor of this source's gradient on a rank (before the first reduction: the rank that owns
 * it). false: it has no value, or does not act on this microbatch. */
bool emu_recipe_factor_value(const struct emu_evidence *evidence,
                             const struct emu_recipe_factor *factor, uint32_t rank, uint32_t micro,
                             struct emu_rational *out);

/* Does it act on a gradient that no other rank has had a part in? These differ by source, others by
 * rank. */
bool emu_recipe_factor_is_early(const struct emu_recipe_factor *factor);

/* All of them multiplied, and by the tokens: what is left where 1/tokens is right. */
struct emu_size_product emu_recipe_factors_left(const struct emu_recipe_factors *factors);

/* The names of an expression at a rank in a microbatch. */
struct emu_factor_values emu_factor_values_at(const struct emu_evidence *evidence, uint32_t rank,
                                              uint32_t micro);

/* "scale_loss dp/tokens", "average over dp,cp (FILE:8)"; with an empty file "(line 8)". */
void emu_recipe_factor_words(const char *file, const struct emu_recipe_factor *factor,
                             struct emu_text *out);

/* "the reduction over dp (FILE:8, when: first)". */
void emu_reduction_words(const char *file, const struct emu_reduction_plan *reduction,
                         struct emu_text *out);

/* The first rank whose tokens are this source's. */
uint32_t emu_source_owner(const struct emu_evidence *evidence, uint32_t source);

#endif
