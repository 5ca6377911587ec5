/* Do all members of a shard group hold the parameters that each of them updated?
 *
 * Where the optimizer's state is divided, one member updates each element and the others gather it:
 * a copy that differs from that one is wrong, however many share it. Where it might as well be that
 * one member alone whose copy changed, nothing is said here.
 */
#ifndef EMU_CHECK_GATHER_REPORT_H
#define EMU_CHECK_GATHER_REPORT_H

#include "check/replica_case.h"

/* One REPLICA_DIVERGENCE for all weights that differ from those of the member that updates them;
 * such divergences are explained by it. false: memory. */
EMU_MUST_CHECK bool emu_gather_report(const struct emu_evidence *evidence,
                                      struct emu_divergences *divergences, struct emu_audit *audit);

#endif
