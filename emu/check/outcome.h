/* What happened when a mesh ran? Filled by run/, printed by report/. */
#ifndef EMU_CHECK_OUTCOME_H
#define EMU_CHECK_OUTCOME_H

#include "check/audit.h"
#include "check/breakdown.h"
#include "check/gradient_copies.h"
#include "config/config.h"
#include "plan/plan.h"
#include "seg/board.h"

#include <meshemu/finding.h>

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct emu_job_rank {
    pid_t pid;
    bool signalled; /* code is a signal */
    int code;       /* exit code or signal */
};

/* The flight recorder of one rank, copied when all ranks were gone. */
struct emu_job_record {
    uint64_t begun;                  /* calls, of which the last are kept */
    struct emu_recorded_call *calls; /* owned, newest last */
    uint32_t count;
};

struct emu_job_result {
    uint32_t world;
    struct emu_job_rank *ranks;     /* world entries, owned */
    struct emu_job_record *records; /* world entries, owned; NULL: not asked for */
    uint64_t begun_ns;              /* CLOCK_MONOTONIC */
    struct emu_findings findings;   /* protocol and liveness; the auditor adds its own elsewhere */
    uint64_t forked_ns;             /* time to start all ranks */
    uint64_t total_ns;
    bool interrupted; /* Ctrl-C or SIGTERM: the ranks were ended */
};

/* A fault that was asked for, and how often it acted: on the rank where it did most. */
struct emu_fault_told {
    const char *spec; /* borrowed */
    uint32_t fired;
    const char *skip; /* why it can change nothing here, acted or not; NULL: it can. Borrowed */
};

struct emu_training_step {
    uint64_t step; /* 1, 2, ... */
    double loss;   /* mean over all valid tokens of the mesh, before the update */
    double grad_norm;
    uint64_t tokens;
    bool has_oracle;
    double oracle_loss,
        loss_bound; /* loss of the mesh of one, and how far the mesh may be from it */
};

/* The books of one rank: bytes it asked for, and bytes it sent in the last step that was audited.
 */
struct emu_rank_books {
    uint64_t requested[EMU_CATEGORY_COUNT], rounded[EMU_CATEGORY_COUNT];
    uint64_t family_bytes[EMU_ROSTER_MAX_FAMILIES]; /* in collectives, by family of the roster */
    uint64_t message_bytes[EMU_MESH_MAX_AXES];      /* in messages, by axis */
    uint64_t lent_calls; /* collectives of all steps that went from buffer to buffer */
    uint64_t pss; /* of the shared mapping, when it was last read; UINT64_MAX: it could not be */
    const uint64_t *sent_to; /* in messages, by place (mesh/beside.h). In the same block */
};

/* Exact arithmetic: where something was rounded for the first time. */
struct emu_first_rounding {
    uint64_t step; /* 0: nothing was */
    uint32_t rank;
    char kernel[24]; /* "exp_sum", "all_reduce" */
    char where[64];  /* "forward and backward", a parameter */
};

struct emu_training_result {
    const struct emu_config *config; /* borrowed */
    const struct emu_plan *plan;     /* borrowed */
    struct emu_audit audit;          /* checks and their findings */
    struct emu_job_result job;       /* processes; its findings were moved into `findings` */
    struct emu_findings findings;    /* all, causes before what follows from them */
    struct emu_training_step *steps; /* owned */
    uint64_t step_count;
    struct emu_rank_books *books; /* world entries; NULL: no step was audited. One block, owned */
    bool pinned;                  /* each rank to a processor */
    struct emu_breakdown *breakdown; /* NULL: not asked for, or no step was audited. Owned */
    struct emu_first_rounding rounding;
    uint64_t exact_steps; /* in which mesh and oracle were equal bit for bit, by proof */
    struct emu_gradient_view
        *gradients; /* of the last step, one a tensor; NULL: not asked for. Owned */
    uint64_t text_bytes, text_sequences;
    const struct emu_fault_told *faults; /* borrowed; NULL: none */
    size_t fault_count;
    char *replay; /* the command line that repeats the run, shell-quoted */
};

#endif
