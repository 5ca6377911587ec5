/* What happened when the mesh trained? Filled by emu_training_run, printed by report/. */
#ifndef EMU_RUN_TRAINING_H
#define EMU_RUN_TRAINING_H

#include "check/audit.h"
#include "config/config.h"
#include "plan/plan.h"
#include "run/job.h"

#include <meshemu/status.h>

#include <stdint.h>

struct emu_training_step {
    uint64_t step; /* 1, 2, ... */
    double loss;   /* mean over all valid tokens of the mesh, before the update */
    double grad_norm;
    uint64_t tokens;
    bool has_oracle;
    double oracle_loss,
        loss_bound; /* loss of the mesh of one, and how far the mesh may be from it */
};

struct emu_training_result {
    const struct emu_config *config; /* borrowed */
    const struct emu_plan *plan;     /* borrowed */
    struct emu_audit audit;          /* checks and their findings */
    struct emu_job_result job;       /* processes; its findings were moved into `findings` */
    struct emu_findings findings;    /* all, causes before what follows from them */
    struct emu_training_step *steps; /* owned */
    uint64_t step_count;
    uint64_t text_bytes, text_sequences;
    char *replay; /* the command line that repeats the run, shell-quoted */
};

struct emu_training_options {
    const char *text; /* content of data.text; NULL: inline tokens */
    uint64_t text_size;
    uint64_t timeout_ns;
    int64_t only_output;
    bool stop_on_finding, keep_going;
    int output_fd; /* where the ranks' tagged output goes */
    const char *replay;
    /* Called by the auditor after each step, for progress lines; may be NULL. */
    void (*progress)(const struct emu_training_step *step, uint64_t steps, void *user);
    void *user;
};

/* EMU_OK: it ran (the findings say how); EMU_ESYSTEM, EMU_ENOMEM: a message is on stderr. */
EMU_MUST_CHECK enum emu_status emu_training_run(const struct emu_plan *plan,
                                                const struct emu_training_options *options,
                                                struct emu_training_result *result);
void emu_training_result_finish(struct emu_training_result *result);

#endif
