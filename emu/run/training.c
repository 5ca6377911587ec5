#include "run/training.h"

#include "base/checked.h"
#include "check/finding_build.h"
#include "comm/rank.h"
#include "fault/fault_filter.h"
#include "fault/fault_steps.h"
#include "os/cpu.h"
#include "run/auditor.h"
#include "run/hold_bell.h"
#include "run/rank_row.h"
#include "seg/board.h"
#include "seg/gate.h"
#include "train/trainer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What every rank inherits through the fork. */
struct training {
    const struct emu_plan *plan;
    struct emu_corpus corpus;
    struct emu_auditor *auditor;
    const struct emu_fault_set *faults; /* NULL: none */
    struct emu_hold_bell bell;          /* of --stop-on-finding */
    bool bell_open;
    bool breakdown;
    bool pin;
};

/* A rank that measures where its time goes. */
struct measured {
    bool running;
    uint64_t cpu_ns; /* when it began */
};

/* Write the record of the last step and wait for the auditor. */
static enum emu_status report(struct emu_rank *rank, const struct emu_trainer *trainer,
                              const struct measured *measured, enum emu_gate_verdict *verdict)
{
    const struct emu_segment *segment = emu_rank_segment(rank);
    uint32_t id = emu_rank_id(rank);
    struct emu_step_record *record = (struct emu_step_record *)emu_segment_record(segment, id);
    emu_rank_enter(rank, EMU_LAP_CHECK);
    emu_trainer_record(trainer, emu_segment_arena(segment, id), record);
    emu_rank_row_write(trainer->plan, rank, trainer->step, record);
    if (measured->running)
        emu_rank_laps_write(rank, measured->cpu_ns, &emu_rank_row_of(trainer->plan, record)->laps);
    enum emu_status status = emu_gate_pass(segment, id, trainer->step + 1, verdict);
    emu_rank_enter(rank, EMU_LAP_COMPUTE);
    return status;
}

static enum emu_status train(struct emu_rank *rank, const struct training *training)
{
    struct emu_trainer *trainer;
    struct emu_fault_steps otherwise;
    if (training->faults)
        emu_fault_steps_init(&otherwise, training->faults, training->plan);
    enum emu_status status =
        training->faults ? emu_fault_filter_push(rank, training->faults) : EMU_OK;
    if (status == EMU_OK)
        status = emu_trainer_create_hooked(training->plan, &training->corpus, rank,
                                           training->faults ? &otherwise.hooks : NULL, &trainer);
    if (status != EMU_OK)
        return status;
    enum emu_gate_verdict verdict = EMU_GATE_GO_ON;
    struct measured measured = {0};
    status = report(rank, trainer, &measured, &verdict);
    if (training->breakdown)
        measured = (struct measured){true, emu_rank_laps_begin(rank)};
    uint64_t steps = training->plan->config->train.steps;
    while (status == EMU_OK && verdict == EMU_GATE_GO_ON && trainer->step < steps) {
        status = emu_trainer_step(trainer);
        if (status == EMU_OK)
            status = report(rank, trainer, &measured, &verdict);
    }
    emu_trainer_destroy(trainer);
    return status;
}

static int body(struct emu_rank *rank, void *user)
{
    return (int)train(rank, user);
}

static void audit(const struct emu_segment *segment, void *user)
{
    struct training *training = user;
    emu_auditor_run(training->auditor, segment);
}

/* The arena that the largest share needs. */
static enum emu_status arena_bytes(const struct emu_plan *plan, uint64_t *bytes)
{
    *bytes = 0;
    for (uint32_t i = 0; i < plan->tp * plan->cp * plan->pp; i++) {
        uint64_t share;
        struct emu_share at = {i % plan->tp, i / plan->tp % plan->cp, i / plan->tp / plan->cp, 0};
        enum emu_status status = emu_trainer_bytes(plan, at, &share);
        if (status != EMU_OK)
            return status;
        if (share > *bytes)
            *bytes = share;
    }
    return EMU_OK;
}

/* Asked before anything starts. */
static enum emu_status choose_pinning(struct training *training,
                                      const struct emu_training_options *options)
{
    bool crowded = training->plan->roster.mesh->world > emu_cpu_count();
    training->pin = options->pinning == EMU_PIN_ALWAYS ||
                    (options->pinning == EMU_PIN_CROWDED && crowded && emu_cpu_may_pin());
    if (options->pinning != EMU_PIN_ALWAYS || emu_cpu_may_pin())
        return EMU_OK;
    fprintf(stderr,
            "meshemu: the system refuses to pin a process to a processor: leave out --pin\n");
    return EMU_ESYSTEM;
}

static enum emu_status open_bell(struct training *training,
                                 const struct emu_training_options *options)
{
    struct emu_reason reason;
    if (!options->stop_on_finding)
        return EMU_OK;
    enum emu_status status = emu_hold_bell_init(&training->bell, &reason);
    if (status == EMU_ESYSTEM)
        fprintf(stderr, "meshemu: %s\n", reason.text);
    training->bell_open = status == EMU_OK;
    return status;
}

static void close_bell(struct training *training)
{
    if (training->bell_open)
        emu_hold_bell_finish(&training->bell);
}

