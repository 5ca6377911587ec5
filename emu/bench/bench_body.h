/* What does each rank do in a benchmark?
 *
 * For each row: one call on fresh data, verified by every rank; warm-up; a barrier of the world;
 * the timed calls, back to back, the same buffers each time; one more verified call on other data.
 * Rank 0 of the mesh stamps each of its calls; of every rank the whole time counts. In place the
 * timed calls run on their own results, whose values do not matter.
 */
#ifndef EMU_BENCH_BENCH_BODY_H
#define EMU_BENCH_BENCH_BODY_H

#include "bench/bench_rows.h"

/* user: struct emu_bench. Returns the rank's exit code: 0, or 1 where a call failed. A wrong datum
 * is noted in its row and is no failure of the rank. */
int emu_bench_body(struct emu_rank *rank, void *user);

#endif
