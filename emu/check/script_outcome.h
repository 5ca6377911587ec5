/* What happened when a script ran? Filled by run/, printed by report/. */
#ifndef EMU_CHECK_SCRIPT_OUTCOME_H
#define EMU_CHECK_SCRIPT_OUTCOME_H

#include "check/outcome.h"
#include "check/script_replay.h"
#include "config/script.h"

/* The first element of what a completed call left with its caller. */
struct emu_script_result {
    uint32_t rank;
    const struct emu_script_op *op; /* borrowed from the script */
    uint32_t group;                 /* EMU_GROUP_SELF for a message */
    uint64_t index;                 /* of the call in its group; of a message: from this peer */
    uint64_t bits; /* integers: the value, sign extended; floating point: of the double */
};

struct emu_script_outcome {
    const struct emu_script *script; /* borrowed */
    struct emu_job_result job;       /* its findings were moved into `findings` */
    struct emu_findings findings;
    struct emu_script_result *results; /* by rank, then in the order of the calls; owned */
    uint64_t result_count;
    const struct emu_script_op **ended_at; /* per rank: the last op it began, NULL: none; owned */
    struct emu_script_replay replay;       /* under strict rules; only of buffered scripts */
    char *replay_command;                  /* that repeats the run, shell-quoted; owned */
};

/* No fault, and nothing ended the run early. */
static inline bool emu_script_passed(const struct emu_script_outcome *outcome)
{
    return emu_findings_faults(&outcome->findings) == 0 && !outcome->job.interrupted;
}

#endif
