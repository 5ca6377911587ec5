/* Which faults does a campaign inject? Every kind at several addresses of this plan.
 *
 * A table of SPECs with gaps: $a and $b a rank, $s a step, $c a call of a step, $g the group that
 * combines gradients, $p a parameter that the rank named before it holds and combines, $r one that
 * tp ranks hold whole, $h one that they shard, $d one that is drawn, $m a microbatch, $t a rank
 * whose dp and tp coordinates differ; $n, $v, $k the axes tp, pp and cp, $o the group that divides
 * gradients; $q a parameter that sequence parallelism slices, $w one with padded optimizer shards.
 * A SPEC with a gap that this plan cannot fill falls away.
 */
#ifndef EMU_FAULT_CAMPAIGN_SCHEDULE_H
#define EMU_FAULT_CAMPAIGN_SCHEDULE_H

#include "fault/fault.h"

/* What fills the gaps. */
struct emu_fault_dice {
    uint32_t a, b;
    uint64_t step;
    uint64_t call;
    uint32_t micro;
};

/* One other rank, the last one, the second step: what fits the smallest plans. */
struct emu_fault_dice emu_fault_dice_plain(const struct emu_plan *plan);

/* Drawn from (seed, number); calls_in_step: that every rank makes, at least 1. */
struct emu_fault_dice emu_fault_dice_random(const struct emu_plan *plan, uint64_t seed,
                                            uint64_t number, uint64_t calls_in_step);

size_t emu_fault_schedule_count(void);

/* A row for the number-th random fault. */
size_t emu_fault_schedule_random(uint64_t seed, uint64_t number);

/* Fill in row `index`. false: this plan has nothing for one of its gaps; `spec` then holds the kind
 * alone. */
bool emu_fault_schedule_spec(const struct emu_plan *plan, size_t index,
                             const struct emu_fault_dice *dice, char spec[EMU_FAULT_SPEC_MAX]);

#endif
