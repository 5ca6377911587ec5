/* What would the same step give on a mesh of one rank?
 *
 * The oracle runs the trainer's own step on a mesh of one with bounded numbers. Each step starts
 * from the state in which the mesh really began it (loaded from the ranks' arenas), so that the
 * bound speaks of one step alone and stays tight: step by step, from a start that is equal bit for
 * bit, the whole run is proved. In exact arithmetic a twin runs beside it with plain numbers and
 * the watch on roundings: what neither the twin nor the mesh rounded must be equal bit for bit.
 * Used by one thread at a time.
 */
#ifndef EMU_RUN_ORACLE_H
#define EMU_RUN_ORACLE_H

#include "check/audit.h"
#include "ledger/rational.h"
#include "plan/plan.h"
#include "train/corpus.h"

struct emu_oracle;

/* EMU_ENOMEM, EMU_ERANGE. plan and corpus are borrowed. */
EMU_MUST_CHECK enum emu_status emu_oracle_create(const struct emu_plan *plan,
                                                 const struct emu_corpus *corpus,
                                                 struct emu_oracle **oracle);
void emu_oracle_destroy(struct emu_oracle *oracle);

/* Take weights and optimizer state of the step that the evidence is of as the state before the
 * next one. Of the ranks that hold one block, the one at coordinate 0 of all other axes is read. */
void emu_oracle_load(struct emu_oracle *oracle, const struct emu_evidence *evidence);

/* Run the next step; *view points into the oracle and is valid until the next load or step.
 * EMU_EABORTED: the calling thread was halted (nn/halt.h); load before the next step. */
EMU_MUST_CHECK enum emu_status emu_oracle_run(struct emu_oracle *oracle,
                                              struct emu_oracle_step *view);

/* Put the twin's values, with bound 0, in place of gradient, weights, moments and loss: legal where
 * the mesh rounded nothing in this step; where the step clipped, of gradient and loss alone. false,
 * *view untouched: there is no twin, or it rounded.
 */
bool emu_oracle_sharpen(struct emu_oracle *oracle, struct emu_oracle_step *view);

/* The gradient that these coefficients give from the state in which the last step began:
 * weights[tensor * sources + source]. See train/weigh.h. The views of the last run are gone.
 * EMU_EABORTED: as above. */
EMU_MUST_CHECK enum emu_status emu_oracle_weigh(struct emu_oracle *oracle,
                                                const struct emu_rational *weights, uint64_t terms,
                                                const struct emu_bounded *const **gradient);

#endif
