/* The result of a run on two ranks, made by hand, for reports to show. */
#ifndef TESTS_REPORT_RESULT_MAKER_H
#define TESTS_REPORT_RESULT_MAKER_H

#include "check/finding_build.h"
#include "check/outcome.h"

struct made_result {
    struct emu_config *config;
    struct emu_plan *plan;
    struct emu_job_rank ranks[2];
    struct emu_training_step steps[200];
    struct emu_training_result result;
    char replay[64];
};

/* dp=1,tp=2; `steps` losses that halve, with an oracle; every check passed but those skipped. */
void made_result_init(struct made_result *made, uint64_t steps);
void made_result_finish(struct made_result *made);

#endif
