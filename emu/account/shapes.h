/* Which tensors does a model have, and what does tp do to each of them?
 *
 * A model is four parts: what the first stage adds, two kinds of layer, what the last stage adds.
 * A part lists its tensors once, however often it is repeated, so a list has at most 96 entries
 * whatever the size of model and mesh.
 *
 *   transformer   layers before experts.from_layer are `early` (dense), the rest `late`
 *   mlp_lm        layer 0 reads the concatenated context (early), the others the stream (late)
 *   linear        one tensor in the first part, no layer
 *
 * Along tp a tensor has `pieces` different slices: tp of them where it is split, fewer where heads
 * of k and v are copied, one where it is copied whole. Every slice of a tensor has the same size
 * but those of mlp_lm's hidden dimension, which the chunk rule cuts: then tp coordinates fall into
 * up to three runs (full, short, empty).
 *
 * Sources: Narayanan 2021 (arXiv 2104.04473) for the split, DeepSeek-V2 (2405.04434) and
 * Megatron-LM for latent attention, vLLM for the copies of k and v.
 */
#ifndef EMU_ACCOUNT_SHAPES_H
#define EMU_ACCOUNT_SHAPES_H

#include "account/exact.h"
#include "config/config.h"

#define EMU_SHAPE_NAME_MAX 32
#define EMU_PART_MOST 32
#define EMU_TP_RUNS_MOST 3

enum emu_split {
    EMU_SPLIT_COPIED,
    EMU_SPLIT_ROWS,    /* vocabulary or heads or width in equal slices */
    EMU_SPLIT_COLUMNS, /* row-parallel: the input dimension */
    EMU_SPLIT_HEADS,   /* k and v: pieces = min(kv_heads, tp) */
    EMU_SPLIT_CHUNKS,  /* mlp_lm's hidden dimension, `unit` elements for each of its entries */
};

struct emu_shape {
    char name[EMU_SHAPE_NAME_MAX]; /* "q.weight" in a layer, "embed.weight" outside */
    emu_u128 elements;             /* of the logical tensor */
    emu_u128 padded;               /* the same with the vocabulary rounded up */
    uint64_t repeat;               /* tensors of this shape in the part (experts) */
    uint64_t unit;                 /* CHUNKS alone */
    uint32_t pieces;
    enum emu_split split;
    bool tied; /* held by the last stage too */
};

enum emu_part_kind { EMU_PART_FIRST, EMU_PART_EARLY, EMU_PART_LATE, EMU_PART_LAST, EMU_PART_COUNT };

struct emu_part {
    struct emu_shape shapes[EMU_PART_MOST];
    uint32_t count;
};

/* tp coordinates first to first + count - 1 hold `width` entries of a dimension cut in chunks. */
struct emu_tp_run {
    uint32_t first, count;
    uint64_t width;
};

struct emu_shapes {
    const struct emu_config *config; /* borrowed */
    uint32_t dp, tp, cp, pp, world;  /* sizes, 1 where absent */
    uint32_t shard;                  /* N: members of the optimizer's shard group */
    uint64_t layers;                 /* 0: linear */
    uint64_t early;                  /* layers 0 to early - 1 are of the early kind */
    struct emu_part parts[EMU_PART_COUNT];
    struct emu_tp_run runs[EMU_TP_RUNS_MOST];
    uint32_t run_count;
    struct {
        uint64_t weight, gradient, master, moments;
    } bytes; /* per element */
};

/* EMU_EPARSE with every reason appended as "FILE:LINE:COLUMN: error: ..." where the model cannot be
 * laid out on the mesh or has counts that no report can hold. The config has mesh and model. */
EMU_MUST_CHECK enum emu_status emu_shapes_make(const struct emu_config *config,
                                               struct emu_text *diagnostics,
                                               struct emu_shapes *shapes);

/* Elements that a rank of this run of tp coordinates allocates for one such tensor, unsharded. */
emu_u128 emu_shape_local(const struct emu_shape *shape, const struct emu_tp_run *run);

/* Add a shape to a part; the name is "prefix" "name". Returns it for further changes. */
struct emu_shape *emu_part_add(struct emu_part *part, const char *name, enum emu_split split,
                               emu_u128 elements);

/* Fill the parts (shapes_transformer.c, shapes_mlp.c). What is wrong is appended to diagnostics. */
void emu_shapes_transformer(struct emu_shapes *shapes, struct emu_text *diagnostics);
void emu_shapes_mlp_lm(struct emu_shapes *shapes);

/* The vocabulary rounded up to a multiple; EMU_EXACT_FULL where that is too large. */
emu_u128 emu_vocabulary_round(uint64_t vocabulary, uint64_t multiple, uint32_t tp);

#endif
