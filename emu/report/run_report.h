/* What does a person read about a run?
 *
 * What ran (mesh, ranks, model, data), the loss step by step beside the oracle's, one line a check
 * with its figures, the verdict, and the findings.
 */
#ifndef EMU_REPORT_RUN_REPORT_H
#define EMU_REPORT_RUN_REPORT_H

#include "base/text.h"
#include "check/outcome.h"

/* No fault was found and nothing ended the run early. */
bool emu_run_passed(const struct emu_training_result *result);

/* The whole report. colour: ANSI escapes for words of judgement. */
void emu_run_report(const struct emu_training_result *result, bool colour, struct emu_text *out);

/* Verdict and findings alone: what --quiet leaves. */
void emu_run_report_verdict(const struct emu_training_result *result, bool colour,
                            struct emu_text *out);

#endif
