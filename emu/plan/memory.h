/* How many bytes will a rank ask for, by category, in a run?
 *
 * Predicted from the plan's own list of tensors and buffers, without looking at what the trainer
 * allocates: the memory check holds the two against each other, to the byte. Requested bytes,
 * before rounding up to 64.
 */
#ifndef EMU_PLAN_MEMORY_H
#define EMU_PLAN_MEMORY_H

#include "base/arena.h"
#include "plan/plan.h"

struct emu_memory_plan {
    uint64_t bytes[EMU_CATEGORY_COUNT];
};

struct emu_memory_plan emu_plan_memory(const struct emu_plan *plan, uint32_t rank);

#endif
