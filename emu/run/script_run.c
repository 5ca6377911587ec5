#include "run/script_run.h"

#include "base/checked.h"
#include "check/finding_build.h"
#include "check/script_merge.h"
#include "os/limits.h"
#include "run/script_body.h"
#include "run/script_results.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Buffers are the ranks' own memory: asked for before anything starts, since a rank that runs out
 * of it may be killed instead of being told. */
static enum emu_status check_memory(const struct emu_script *script, struct emu_reason *reason)
{
    uint64_t total = 0;
    for (uint32_t rank = 0; rank < script->mesh.world; rank++)
        if (!emu_add_fits(total, emu_script_buffer_bytes(script, rank), &total))
            return emu_reason_set(reason, "the buffers of the calls do not fit in memory: use "
                                          "smaller counts");
    return total ? emu_limits_check_memory("", total, "use smaller counts or fewer ranks", reason)
                 : EMU_OK;
}

static int body(struct emu_rank *rank, void *user)
{
    return emu_script_perform(rank, user);
}

/* A fault ends the ranks that it concerns; groups that are whole go on. */
static enum emu_status run_job(struct emu_script_results *results,
                               const struct emu_script_options *options,
                               struct emu_script_outcome *outcome)
{
    const struct emu_script *script = results->script;
    struct emu_job job = {.roster = &script->roster,
                          .body = body,
                          .own_body = true,
                          .user = results,
                          .timeout_ns = options->timeout_ns,
                          .stall_after_ns = script->stall_after_ns,
                          .stop_grace_ns = script->stop_grace_ns,
                          .only_output = -1,
                          .keep_going = true,
                          .keep_records = options->keep_records,
                          .checksums = true,
                          .output_fd = options->output_fd};
    enum emu_status status = emu_job_run(&job, &outcome->job);
    return status == EMU_OK ? emu_script_results_gather(results, outcome) : status;
}

static enum emu_status judge(struct emu_script_outcome *outcome)
{
    if (!emu_findings_move(&outcome->findings, &outcome->job.findings))
        return EMU_ENOMEM;
    emu_script_merge(outcome);
    if (!outcome->script->buffered || !emu_script_passed(outcome))
        return EMU_OK;
    return emu_script_replay(outcome->script, &outcome->replay, &outcome->findings);
}

static enum emu_status note_replay(struct emu_script_outcome *outcome, const char *command)
{
    if (!command)
        return EMU_OK;
    outcome->replay_command = strdup(command);
    for (size_t i = 0; i < outcome->findings.count; i++)
        emu_finding_set_text(&outcome->findings.items[i].replay, "%s", command);
    return outcome->replay_command ? EMU_OK : EMU_ENOMEM;
}

enum emu_status emu_script_run(const struct emu_script *script,
                               const struct emu_script_options *options,
                               struct emu_script_outcome *outcome)
{
    struct emu_reason reason = {""};
    struct emu_script_results results = {0};
    *outcome = (struct emu_script_outcome){.script = script};
    enum emu_status status = check_memory(script, &reason);
    if (status == EMU_OK)
        status = emu_script_results_create(script, &results, &reason);
    if (status != EMU_OK) {
        fprintf(stderr, "meshemu: %s\n", reason.text);
        return status;
    }
    status = run_job(&results, options, outcome);
    if (status == EMU_OK)
        status = judge(outcome);
    if (status == EMU_OK)
        status = note_replay(outcome, options->replay);
    emu_script_results_destroy(&results);
    if (status != EMU_OK)
        emu_script_outcome_finish(outcome);
    return status;
}

void emu_script_outcome_finish(struct emu_script_outcome *outcome)
{
    emu_job_result_finish(&outcome->job);
    emu_findings_finish(&outcome->findings);
    free(outcome->results);
    free(outcome->ended_at);
    free(outcome->replay_command);
    *outcome = (struct emu_script_outcome){0};
}
