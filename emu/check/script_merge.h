/* Which refused calls are one mistake? Ranks that share an entry of a script make its mistakes
 * together: what was refused at one op is one cause, with all the ranks that came to it. */
#ifndef EMU_CHECK_SCRIPT_MERGE_H
#define EMU_CHECK_SCRIPT_MERGE_H

#include "check/script_outcome.h"

/* Merge faults of one class (INVALID_ARGUMENT, NOT_A_MEMBER) whose culprits ended at the same op.
 * The first one stays, with the others' culprits and consequences. */
void emu_script_merge(struct emu_script_outcome *outcome);

#endif
