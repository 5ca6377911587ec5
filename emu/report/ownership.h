/* What of the model did the ranks that died take with them?
 *
 * Dead are the culprits of CRASH and EARLY_EXIT findings: ranks whose processes the kernel said are
 * gone, not those that were ended as a consequence. Who held what follows from the plan
 * (plan/holders.h), weights and optimizer apart. Nothing is written where nobody died.
 *
 *   "ownership": {"dead": [ranks], "weights": {"shards", "distinct_alive", "lost": [numbers of
 *     shards], "fewest": living holders of any shard, "holders": [{"shard": its number, "where",
 *     "parameter": the first, "parameters": how many, "elements", "ranks", "alive"}]}, "optimizer"}
 *
 * elements counts parameters; an optimizer has one or two moments for each.
 */
#ifndef EMU_REPORT_OWNERSHIP_H
#define EMU_REPORT_OWNERSHIP_H

#include "base/text.h"
#include "check/outcome.h"
#include "report/json_writer.h"

void emu_ownership_print(const struct emu_training_result *result, struct emu_text *out);

/* The key and its value into the open object. */
void emu_ownership_to_json(const struct emu_training_result *result, struct emu_json *json);

#endif
