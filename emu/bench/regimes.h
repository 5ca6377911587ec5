/* Which ways through the shared segment are there, and which payload takes which?
 *
 * Today one algorithm serves every op, group and machine: all deposit, who comes last compares,
 * each member folds or copies for itself. What differs is where a deposit lies.
 */
#ifndef EMU_BENCH_REGIMES_H
#define EMU_BENCH_REGIMES_H

#include "base/text.h"
#include "mesh/roster.h"

struct emu_regimes {
    uint64_t inline_bytes; /* deposits up to this lie in the slot, beside the flags */
    uint64_t chunk_bytes;  /* up to this in one round of the stage; longer ones in several */
    uint32_t rounds_ahead; /* rounds that lie in the stage at a time */
    uint32_t open_calls;   /* of a group, before the next one is queued */
};

/* EMU_ERANGE: no segment holds this mesh. */
EMU_MUST_CHECK enum emu_status emu_regimes_of(const struct emu_roster *roster,
                                              struct emu_regimes *regimes);

/* For a person. */
void emu_regimes_text(const struct emu_regimes *regimes, struct emu_text *text);

#endif
