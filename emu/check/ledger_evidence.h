/* What do the records say about coefficients, tokens and troubles? */
#ifndef EMU_CHECK_LEDGER_EVIDENCE_H
#define EMU_CHECK_LEDGER_EVIDENCE_H

#include "check/audit.h"
#include "check/ledger_judge.h"

/* Sources with their valid tokens; owned. */
struct emu_ledger_evidence {
    struct emu_ledger_sources sources;
    uint64_t *tokens;      /* repeated for the lanes of every use */
    const uint64_t **rows; /* room for one a rank */
    uint32_t *holders;     /* the rank that rows[i] belongs to */
    uint32_t row_count;
};

/* false: memory. */
EMU_MUST_CHECK bool emu_ledger_evidence_init(const struct emu_evidence *evidence,
                                             struct emu_ledger_evidence *out);
void emu_ledger_evidence_finish(struct emu_ledger_evidence *ledger);

/* Fill rows and holders for one tensor. */
void emu_ledger_gather(const struct emu_evidence *evidence, uint32_t tensor,
                       struct emu_ledger_evidence *ledger);

/* The coefficients of a tensor on a rank: one field element a lane. NULL: not kept, or not held
 * here. */
const uint64_t *emu_ledger_row(const struct emu_evidence *evidence, uint32_t rank, uint32_t tensor);

/* A coefficient as people read it: "1/4", or "?" where it is no small fraction. Returns out. */
const char *emu_coefficient_text(uint64_t element, char out[EMU_RATIONAL_TEXT_MAX]);

#endif
