/* Which positions of every sequence does a context-parallel rank own, and whose does it need?
 *
 * contiguous: the chunk rule cuts `sequence` positions over cp; rank i owns run i. balanced: it
 * cuts 2*cp runs and rank i owns runs i and 2*cp-1-i, so that early and late positions mix (as ring
 * attention balances causal work). A rank's positions are those of its runs in order.
 *
 * The window of position j are the `context` positions before it. Those that lie before the run
 * itself are its halo; they belong to earlier runs, whose owners send what they computed for them.
 * Positions before the sequence are no halo: the owner of run 0 computes them itself.
 *
 * Example, cp=2, balanced, 8 positions, context 3: runs 01|23|45|67, rank 0 owns 01 67, rank 1 owns
 * 23 45. Run 45 needs 2 and 3 (its own rank's) and 1 (rank 0's).
 */
#ifndef EMU_PLAN_POSITIONS_H
#define EMU_PLAN_POSITIONS_H

#include "plan/plan.h"

/* Number of runs: cp or 2*cp; the positions of run r and the cp coordinate that owns it. */
uint32_t emu_runs(const struct emu_plan *plan);
struct emu_slice emu_run_positions(const struct emu_plan *plan, uint32_t run);
uint32_t emu_run_owner(const struct emu_plan *plan, uint32_t run);

/* The runs of a cp coordinate, in order; writes 1 or 2, returns how many. */
uint32_t emu_runs_of(const struct emu_plan *plan, uint32_t cp_index, uint32_t runs[2]);

/* Positions that a cp coordinate owns in every sequence. */
uint64_t emu_positions_owned(const struct emu_plan *plan, uint32_t cp_index);

/* The part of run `needed`'s halo that lies in run `from` (from < needed); count 0: none. */
struct emu_slice emu_run_halo(const struct emu_plan *plan, uint32_t needed, uint32_t from);

#endif
