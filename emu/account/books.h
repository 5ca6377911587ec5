/* How many bytes does each rank hold, how many do all together, and why is that more than the
 * model?
 *
 * unique     scalars of the logical tensors, each once: no padding, a tied table once
 * resident   scalars that a rank allocates (one row for each class of equal ranks)
 * aggregate  sum over ranks
 * causes     named parts of aggregate - unique; their sum is exactly that difference
 *
 * Optimizer sharding (ZeRO, arXiv 1910.02054): of each tensor a member of the shard group of N
 * allocates ceil(local/N); zero1 shards master and moments, zero2 the gradient too, zero3 the
 * weight too, and then `elements` counts shards. Integers are exact: what does not fit into a
 * report (2^63-1) is refused, never wrapped.
 */
#ifndef EMU_ACCOUNT_BOOKS_H
#define EMU_ACCOUNT_BOOKS_H

#include "account/rank_class.h"

/* Bytes that one rank sends in a step; an axis without traffic of its own is left out. */
struct emu_traffic {
    bool has_tp, has_pp, has_cp, has_data;
    uint64_t tp, pp, cp, data;
};

struct emu_holding {
    uint64_t elements;
    uint64_t weight, gradient, master, moments; /* bytes */
    uint64_t activations;                       /* bytes at the peak */
    uint64_t total;                             /* bytes of the five */
    struct emu_traffic traffic;                 /* zero in an aggregate */
};

#define EMU_CAUSES_MOST (EMU_MESH_MAX_AXES + 5)
#define EMU_CAUSE_NAME_MAX (EMU_NAME_MAX + 8)

struct emu_cause {
    char name[EMU_CAUSE_NAME_MAX];
    uint64_t elements;
};

struct emu_books {
    struct emu_shapes shapes;
    struct emu_rank_classes classes; /* owned */
    struct emu_holding *rows;        /* one a class; owned */
    uint64_t unique_elements, unique_bytes;
    struct emu_holding aggregate;
    struct emu_cause causes[EMU_CAUSES_MOST]; /* those that are not 0, in a fixed order */
    uint32_t cause_count;
};

/* EMU_EPARSE with the reasons appended: the model does not fit the mesh, or a number no report. */
EMU_MUST_CHECK enum emu_status emu_books_make(const struct emu_config *config,
                                              struct emu_text *diagnostics,
                                              struct emu_books *books);
void emu_books_finish(struct emu_books *books);

/* The row of a class of these shapes. false: a number is too large for a report. */
EMU_MUST_CHECK bool emu_holding_of(const struct emu_shapes *shapes,
                                   const struct emu_rank_class *class, struct emu_holding *holding);

/* weight + gradient + master + moments. */
uint64_t emu_holding_state(const struct emu_holding *holding);

/* Elements that a rank of the class allocates, with each tensor cut into `shard` parts. */
emu_u128 emu_elements_of(const struct emu_shapes *shapes, const struct emu_rank_class *class,
                         uint32_t shard);

/* Bytes of activations (activations.c) and what is sent (sent_bytes.c). false: too large. */
EMU_MUST_CHECK bool emu_activations_of(const struct emu_shapes *shapes,
                                       const struct emu_rank_class *class, uint64_t *bytes);
EMU_MUST_CHECK bool emu_traffic_of(const struct emu_shapes *shapes,
                                   const struct emu_rank_class *class, struct emu_traffic *traffic);

/* Bytes of an activation's element. */
uint64_t emu_activation_bytes(const struct emu_config *config);

/* Fill books->causes from shapes and classes (causes.c). false: too large. */
EMU_MUST_CHECK bool emu_causes_find(struct emu_books *books);

#endif
