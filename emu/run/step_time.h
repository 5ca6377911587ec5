/* Where does the time of the steps go, on the ranks and in the auditor?
 *
 * Each rank runs its stopwatch (comm/rank.h) from the first step on and notes the laps when it
 * arrives at a gate. What it then waits for only the auditor knows, which sees in this order
 *
 *     each rank's arrival .. the last one's    the rank waits for other ranks
 *     .. the oracle's step is done             all wait for the oracle, if it came later
 *     .. the gate is answered                  all wait for the audit, or in it for the oracle
 *
 * and divides the time at the gate by that. What is left, until the rank runs again, is waiting.
 * Everything is in CLOCK_MONOTONIC, which is one clock for all processes.
 */
#ifndef EMU_RUN_STEP_TIME_H
#define EMU_RUN_STEP_TIME_H

#include "check/breakdown.h"
#include "comm/rank.h"
#include "os/stopwatch.h"

#include <meshemu/status.h>

#include <stdbool.h>

/* What a rank notes at a gate. */
struct emu_rank_laps {
    uint64_t spent_ns[EMU_LAP_COUNT]; /* since the first step began; 0: not measured */
    uint64_t arrived_ns;
    uint64_t cpu_ns; /* likewise */
};

/* The rank: the first step begins. Returns the time it has been on a core so far. */
uint64_t emu_rank_laps_begin(struct emu_rank *rank);

/* The rank: arrived at a gate; *laps is in its record. cpu_ns: what emu_rank_laps_begin gave. From
 * here on it is at the gate, until it enters another lap. */
void emu_rank_laps_write(struct emu_rank *rank, uint64_t cpu_ns, struct emu_rank_laps *laps);

/* The auditor's laps. */
enum emu_audit_lap { EMU_AUDIT_IDLE, EMU_AUDIT_CHECKS, EMU_AUDIT_ORACLE, EMU_AUDIT_LAP_COUNT };

struct emu_step_time {
    bool on;
    struct emu_stopwatch watch;
    uint64_t cpu_since_ns, cpu_ns[EMU_AUDIT_LAP_COUNT];
    uint64_t oracle_done_ns;                 /* of the step at hand */
    uint64_t opened_ns[EMU_AUDIT_LAP_COUNT]; /* the laps when all had arrived */
    uint64_t held_ns[EMU_AUDIT_LAP_COUNT];   /* how long all ranks waited for each so far */
    struct emu_breakdown *breakdown;         /* owned */
};

/* Begin, in the auditor's thread. EMU_ENOMEM. */
EMU_MUST_CHECK enum emu_status emu_step_time_begin(struct emu_step_time *time, uint32_t world);
void emu_step_time_finish(struct emu_step_time *time);

/* Go over to a lap; nothing where it was not begun. The oracle's is entered while the ranks compute
 * too: leaving it notes when the oracle was done. */
void emu_step_time_enter(struct emu_step_time *time, enum emu_audit_lap lap);

/* All ranks have arrived at the gate behind a step, the last one at this time: the audit begins. */
void emu_step_time_open(struct emu_step_time *time, uint64_t last_ns);

/* The gate is answered next: charge the step that ended. */
void emu_step_time_close(struct emu_step_time *time, uint64_t step);

/* One rank's laps at that gate, after emu_step_time_close. */
void emu_step_time_take(struct emu_step_time *time, uint32_t rank,
                        const struct emu_rank_laps *laps);

#endif
