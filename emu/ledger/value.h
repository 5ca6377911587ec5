/* What does a pending sum know about itself, and what does each operation do to it?
 *
 * A gradient value carries one coefficient for each source of gradient, exact in the field modulo
 * 2^61-1: how often the summed token gradient of that source is inside the value. The coefficients
 * are reduced by the collective that reduces the value (struct emu_call, ledger). Beside them it
 * knows for each mesh axis how it lies there. The rules, one a line:
 *
 *   operation             coefficients               axis that it acts on
 *   fresh                 1 at the owner's source    dp, cp: PARTIAL; shards: SHARDED; else WHOLE
 *   scale by q            times q                    unchanged
 *   add (accumulate)      added source by source     MIXED where one is PARTIAL, the other SUMMED;
 *                                                    else PARTIAL, or SUMMED, where either is
 *   sum over an axis      summed over the members    PARTIAL -> SUMMED
 *                                                    MIXED   -> SUMMED, event AGAIN
 *                                                    SUMMED  -> SUMMED, event AGAIN
 *                                                    WHOLE   -> WHOLE,  event REPLICATED
 *                                                    SHARDED: refused, unrelated elements
 *   average over it       summed, times 1/members    likewise; the event is neutral
 *   use as if whole       -                          PARTIAL, MIXED: a reduction is missing
 *
 * Axes of size 1 never change anything. Pure; the caller owns all memory.
 */
#ifndef EMU_LEDGER_VALUE_H
#define EMU_LEDGER_VALUE_H

#include "ledger/rational.h"

#include <meshemu/mesh.h>

#include <stdbool.h>
#include <stdint.h>

enum emu_axis_state {
    EMU_AXIS_WHOLE,   /* every rank holds the complete value */
    EMU_AXIS_SHARDED, /* every rank holds other elements */
    EMU_AXIS_PARTIAL, /* a pending sum: every rank holds a term */
    EMU_AXIS_SUMMED,  /* was partial, has been summed */
    EMU_AXIS_MIXED    /* some microbatches have been summed, others are pending */
};

struct emu_value {
    uint64_t *coefficients; /* one a source; borrowed */
    uint32_t sources;
    uint8_t axis[EMU_MESH_MAX_AXES]; /* enum emu_axis_state, by axis of the mesh */
};

/* What a reduction did that it need not have done. */
enum emu_value_event {
    EMU_VALUE_AGAIN = 1,     /* an axis over which (some of) it had been summed already */
    EMU_VALUE_REPLICATED = 2 /* an axis over which the value was whole from the start */
};

/* The gradient of one source; `axis` holds the states it starts with. */
void emu_value_fresh(struct emu_value *value, uint32_t source);

void emu_value_zero(struct emu_value *value);

/* Multiply; EMU_EINVAL where the factor has no element in the field. */
EMU_MUST_CHECK enum emu_status emu_value_scale(struct emu_value *value, struct emu_rational factor);

/* into += from: coefficients, and what is pending. */
void emu_value_add(struct emu_value *into, const struct emu_value *from);

/* The axes of a sum alone, where the coefficients are not kept or are shared. */
void emu_value_join(struct emu_value *into, const struct emu_value *from);

/* May it be reduced over these axes? The first one of size > 1 that shards it, or -1. */
int emu_value_shard_axis(const struct emu_value *value, const struct emu_mesh *mesh,
                         const struct emu_axes *axes);

/* The collective over these axes has run and has reduced the coefficients: note what became of the
 * axes. Returns the events of axis axes->index[i] in events[i] (0: none). */
void emu_value_reduced(struct emu_value *value, const struct emu_mesh *mesh,
                       const struct emu_axes *axes, uint8_t events[EMU_MESH_MAX_AXES]);

/* The first axis of size > 1 over which a sum is still pending, or -1. */
int emu_value_partial_axis(const struct emu_value *value, const struct emu_mesh *mesh);

#endif
