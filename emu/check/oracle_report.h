/* What does a difference from the oracle mean? Parts of emu_check_oracle.
 *
 * A fault that is known already (replicas, data, initialisation, shards) is the cause of what
 * differs on its ranks; where replicas were tied, the oracle says which of them are right. Whatever
 * else differs is one ORACLE_MISMATCH: of the gradients where these differ, since weights and
 * optimizer state follow from them.
 */
#ifndef EMU_CHECK_ORACLE_REPORT_H
#define EMU_CHECK_ORACLE_REPORT_H

#include "check/audit_parts.h"
#include "check/evidence.h"

/* Who is too far from the oracle in what. */
struct emu_oracle_verdict {
    struct emu_marks ranks[EMU_STATE_COUNT], tensors[EMU_STATE_COUNT];
    struct emu_marks loss, norm, tokens; /* ranks */
};

/* The oracle's array of this tensor: logical shape, row-major. */
const struct emu_bounded *emu_oracle_array(const struct emu_oracle_step *oracle,
                                           enum emu_state state, uint32_t tensor);

/* |value - expected| as a part of what is allowed (2 * bound); above 1: too far. Never NaN. */
double emu_oracle_excess(double value, struct emu_bounded expected);

/* Append the finding or the consequence. false: memory. */
EMU_MUST_CHECK bool emu_oracle_report(const struct emu_evidence *evidence,
                                      const struct emu_oracle_step *oracle,
                                      struct emu_oracle_verdict *verdict, struct emu_audit *audit);

#endif
