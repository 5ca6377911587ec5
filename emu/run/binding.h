/* When the coefficients are wrong: are they at least those of the values? */
#ifndef EMU_RUN_BINDING_H
#define EMU_RUN_BINDING_H

#include "run/oracle.h"

/* For each set of ranks with equal coefficients, let the oracle compute the gradient that these
 * coefficients give and compare every rank of the set with it. INTERNAL where they differ: ledger
 * and values would then tell different stories, and one of ours is wrong. Coefficients that are no
 * small fractions are left out. EMU_ENOMEM. */
EMU_MUST_CHECK enum emu_status emu_binding_check(struct emu_oracle *oracle,
                                                 const struct emu_evidence *evidence,
                                                 struct emu_audit *audit);

#endif
