/* How is a wrong set of coefficients told? The words of a ledger finding. */
#ifndef EMU_CHECK_LEDGER_REPORT_H
#define EMU_CHECK_LEDGER_REPORT_H

#include "check/audit_parts.h"
#include "check/ledger_evidence.h"

/* One cause: a judgement and all the tensors that share it. */
struct emu_ledger_case {
    const struct emu_evidence *evidence;
    const struct emu_ledger_evidence *ledger;
    struct emu_ledger_judgement judgement;
    uint32_t tensor; /* the first */
    struct emu_marks tensors;
};

/* Append the finding of a case. */
void emu_ledger_report(const struct emu_ledger_case *c, struct emu_audit *audit);

#endif
