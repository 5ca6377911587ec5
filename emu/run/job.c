#include "run/job.h"

#include "base/checked.h"
#include "os/clock.h"
#include "os/kernel_limits.h"
#include "os/limits.h"
#include "os/map.h"
#include "run/companions.h"
#include "run/supervise.h"
#include "seg/recorder.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SPARE_FILES 16 /* events, signals, the segment, and what the caller opens meanwhile */
#define THREADS 3      /* news, output, auditor */

static const char advice[] = "use fewer ranks or smaller arenas";

/* All that a run holds, in the order in which it is made; undone in reverse. */
struct run {
    const struct emu_job *job;
    struct emu_segment segment;
    struct emu_map map;
    struct emu_signals signals;
    bool watching_signals;
    struct emu_output *output;
    struct emu_crew crew;
    struct emu_supervision supervision;
    struct emu_companions companions;
    uint64_t begun_ns, forked_ns;
};

/* All that can be asked before: nothing has been made yet. Each rank costs the launcher a pidfd
 * and, where its output is read, two pipes, of which the rank has the other ends. */
static enum emu_status check_limits(const struct run *run, struct emu_reason *reason)
{
    uint32_t world = run->segment.world;
    uint64_t held = run->job->raw_output ? 1 : 3, made = run->job->raw_output ? 1 : 5;
    struct emu_kernel_demand demand = {.tasks = world + THREADS,
                                       .files = made * world + SPARE_FILES,
                                       .watches = held * world + SPARE_FILES,
                                       .is_root = geteuid() == 0};
    enum emu_status status = emu_limits_check_processes("", world + THREADS, reason);
    if (status == EMU_OK)
        status = emu_limits_check_kernel("", &demand, reason);
    if (status == EMU_OK)
        status = emu_limits_check_files(held * world + SPARE_FILES, reason);
    return status == EMU_OK ? emu_limits_check_ranks("", run->segment.bytes, world, reason)
                            : status;
}

static enum emu_status reserve(struct run *run, struct emu_reason *reason)
{
    const struct emu_job *job = run->job;
    struct emu_ways ways;
    struct emu_segment_params params = {job->roster, job->arena_bytes, job->record_bytes,
                                        job->checksums, &ways};
    uint32_t world = job->roster->mesh->world;
    enum emu_status status = emu_ways_here(&ways, reason);
    if (status != EMU_OK)
        return status;
    status = emu_segment_plan(&params, &run->segment);
    if (status != EMU_OK)
        return emu_reason_set(reason,
                              "the shared segment of %" PRIu32 " ranks does not fit: %s, %s", world,
                              emu_status_text(status), advice);
    status = check_limits(run, reason);
    if (status == EMU_OK)
        status = emu_map_create(run->segment.bytes, EMU_MAP_BEST, advice, &run->map, reason);
    if (status == EMU_OK)
        emu_segment_init(&run->segment, run->map.base);
    return status;
}

static enum emu_status start_ranks(struct run *run, struct emu_reason *reason)
{
    const struct emu_job *job = run->job;
    enum emu_status status = emu_signals_watch(&run->signals, reason);
    if (status != EMU_OK)
        return status;
    run->watching_signals = true;
    if (!job->raw_output) {
        struct emu_output_params output = {run->segment.world, job->only_output, job->output_fd,
                                           STDERR_FILENO};
        status = emu_output_create(&output, &run->output, reason);
    }
    if (status != EMU_OK)
        return status;
    run->begun_ns = emu_clock_ns();
    struct emu_crew_params crew = {job, &run->segment, &run->signals, run->output};
    status = emu_crew_start(&crew, &run->crew, reason);
    run->forked_ns = emu_clock_ns();
    return status;
}

/* Threads come after the last fork: a child has only the thread that forked it. */
static enum emu_status start_threads(struct run *run, struct emu_reason *reason)
{
    enum emu_status status =
        emu_supervision_init(&run->supervision, run->job, &run->segment, &run->crew);
    if (status != EMU_OK) {
        emu_reason_set(reason, "out of memory");
        return status;
    }
    if (run->output)
        status = emu_output_start(run->output, reason);
    if (status == EMU_OK)
        status = emu_companions_start(&run->companions, run->job, &run->segment, reason);
    if (status == EMU_OK)
        status =
            emu_supervision_open(&run->supervision, &run->signals, run->companions.news, reason);
    return status;
}

