/* What does a rank write down about its process beside the step's record?
 *
 * It lies in the segment's record region behind the step's record (plan/record.h), and the same
 * rules hold: written by the rank alone between two gates, read by the auditor while it waits.
 *
 * sent_to has two entries for each place beside the rank (mesh/beside.h): first the bytes of
 * messages in the last step, then the same for all steps so far, from which the rank itself takes
 * the difference.
 */
#ifndef EMU_RUN_RANK_ROW_H
#define EMU_RUN_RANK_ROW_H

#include "comm/rank.h"
#include "plan/plan.h"
#include "plan/record.h"
#include "run/step_time.h"

struct emu_rank_row {
    uint64_t pss; /* bytes of the shared mapping, see os/map.h; UINT64_MAX: could not be read */
    uint64_t lent_calls; /* of all steps so far */
    struct emu_rank_laps laps;
    uint64_t sent_to[];
};

/* Bytes of a record with the row behind it. */
uint64_t emu_rank_row_room(const struct emu_plan *plan);

/* The row behind a record of this plan. */
struct emu_rank_row *emu_rank_row_of(const struct emu_plan *plan, struct emu_step_record *record);
const struct emu_rank_row *emu_rank_row_read(const struct emu_plan *plan,
                                             const struct emu_step_record *record);

/* Called by the rank once after each step, after its record. The kernel walks the page tables for
 * the PSS, so it is read before the first step, after it (all pages are in use then) and after the
 * last of the config. */
void emu_rank_row_write(const struct emu_plan *plan, const struct emu_rank *rank, uint64_t step,
                        struct emu_step_record *record);

#endif
