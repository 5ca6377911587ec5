/* Where did the time of the steps go? Measured by run/, printed by report/. */
#ifndef EMU_CHECK_BREAKDOWN_H
#define EMU_CHECK_BREAKDOWN_H

#include <stdint.h>

/* What a rank's time was spent on. Every instant counts for one of them. */
enum emu_spent {
    EMU_SPENT_COMPUTE, /* forward, backward, combining, update */
    EMU_SPENT_WAITING, /* for other ranks: yielding or asleep */
    EMU_SPENT_FOLDING, /* copying and folding the payload of calls */
    EMU_SPENT_CALLS,   /* the rest of the calls: arguments, signatures, recorders, looking */
    EMU_SPENT_CHECKS,  /* sums over payload, coefficients, records, and waiting for the audit */
    EMU_SPENT_ORACLE,  /* waiting for the oracle */
    EMU_SPENT_COUNT
};

struct emu_rank_time {
    uint64_t ns[EMU_SPENT_COUNT]; /* their sum is the rank's time */
    uint64_t cpu_ns;              /* of that on a core, whatever it did there */
};

/* From the beginning of the first step, on each rank, to the answer at the gate behind the last. */
struct emu_breakdown {
    uint64_t steps;
    uint64_t audit_cpu_ns, oracle_cpu_ns; /* of the launcher's auditor, on a core */
    uint32_t world;
    struct emu_rank_time ranks[]; /* world entries */
};

/* "compute", "waiting", ... */
const char *emu_spent_name(enum emu_spent spent);

/* Sum of a rank's ns. */
uint64_t emu_rank_time_total(const struct emu_rank_time *time);

#endif
