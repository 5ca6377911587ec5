/* Which ranks hold which part of the model's state, and what is left of it without some of them?
 *
 * A shard is all that the same ranks hold by the plan: elements of one stage (or of both ends of a
 * tied table), of one tp coordinate (or those that tp copies), and of one part of the optimizer's
 * shard group (or all parts where nothing is divided). Padding is no state. Every element is in one
 * shard. Weights and the optimizer's moments are looked at apart: zero1 and zero2 divide the
 * moments alone.
 */
#ifndef EMU_PLAN_HOLDERS_H
#define EMU_PLAN_HOLDERS_H

#include "plan/plan.h"

#define EMU_HELD_BY_ALL UINT32_MAX

enum emu_held { EMU_HELD_WEIGHTS, EMU_HELD_MOMENTS, EMU_HELD_COUNT };

struct emu_held_shard {
    uint32_t first_tensor; /* that has elements in it */
    uint32_t tensors;      /* that have */
    uint64_t elements;     /* of weights; moments hold plan->moments as many */
    uint32_t stage;
    bool tied;         /* the last stage holds it too */
    uint32_t tp;       /* coordinate, or HELD_BY_ALL */
    uint32_t part;     /* of the shard group, or HELD_BY_ALL */
    uint32_t count;    /* holders */
    uint32_t alive;    /* those that are not dead */
    uint32_t *holders; /* ranks, ascending; owned */
};

struct emu_holders {
    struct emu_held_shard *shards; /* in order of their first tensor, tp, part; owned */
    size_t count;                  /* 0: there is no such state (moments of sgd) */
    size_t room;
    size_t lost;     /* shards without a living holder */
    uint32_t fewest; /* living holders of any shard */
};

/* dead: world entries. EMU_ENOMEM. */
EMU_MUST_CHECK enum emu_status emu_holders_find(const struct emu_plan *plan, enum emu_held what,
                                                const bool *dead, struct emu_holders *holders);
void emu_holders_finish(struct emu_holders *holders);

#endif
