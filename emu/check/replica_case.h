/* Which of the differences between replicas have one cause, and what is said about it?
 *
 * A divergence is one parameter in one state that replicas hold differently. Divergences with the
 * same odd ranks are one case; a tie between two ranks is decided where another parameter, held by
 * more ranks, names one of them; ties along the same axes are one case.
 */
#ifndef EMU_CHECK_REPLICA_CASE_H
#define EMU_CHECK_REPLICA_CASE_H

#include "check/audit_parts.h"
#include "check/evidence.h"
#include "check/split.h"

struct emu_divergence {
    enum emu_state state;
    uint32_t tensor;
    int64_t tp; /* of the ranks compared; -1: all ranks */
    struct emu_split split;
    bool explained;     /* by a finding that is there already */
    size_t case_number; /* EMU_NO_CASE until sorted */
};

#define EMU_NO_CASE SIZE_MAX

struct emu_divergences {
    struct emu_divergence *items; /* owned; ordered by state, then tensor */
    size_t count;
};

/* Compare one parameter in one state over all ranks that must agree; append what differs. Hashes
 * alone. *compared counts ranks, *differed those that differ from their reference. false: memory.
 */
EMU_MUST_CHECK bool emu_divergences_find(struct emu_divergences *divergences,
                                         const struct emu_evidence *evidence, enum emu_state state,
                                         uint32_t tensor, uint64_t *compared, uint64_t *differed);
void emu_divergences_finish(struct emu_divergences *divergences);

/* One cause. */
struct emu_replica_case {
    bool tie;
    uint32_t axes;        /* bit i: what is held varies along axis i of the mesh */
    struct emu_marks odd; /* ranks; empty in a tie */
    size_t first;         /* the first divergence that belongs to it */
};

struct emu_replica_cases {
    struct emu_replica_case *items; /* owned */
    size_t count;
};

/* Give each divergence that is not yet explained its case. false: memory; finish the cases either
 * way. */
EMU_MUST_CHECK bool emu_divergences_sort(struct emu_divergences *divergences,
                                         const struct emu_mesh *mesh,
                                         struct emu_replica_cases *cases);
void emu_replica_cases_finish(struct emu_replica_cases *cases);

/* Append the REPLICA_DIVERGENCE of one case. false: memory. */
EMU_MUST_CHECK bool emu_replica_case_report(const struct emu_divergences *divergences,
                                            const struct emu_replica_cases *cases, size_t number,
                                            const struct emu_evidence *evidence,
                                            struct emu_audit *audit);

#endif
