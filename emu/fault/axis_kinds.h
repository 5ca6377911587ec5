/* Faults that single axes bring with them: whom do they concern in this plan?
 *
 * The tied table of a pipeline, slices of rows, cp slices and their halo, the norm over the parts
 * of a model, optimizer shards. From plan and address alone.
 */
#ifndef EMU_FAULT_AXIS_KINDS_H
#define EMU_FAULT_AXIS_KINDS_H

#include "fault/fault.h"

/* Is it one of these kinds? */
bool emu_axis_kind(enum emu_fault_kind kind);

/* Why a fault of one of these kinds does not apply to this plan; NULL: it does, or it is of another
 * kind. */
const char *emu_axis_kind_skip(const struct emu_fault *fault, const struct emu_plan *plan);

/* The axes of the mesh (bit 1 << index) that a finding about the fault must name. */
uint32_t emu_axis_kind_axes(const struct emu_fault *fault, const struct emu_plan *plan);

/* The family over which the norm is not summed, or averaged; UINT32_MAX: it is summed over no such
 * one. */
uint32_t emu_fault_norm_family(const struct emu_fault *fault, const struct emu_plan *plan);

/* The axis over which reduce_part sums, as a family; UINT32_MAX: none. */
uint32_t emu_fault_part_family(const struct emu_fault *fault, const struct emu_plan *plan);

/* Does a shard of its optimizer state have padding behind it, on some rank, where leftovers of a
 * gradient are not 0? */
bool emu_fault_is_padded(const struct emu_plan *plan, uint32_t tensor);

/* Does the fault concern this tensor? With a param that names others: no. */
bool emu_axis_kind_concerns(const struct emu_fault *fault, const struct emu_plan *plan,
                            uint32_t tensor);

#endif
