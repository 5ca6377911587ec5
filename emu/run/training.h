/* What happened when the mesh trained? Filled by emu_training_run, printed by report/. */
#ifndef EMU_RUN_TRAINING_H
#define EMU_RUN_TRAINING_H

#include "check/outcome.h"
#include "fault/fault_set.h"
#include "plan/plan.h"
#include "run/job.h"

#include <meshemu/status.h>

#include <stdint.h>

/* Is rank i bound to allowed processor i modulo their number? A rank that comes back to its caches
 * is faster where ranks take turns; where they do not, two runs at once would meet on the first
 * processors. */
enum emu_pinning {
    EMU_PIN_CROWDED, /* where there are more ranks than processors */
    EMU_PIN_ALWAYS,
    EMU_PIN_NEVER
};

struct emu_training_options {
    const char *text; /* content of data.text; NULL: inline tokens */
    uint64_t text_size;
    uint64_t timeout_ns;
    int64_t only_output;
    bool stop_on_finding, keep_going;
    bool keep_records; /* of the last calls of every rank */
    bool gradients;    /* keep those of the last step */
    enum emu_pinning pinning;
    bool breakdown; /* measure where the time of the steps goes */
    int output_fd;  /* where the ranks' tagged output goes */
    const char *replay;
    uint64_t stall_after_ns;            /* where the config gives no budget; 0: none */
    uint64_t stop_grace_ns;             /* in place of the config's; 0: the config's */
    const struct emu_fault_set *faults; /* to inject; NULL: none */
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
