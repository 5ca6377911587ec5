/* Is it one pipeline stage alone whose gradients carry a wrong factor? */
#ifndef EMU_CHECK_LEDGER_STAGE_H
#define EMU_CHECK_LEDGER_STAGE_H

#include "check/ledger_evidence.h"

/* true: all ranks of *stage, and none of another one, hold a parameter whose coefficients are not
 * 1/tokens. */
bool emu_ledger_one_stage(const struct emu_evidence *evidence,
                          const struct emu_ledger_evidence *ledger, uint32_t *stage);

#endif
