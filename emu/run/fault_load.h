/* Which faults does a run carry, from its config and its command line?
 *
 * Read before anything starts; the counters of what acted are shared with every rank forked later.
 */
#ifndef EMU_RUN_FAULT_LOAD_H
#define EMU_RUN_FAULT_LOAD_H

#include "base/text.h"
#include "check/outcome.h"
#include "fault/fault_set.h"
#include "os/map.h"
#include "plan/plan.h"

/* SPECs that are not in the config, and how complaints call them: "--fault" gives "--fault 1". */
struct emu_fault_specs {
    const char *const *items;
    size_t count;
    const char *origin;
};

struct emu_fault_load {
    struct emu_fault *faults; /* owned */
    struct emu_map counters;
    struct emu_fault_set set;
    const struct emu_plan *plan; /* of the run; NULL: a program of one's own. Borrowed */
    struct emu_fault_told *told; /* set.count entries once it is told; owned */
};

/* Those of plan->config, then the given ones. EMU_EPARSE with every error appended to diagnostics,
 * EMU_ENOMEM, EMU_ESYSTEM with the reason in diagnostics. */
EMU_MUST_CHECK enum emu_status emu_fault_load_plan(const struct emu_plan *plan,
                                                   const struct emu_fault_specs *specs,
                                                   struct emu_text *diagnostics,
                                                   struct emu_fault_load *load);

/* One SPEC alone, whatever the config carries. */
EMU_MUST_CHECK enum emu_status emu_fault_load_one(const struct emu_plan *plan, const char *spec,
                                                  struct emu_text *diagnostics,
                                                  struct emu_fault_load *load);

/* Of a program of one's own: its roster, no training step. */
EMU_MUST_CHECK enum emu_status emu_fault_load_roster(const struct emu_roster *roster,
                                                     const struct emu_fault_specs *specs,
                                                     struct emu_text *diagnostics,
                                                     struct emu_fault_load *load);

/* Likewise from one text with the SPECs between semicolons; NULL is an empty one. */
EMU_MUST_CHECK enum emu_status emu_fault_load_text(const struct emu_roster *roster,
                                                   const char *text, const char *origin,
                                                   struct emu_text *diagnostics,
                                                   struct emu_fault_load *load);

/* After the run: what each fault did, into load->told. EMU_ENOMEM. */
EMU_MUST_CHECK enum emu_status emu_fault_load_tell(struct emu_fault_load *load);

/* After that: faults that never acted, or whose act changes nothing under this plan. They prove
 * nothing, so a run with one of them that found nothing is no success. */
size_t emu_fault_load_idle(const struct emu_fault_load *load);

/* "the fault 'crash rank=1 step=9' did not act: nothing met its address", a line for each of them,
 * after `prefix`. found: the run found something, so what acted is not named. */
void emu_fault_load_name_idle(const struct emu_fault_load *load, bool found, const char *prefix,
                              struct emu_text *out);

/* Accepts a zeroed one. */
void emu_fault_load_finish(struct emu_fault_load *load);

/* How often the fault has acted: on the rank where it did most. */
uint32_t emu_fault_load_fired(const struct emu_fault_load *load, size_t fault);

#endif
