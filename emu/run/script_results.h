/* Where do ranks write what their calls gave them, so that it outlives them and the segment?
 *
 * One shared mapping, made before the fork. Each rank has a header and as many slots as its program
 * has calls that may yield data, in the order in which they are called:
 *
 *   header   steps   ops begun
 *   slot     done    1 once bits hold the first element of the result
 *            bits
 *
 * word    writers   readers                order            publishes  a stale read costs
 * steps   the rank  launcher, rank is gone release/acquire  nothing    nothing
 * done    the rank  launcher, rank is gone release/acquire  bits       nothing
 */
#ifndef EMU_RUN_SCRIPT_RESULTS_H
#define EMU_RUN_SCRIPT_RESULTS_H

#include "check/script_outcome.h"
#include "os/map.h"

#include <stdatomic.h>

struct emu_script_slot {
    _Atomic uint32_t done;
    uint64_t bits;
};

struct emu_script_steps {
    _Alignas(64) _Atomic uint64_t steps;
};
_Static_assert(sizeof(struct emu_script_steps) == 64, "one line a rank");
_Static_assert(sizeof(struct emu_script_slot) == 16, "four a line");

struct emu_script_results {
    const struct emu_script *script; /* borrowed */
    struct emu_map map;
    uint64_t *first; /* per rank: number of its first slot; owned */
};

EMU_MUST_CHECK enum emu_status emu_script_results_create(const struct emu_script *script,
                                                         struct emu_script_results *results,
                                                         struct emu_reason *reason);
void emu_script_results_destroy(struct emu_script_results *results);

struct emu_script_steps *emu_script_results_steps(const struct emu_script_results *results,
                                                  uint32_t rank);
struct emu_script_slot *emu_script_results_slot(const struct emu_script_results *results,
                                                uint32_t rank, uint64_t number);

/* List what all ranks, which must be gone, have written. EMU_ENOMEM. */
EMU_MUST_CHECK enum emu_status emu_script_results_gather(const struct emu_script_results *results,
                                                         struct emu_script_outcome *outcome);

#endif
