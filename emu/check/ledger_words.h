/* How is each class of ledger finding worded? Parts of emu_ledger_report.
 *
 * Each sets the message, the axes and what else its class has, and appends lines to `why`: the
 * first is the reason or what the ratio equals, the others ("cause: ...", "factors: ...") stand
 * alone.
 */
#ifndef EMU_CHECK_LEDGER_WORDS_H
#define EMU_CHECK_LEDGER_WORDS_H

#include "check/ledger_report.h"
#include "check/recipe_factors.h"

void emu_ledger_tell_missing(const struct emu_ledger_case *c, struct emu_finding *finding,
                             struct emu_text *why);
void emu_ledger_tell_untied(const struct emu_ledger_case *c, struct emu_finding *finding,
                            struct emu_text *why);
void emu_ledger_tell_lost(const struct emu_ledger_case *c, struct emu_finding *finding,
                          struct emu_text *why);
void emu_ledger_tell_weights(const struct emu_ledger_case *c, struct emu_finding *finding,
                             struct emu_text *why);
void emu_ledger_tell_factor(const struct emu_ledger_case *c, struct emu_finding *finding,
                            struct emu_text *why);

/* "factors: scale_loss dp/tokens = 1/8, average over cp (FILE:8) = 1/4; left over: 1/cp". */
void emu_ledger_tell_factors(const struct emu_ledger_case *c, const struct emu_recipe_factors *list,
                             struct emu_text *why);

/* The factors that are not the same for every source or on every rank, with their values. Returns
 * how many were told. */
size_t emu_ledger_tell_differing(const struct emu_ledger_case *c,
                                 const struct emu_recipe_factors *list, struct emu_text *why);

/* Sources that a row has nothing of, though they have tokens; on a table with two uses, of either.
 * Room for emu_plan_sources. */
void emu_ledger_lacking(const struct emu_ledger_case *c, const uint64_t *row, bool *lacks);

#endif
