/* What would dividing by the number of devices claim, and where is that false?
 *
 * A category is what the bars of the chart show: unique bytes, the ranks that hold most and least,
 * the aggregate, and the claim "unique / ranks". The claim is refuted by name: the first tensor in
 * model order and the first axis in mesh order along which a rank does not hold its share of it.
 *
 * Activations have no tensors in the books. Unique is then every value once: what one tp rank of
 * the stage would hold alone, over all tokens of dp and cp; dp and cp do not copy activations.
 */
#ifndef EMU_ACCOUNT_CLAIM_H
#define EMU_ACCOUNT_CLAIM_H

#include "account/books.h"

#define EMU_CLAIM_WHY_MAX 256

enum emu_book_category {
    EMU_BOOK_WEIGHTS,
    EMU_BOOK_GRADIENTS,
    EMU_BOOK_MASTER,
    EMU_BOOK_MOMENTS,
    EMU_BOOK_ACTIVATIONS,
    EMU_BOOK_CATEGORIES
};

struct emu_claim {
    const char *name;                     /* of the category */
    uint64_t unique, aggregate;           /* bytes */
    uint64_t largest, smallest;           /* bytes on one rank */
    uint32_t largest_rank, smallest_rank; /* the first class that has them */
    double claimed;                       /* bytes: unique / ranks */
    bool refuted;                         /* false: the claim holds for every tensor */
    char tensor[64];                      /* "layers.*.q.weight" */
    char axis[EMU_NAME_MAX];              /* "" where no axis is to blame (padding) */
    char why[EMU_CLAIM_WHY_MAX];          /* a sentence */
};

/* One entry for each category. false: a number is too large for a report. */
EMU_MUST_CHECK bool emu_claims_make(const struct emu_books *books,
                                    struct emu_claim claims[EMU_BOOK_CATEGORIES]);

/* Judge one tensor's weights: claim->refuted, axis and why; claim->tensor names it before. */
void emu_claim_judge_weight(const struct emu_shapes *shapes, const struct emu_shape *shape,
                            struct emu_claim *claim);

/* "layers.3-60.q.weight", "embed.weight": the tensors of this shape. */
void emu_shape_path(const struct emu_shapes *shapes, enum emu_part_kind kind,
                    const struct emu_shape *shape, char *out, size_t room);

/* Bytes of all activations, each value once (activations.c). false: too large. */
EMU_MUST_CHECK bool emu_activations_unique(const struct emu_books *books, uint64_t *bytes);

#endif
