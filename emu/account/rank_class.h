/* Which ranks are alike, so that one of them stands for all?
 *
 * Ranks differ in what they hold only by their pipeline stage and, where a dimension is cut
 * unevenly, by their run of tp coordinates: optimizer shards are allocated in equal sizes, and dp,
 * cp and plain axes only copy. A class is one kind of stage in one run of tp. There are a few of
 * them on any mesh, unless the stages themselves differ (activations in flight, model.stages).
 *
 * Stages are balanced and contiguous, the first ones taking the remainder; model.stages gives them
 * by hand (Llama 3 report, 2407.21783, section 3.3.2).
 */
#ifndef EMU_ACCOUNT_RANK_CLASS_H
#define EMU_ACCOUNT_RANK_CLASS_H

#include "account/shapes.h"

#include <stddef.h>

/* What a stage holds; stages of equal content are alike. */
struct emu_stage_content {
    uint64_t early, late; /* layers of each kind */
    uint64_t in_flight;   /* microbatches whose activations it holds at its peak; 0: not counted */
    bool first, last;
};

struct emu_rank_class {
    struct emu_stage_content content;
    struct emu_tp_run run;
    uint32_t stage;  /* the first stage of this kind */
    uint32_t stages; /* how many there are */
    uint32_t rank;   /* the rank at that stage, the run's first tp and 0 elsewhere */
    uint32_t count;  /* ranks of the class */
};

struct emu_rank_classes {
    struct emu_rank_class *items; /* by stage, then by tp run; owned */
    size_t count;
};

EMU_MUST_CHECK enum emu_status emu_rank_classes_make(const struct emu_shapes *shapes,
                                                     struct emu_rank_classes *classes);
void emu_rank_classes_finish(struct emu_rank_classes *classes);

/* The class of one rank (count 1), computed alone. O(axes), with model.stages O(stages). */
struct emu_rank_class emu_rank_class_of(const struct emu_shapes *shapes, uint32_t rank);

/* The activations of this model are in the books (activations.c). */
bool emu_activations_counted(const struct emu_config *config);

/* What a stage holds; `begin` layers are on the stages before it. */
struct emu_stage_content emu_stage_content_of(const struct emu_shapes *shapes, uint32_t stage,
                                              uint64_t begin);

/* How often a stage holds the tensors of a part; 1 where it holds a tied table of the first part
 * as last stage. */
uint64_t emu_stage_holds(const struct emu_stage_content *content, enum emu_part_kind kind,
                         const struct emu_shape *shape);

#endif
