/* Which rank sent how much to which in a step?
 *
 * Made of what the recorders of the ranks counted in the last step that was audited, at the stated
 * cost (mesh/cost.h). A pair (from, to) holds
 *
 *   messages     the bytes that `from` sent to `to`
 *   collectives  for each family of groups the bytes that the family's calls cost `from`, all for
 *                the next member of its group (the first after the last): the costs are those of
 *                ring algorithms, in which each member sends to its successor alone
 *
 * so that a row adds up to what its rank sent, to the byte. Parts of a reduction that a member
 * needs from others reach it over the members between.
 */
#ifndef EMU_REPORT_TRAFFIC_MAP_H
#define EMU_REPORT_TRAFFIC_MAP_H

#include "base/text.h"
#include "check/outcome.h"

/* Meshes of more ranks get a list of their heaviest pairs. */
#define EMU_TRAFFIC_MAP_MOST 32

/* Row of `rank`, world entries. */
void emu_traffic_row(const struct emu_plan *plan, const struct emu_rank_books *books, uint32_t rank,
                     uint64_t *row);

/* The map for people: a digit for each pair, its ninths of the heaviest pair rounded up. */
void emu_traffic_map_print(const struct emu_training_result *result, struct emu_text *out);

#endif