static enum emu_status start(struct training *training, const struct emu_training_options *options,
                             struct emu_training_result *result)
{
    const struct emu_plan *plan = training->plan;
    const struct emu_config *config = plan->config;
    struct emu_job job = {
        .roster = &plan->roster,
        .record_bytes = emu_rank_row_room(plan),
        .body = body,
        .own_body = true,
        .auditor = audit,
        .user = training,
        .timeout_ns = options->timeout_ns,
        .stall_after_ns =
            config->stall_after_ns > 0 ? (uint64_t)config->stall_after_ns : options->stall_after_ns,
        .stop_grace_ns = options->stop_grace_ns ? options->stop_grace_ns : config->stop_grace_ns,
        .keep_records = options->keep_records,
        .checksums = config->checks.checksums,
        .only_output = options->only_output,
        .pin = training->pin,
        .hold_on_finding = options->stop_on_finding,
        .output_fd = options->output_fd};
    enum emu_status status = arena_bytes(plan, &job.arena_bytes);
    if (status != EMU_OK)
        return status;
    if (training->faults && emu_fault_holds_whole(training->faults) &&
        !emu_mul_fits(job.arena_bytes, plan->tp, &job.arena_bytes))
        return EMU_ERANGE;
    if (options->stop_on_finding) {
        job.bell = &training->bell;
        emu_auditor_hold_with(training->auditor, job.bell);
    }
    result->pinned = training->pin;
    result->text_bytes = training->corpus.bytes;
    result->text_sequences = training->corpus.count;
    status = emu_job_run(&job, &result->job);
    if (status != EMU_OK)
        return status;
    emu_auditor_take(training->auditor, result);
    return EMU_OK;
}

/* A message that was sent and never received shows at the end of the run alone; where values went
 * wrong before, that is why. */
static void follow_lost_message(struct emu_findings *calls, struct emu_findings *audits)
{
    struct emu_finding *lost = NULL;
    size_t kept = 0;
    for (size_t i = 0; i < calls->count && !lost; i++)
        if (calls->items[i].class_id == EMU_CLASS_LOST_MESSAGE && !calls->items[i].note)
            lost = &calls->items[i];
    for (size_t i = 0; i < audits->count; i++) {
        struct emu_finding *seen = &audits->items[i];
        bool values = seen->class_id == EMU_CLASS_ORACLE_MISMATCH ||
                      seen->class_id == EMU_CLASS_REPLICA_DIVERGENCE;
        if (!lost || !values || seen->note) {
            audits->items[kept++] = *seen;
            continue;
        }
        emu_finding_consequence(lost, "%s: %s", emu_class_name(seen->class_id),
                                seen->message ? seen->message : "");
        emu_finding_finish(seen);
    }
    audits->count = kept;
}

/* Faults of processes and calls come first: what the audits saw follows from them. */
static enum emu_status gather(struct emu_training_result *result, const char *replay)
{
    follow_lost_message(&result->job.findings, &result->audit.findings);
    bool moved = emu_findings_move(&result->findings, &result->job.findings) &&
                 emu_findings_move(&result->findings, &result->audit.findings);
    if (replay)
        result->replay = strdup(replay);
    if (!moved || (replay && !result->replay))
        return EMU_ENOMEM;
    for (size_t i = 0; replay && i < result->findings.count; i++)
        emu_finding_set_text(&result->findings.items[i].replay, "%s", replay);
    return EMU_OK;
}

/* Text, auditor and oracle: made before anything starts. The reason of a refusal is printed, as
 * emu_job_run does it. */
static enum emu_status prepare(struct training *training,
                               const struct emu_training_options *options)
{
    const struct emu_plan *plan = training->plan;
    enum emu_status status = emu_corpus_init(&training->corpus, options->text, options->text_size,
                                             plan->config->data.sequence);
    if (status == EMU_OK)
        status = emu_auditor_create(plan, &training->corpus, options, &training->auditor);
    if (status != EMU_OK)
        fprintf(stderr,
                "meshemu: the launcher cannot hold text, checks and oracle: %s; use a smaller "
                "model or batch, or checks: {oracle: false}\n",
                emu_status_text(status));
    return status;
}

enum emu_status emu_training_run(const struct emu_plan *plan,
                                 const struct emu_training_options *options,
                                 struct emu_training_result *result)
{
    struct training training = {
        .plan = plan, .faults = options->faults, .breakdown = options->breakdown};
    *result = (struct emu_training_result){.config = plan->config, .plan = plan};
    enum emu_status status = prepare(&training, options);
    if (status == EMU_OK)
        status = choose_pinning(&training, options);
    if (status == EMU_OK)
        status = open_bell(&training, options);
    if (status == EMU_OK)
        status = start(&training, options, result);
    if (status == EMU_OK)
        status = gather(result, options->replay);
    close_bell(&training);
    emu_auditor_destroy(training.auditor);
    emu_corpus_finish(&training.corpus);
    if (status != EMU_OK)
        emu_training_result_finish(result);
    return status;
}

void emu_training_result_finish(struct emu_training_result *result)
{
    if (result->plan)
        emu_gradients_finish(result->gradients, result->plan->tensor_count);
    emu_audit_finish(&result->audit);
    emu_job_result_finish(&result->job);
    emu_findings_finish(&result->findings);
    free(result->books);
    free(result->breakdown);
    free(result->steps);
    free(result->replay);
    *result = (struct emu_training_result){0};
}
