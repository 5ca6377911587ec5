/* Which ways through the shared segment are there, and which payload takes which?
 *
 * The table of seg/ways.h for one mesh, in words. A group of no more members than cores and a
 * larger one go different ways; the buffers of bench lie in the arenas, so its long payloads are
 * lent.
 */
#ifndef EMU_BENCH_REGIMES_H
#define EMU_BENCH_REGIMES_H

#include "base/text.h"
#include "mesh/roster.h"
#include "seg/ways.h"

struct emu_regimes {
    struct emu_ways ways;
    uint64_t inline_bytes; /* deposits up to this lie in the slot, beside the flags */
    uint64_t chunk_bytes;  /* up to this in one round of the stage; longer ones in several */
    uint32_t open_calls;   /* of a group, before the next one is queued */
};

/* EMU_ERANGE: no segment holds this mesh. EMU_EINVAL: see emu_ways_here. */
EMU_MUST_CHECK enum emu_status emu_regimes_of(const struct emu_roster *roster,
                                              struct emu_regimes *regimes,
                                              struct emu_reason *reason);

/* For a person. */
void emu_regimes_text(const struct emu_regimes *regimes, struct emu_text *text);

#endif
