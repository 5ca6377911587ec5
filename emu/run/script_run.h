/* How does a script run? One process a rank, each with its own part of the program. */
#ifndef EMU_RUN_SCRIPT_RUN_H
#define EMU_RUN_SCRIPT_RUN_H

#include "check/script_outcome.h"
#include "run/job.h"

#include <meshemu/status.h>

#include <stdint.h>

struct emu_script_options {
    uint64_t timeout_ns; /* 0: none */
    bool keep_records;   /* of the last calls of every rank */
    int output_fd;       /* where the ranks' tagged output goes */
    const char *replay;  /* the command line, quoted for a shell; NULL: none */
};

/* EMU_OK: it ran (the findings say how); EMU_ESYSTEM, EMU_ENOMEM: a message is on stderr. */
EMU_MUST_CHECK enum emu_status emu_script_run(const struct emu_script *script,
                                              const struct emu_script_options *options,
                                              struct emu_script_outcome *outcome);
void emu_script_outcome_finish(struct emu_script_outcome *outcome);

#endif
