/* What does a program read about a script? The whole JSON report of `meshemu script`. */
#ifndef EMU_REPORT_SCRIPT_JSON_H
#define EMU_REPORT_SCRIPT_JSON_H

#include "check/script_outcome.h"
#include "report/json_writer.h"

/* How often --repeat has run it; the report is of run `shown`, from 1. */
struct emu_script_repeats {
    uint64_t asked, made, shown, failed;
    bool differs; /* run `shown` is not like the first */
};

/* One complete document, but for emu_json_finish. repeats: NULL without --repeat. */
void emu_script_to_json(const struct emu_script_outcome *outcome,
                        const struct emu_script_repeats *repeats, struct emu_json *json);

/* Appends what is compared between two runs: the findings (class, severity, culprits, group, index)
 * and the results. Not times and pids, what the ranks happened to be doing, and notes about time.
 */
void emu_script_fingerprint(const struct emu_script_outcome *outcome, struct emu_text *out);

#endif