static void supervise(struct run *run)
{
    struct emu_supervision *s = &run->supervision;
    /* A deadline beyond the clock's end is none. */
    if (run->job->timeout_ns &&
        !emu_add_fits(emu_clock_ns(), run->job->timeout_ns, &s->deadline_ns))
        s->deadline_ns = 0;
    emu_crew_go(&run->crew);
    emu_supervise(s);
    emu_companions_join(&run->companions);
    if (run->output)
        emu_output_stop(run->output, s->inquest.interrupted, &run->signals);
}

/* The last calls of all ranks, as they left them. */
static enum emu_status keep_records(const struct run *run, struct emu_job_record **kept)
{
    uint32_t world = run->segment.world;
    enum emu_status status = EMU_OK;
    struct emu_job_record *records = calloc(world, sizeof *records);
    for (uint32_t rank = 0; records && rank < world && status == EMU_OK; rank++) {
        struct emu_board_view board;
        emu_board_look(&run->segment, rank, &board);
        records[rank].begun = board.calls;
        records[rank].calls = calloc(EMU_RECORDS, sizeof *records[rank].calls);
        if (records[rank].calls)
            records[rank].count =
                emu_recorder_read(&run->segment, rank, records[rank].calls, EMU_RECORDS);
        else
            status = EMU_ENOMEM;
    }
    *kept = records;
    return records ? status : EMU_ENOMEM;
}

static void free_records(struct emu_job_record *records, uint32_t world)
{
    for (uint32_t rank = 0; records && rank < world; rank++)
        free(records[rank].calls);
    free(records);
}

static enum emu_status hand_over(struct run *run, struct emu_job_result *result)
{
    uint32_t world = run->segment.world;
    if (run->supervision.inquest.lost > 0) /* a verdict without them would be wrong */
        return EMU_ENOMEM;
    struct emu_job_record *records = NULL;
    enum emu_status status = run->job->keep_records ? keep_records(run, &records) : EMU_OK;
    struct emu_job_rank *ranks = malloc(world * sizeof *ranks);
    if (status != EMU_OK || !ranks) {
        free_records(records, world);
        free(ranks);
        return EMU_ENOMEM;
    }
    for (uint32_t rank = 0; rank < world; rank++) {
        const struct emu_crew_rank *one = &run->crew.ranks[rank];
        bool exited = one->fate == EMU_FATE_EXITED;
        ranks[rank] = (struct emu_job_rank){one->process.pid, !exited, one->code};
    }
    *result = (struct emu_job_result){
        .ranks = ranks,
        .world = world,
        .records = records,
        .begun_ns = run->begun_ns,
        .findings = run->supervision.inquest.findings,
        .forked_ns = run->forked_ns - run->begun_ns,
        .total_ns = emu_clock_ns() - run->begun_ns,
        .interrupted = run->supervision.inquest.interrupted,
    };
    run->supervision.inquest.findings = (struct emu_findings){0};
    return EMU_OK;
}

/* Every part accepts that it was never made. */
static void tear_down(struct run *run)
{
    emu_crew_finish(&run->crew);
    emu_companions_join(&run->companions);
    emu_supervision_finish(&run->supervision);
    emu_output_destroy(run->output);
    if (run->watching_signals)
        emu_signals_restore(&run->signals);
    emu_map_destroy(&run->map);
}

enum emu_status emu_job_run(const struct emu_job *job, struct emu_job_result *result)
{
    struct emu_reason reason = {""};
    struct run run = {.job = job};
    run.crew.go[0] = run.crew.go[1] = -1;
    enum emu_status status = reserve(&run, &reason);
    if (status == EMU_OK)
        status = start_ranks(&run, &reason);
    if (status == EMU_OK)
        status = start_threads(&run, &reason);
    if (status == EMU_OK) {
        supervise(&run);
        status = hand_over(&run, result);
        if (status != EMU_OK)
            emu_reason_set(&reason, "out of memory");
    }
    tear_down(&run);
    if (status != EMU_OK)
        fprintf(stderr, "meshemu: %s\n", reason.text);
    return status;
}

void emu_job_result_finish(struct emu_job_result *result)
{
    if (!result)
        return;
    free(result->ranks);
    free_records(result->records, result->world);
    emu_findings_finish(&result->findings);
    *result = (struct emu_job_result){0};
}
