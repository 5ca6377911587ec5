/* Where did the time of the steps go, rank by rank? */
#ifndef EMU_REPORT_BREAKDOWN_TABLE_H
#define EMU_REPORT_BREAKDOWN_TABLE_H

#include "base/text.h"
#include "check/outcome.h"
#include "report/json_writer.h"

/* The table for people: milliseconds of all steps, a row a rank that adds up to its total, and the
 * shares of all ranks together. Of more than EMU_BREAKDOWN_RANKS_MOST ranks the first. */
#define EMU_BREAKDOWN_RANKS_MOST 16
void emu_breakdown_print(const struct emu_training_result *result, struct emu_text *out);

/* {"steps", "audit_cpu_ns", "oracle_cpu_ns", "ranks": [{"rank", "compute_ns", "waiting_ns",
 * "folding_ns", "calls_ns", "checks_ns", "oracle_ns", "total_ns", "cpu_ns"}]} */
void emu_breakdown_to_json(const struct emu_breakdown *breakdown, struct emu_json *json);

#endif
