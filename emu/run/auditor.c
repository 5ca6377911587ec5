#include "run/auditor.h"

#include "check/finding_build.h"
#include "mesh/beside.h"
#include "nn/halt.h"
#include "run/binding.h"
#include "run/oracle.h"
#include "run/rank_row.h"
#include "run/step_time.h"
#include "seg/gate.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct emu_auditor {
    const struct emu_plan *plan;
    const struct emu_training_options *options;
    struct emu_oracle *oracle; /* NULL: switched off */
    struct emu_audit audit;
    struct emu_training_step *steps;
    uint64_t step_count, step_room;
    uint64_t exact_steps;         /* in which mesh and oracle were compared bit for bit */
    struct emu_rank_books *books; /* world entries, of the last step; owned */
    struct emu_first_rounding rounding;
    struct emu_hold_bell *bell; /* NULL: nobody is to be held */
    bool rung;
    struct emu_gradient_view *gradients; /* of the last step audited, where asked for */
    struct emu_step_time time;
    struct emu_evidence evidence;
    const struct emu_step_record **records; /* what evidence points to, owned */
    const unsigned char **arenas;           /* likewise */
};

static enum emu_status build(struct emu_auditor *auditor, const struct emu_corpus *corpus)
{
    const struct emu_config *config = auditor->plan->config;
    uint32_t world = auditor->plan->roster.mesh->world;
    auditor->records = calloc(world, sizeof *auditor->records);
    auditor->arenas = calloc(world, sizeof *auditor->arenas);
    if (!auditor->records || !auditor->arenas)
        return EMU_ENOMEM;
    auditor->evidence = (struct emu_evidence){
        .plan = auditor->plan, .records = auditor->records, .arenas = auditor->arenas};
    if (!config->checks.oracle)
        return EMU_OK;
    return emu_oracle_create(auditor->plan, corpus, &auditor->oracle);
}

/* Say from the start why a check will not run. */
static void announce(struct emu_auditor *auditor)
{
    if (!auditor->oracle)
        emu_audit_skip(&auditor->audit, EMU_CHECK_ORACLE, "switched off (checks.oracle: false)");
    if (!auditor->plan->keeps_ledger)
        emu_audit_skip(&auditor->audit, EMU_CHECK_LEDGER, "switched off (checks.ledger: false)");
}

enum emu_status emu_auditor_create(const struct emu_plan *plan, const struct emu_corpus *corpus,
                                   const struct emu_training_options *options,
                                   struct emu_auditor **auditor)
{
    struct emu_auditor *made = calloc(1, sizeof *made);
    if (!made)
        return EMU_ENOMEM;
    made->plan = plan;
    made->options = options;
    emu_audit_init(&made->audit);
    enum emu_status status = build(made, corpus);
    if (status != EMU_OK) {
        emu_auditor_destroy(made);
        return status;
    }
    announce(made);
    *auditor = made;
    return EMU_OK;
}

void emu_auditor_destroy(struct emu_auditor *auditor)
{
    if (!auditor)
        return;
    emu_oracle_destroy(auditor->oracle);
    emu_gradients_finish(auditor->gradients, auditor->plan->tensor_count);
    emu_audit_finish(&auditor->audit);
    emu_step_time_finish(&auditor->time);
    free(auditor->steps);
    free(auditor->books);
    free(auditor->records);
    free(auditor->arenas);
    free(auditor);
}

void emu_auditor_hold_with(struct emu_auditor *auditor, struct emu_hold_bell *bell)
{
    auditor->bell = bell;
}

static bool due(uint64_t step, uint64_t every, uint64_t last)
{
    return step % every == 0 || step == 1 || step == last;
}

static bool checks_due(const struct emu_auditor *auditor, uint64_t step)
{
    const struct emu_config *config = auditor->plan->config;
    return due(step, config->checks.every, config->train.steps);
}

static bool oracle_due(const struct emu_auditor *auditor, uint64_t step)
{
    const struct emu_config *config = auditor->plan->config;
    return auditor->oracle && step >= 1 && step <= config->train.steps &&
           due(step, config->checks.oracle_every, config->train.steps);
}

static const struct emu_rank_laps *laps_of(const struct emu_auditor *auditor, uint32_t rank)
{
    return &emu_rank_row_read(auditor->plan, auditor->records[rank])->laps;
}

/* All have arrived: the time from here on is the audit's. */
static void open_time(struct emu_auditor *auditor, uint32_t world)
{
    uint64_t last = 0;
    if (!auditor->time.on || auditor->evidence.step == 0)
        return;
    for (uint32_t rank = 0; rank < world; rank++)
        if (laps_of(auditor, rank)->arrived_ns > last)
            last = laps_of(auditor, rank)->arrived_ns;
    emu_step_time_open(&auditor->time, last);
}

static void close_time(struct emu_auditor *auditor, uint32_t world)
{
    if (!auditor->time.on || auditor->evidence.step == 0)
        return;
    emu_step_time_close(&auditor->time, auditor->evidence.step);
    for (uint32_t rank = 0; rank < world; rank++)
        emu_step_time_take(&auditor->time, rank, laps_of(auditor, rank));
}

/* Wait until all ranks have written the record of `step`. */
static enum emu_status collect(struct emu_auditor *auditor, const struct emu_segment *segment,
                               uint64_t step)
{
    enum emu_status status = emu_gate_all_arrived(segment, step + 1);
    if (status != EMU_OK)
        return status;
    for (uint32_t rank = 0; rank < segment->world; rank++) {
        auditor->records[rank] = (const struct emu_step_record *)emu_segment_record(segment, rank);
        auditor->arenas[rank] = emu_segment_arena(segment, rank);
    }
    auditor->evidence.step = step;
    open_time(auditor, segment->world);
    return EMU_OK;
}

/* A failure of our own. That the run was ended meanwhile is none. */
static void internal(struct emu_auditor *auditor, const char *what, enum emu_status status)
{
    if (status == EMU_EABORTED)
        return;
    struct emu_finding *finding = emu_findings_add(&auditor->audit.findings, EMU_CLASS_INTERNAL);
    if (finding)
        emu_finding_message(finding, "%s in step %" PRIu64 ": %s", what, auditor->evidence.step,
                            emu_status_text(status));
}

/* Room for one step more; a run may ask for more steps than will ever be done. */
static bool make_room(struct emu_auditor *auditor)
{
    if (auditor->step_count < auditor->step_room)
        return true;
    uint64_t room = auditor->step_room ? 2 * auditor->step_room : 64;
    struct emu_training_step *steps = realloc(auditor->steps, room * sizeof *steps);
    if (!steps)
        return false;
    auditor->steps = steps;
    auditor->step_room = room;
    return true;
}

static void note_step(struct emu_auditor *auditor, const struct emu_oracle_step *oracle)
{
    const struct emu_step_record *record = auditor->records[0];
    if (!make_room(auditor)) {
        internal(auditor, "the step could not be noted", EMU_ENOMEM);
        return;
    }
    struct emu_training_step *step = &auditor->steps[auditor->step_count++];
    *step = (struct emu_training_step){.step = auditor->evidence.step,
                                       .loss = record->step_loss,
                                       .grad_norm = record->grad_norm,
                                       .tokens = record->step_tokens};
    if (oracle) {
        step->has_oracle = true;
        step->oracle_loss = oracle->loss.value;
        step->loss_bound = 2 * oracle->loss.bound;
    }
    if (auditor->options->progress)
        auditor->options->progress(step, auditor->plan->config->train.steps,
                                   auditor->options->user);
}

/* Room for the books and behind them a row for each rank. */
static bool make_books(struct emu_auditor *auditor)
{
    size_t world = auditor->plan->roster.mesh->world;
    if (auditor->books)
        return true;
    size_t places = emu_beside_room(auditor->plan->roster.mesh);
    auditor->books = calloc(world, sizeof *auditor->books + places * sizeof(uint64_t));
    return auditor->books != NULL;
}

static void keep_row(struct emu_auditor *auditor, uint32_t rank)
{
    size_t world = auditor->plan->roster.mesh->world;
    size_t places = emu_beside_room(auditor->plan->roster.mesh);
    const struct emu_rank_row *row = emu_rank_row_read(auditor->plan, auditor->records[rank]);
    uint64_t *kept = (uint64_t *)(void *)(auditor->books + world) + rank * places;
    memcpy(kept, row->sent_to, places * sizeof *kept);
    auditor->books[rank].sent_to = kept;
    auditor->books[rank].pss = row->pss;
    auditor->books[rank].lent_calls = row->lent_calls;
}

static void keep_books(struct emu_auditor *auditor)
{
    if (!make_books(auditor)) {
        internal(auditor, "the books could not be kept", EMU_ENOMEM);
        return;
    }
    for (uint32_t rank = 0; rank < auditor->plan->roster.mesh->world; rank++) {
        const struct emu_step_record *record = auditor->records[rank];
        struct emu_rank_books *books = &auditor->books[rank];
        keep_row(auditor, rank);
        memcpy(books->requested, record->requested, sizeof books->requested);
        memcpy(books->rounded, record->rounded, sizeof books->rounded);
        memcpy(books->family_bytes, record->family_bytes, sizeof books->family_bytes);
        memcpy(books->message_bytes, record->message_bytes, sizeof books->message_bytes);
    }
}

static enum emu_gate_verdict judge(const struct emu_auditor *auditor)
{
    bool faulty = emu_findings_faults(&auditor->audit.findings) > 0;
    return faulty && !auditor->options->keep_going ? EMU_GATE_STOP : EMU_GATE_GO_ON;
}

/* Gate 0: the parameters were drawn, and broadcast where the config says so; no step has run yet.
 * Broadcasts that were left out show in the parameters first. */
static void audit_start(struct emu_auditor *auditor)
{
    struct emu_audit *audit = &auditor->audit;
    size_t before = audit->findings.count;
    emu_check_tiling(&auditor->evidence, audit);
    size_t tiled = audit->findings.count;
    emu_check_init(&auditor->evidence, audit);
    emu_check_memory(&auditor->evidence, audit);
    size_t cause = emu_audit_first_fault(audit, before);
    if (cause < tiled)
        emu_audit_subordinate(audit, cause, tiled);
    size_t from = audit->findings.count;
    if (auditor->plan->config->train.initial != EMU_INITIAL_BROADCAST)
        return;
    emu_check_traffic(&auditor->evidence, audit);
    if (cause < from)
        emu_audit_subordinate(audit, cause, from);
}

/* The first rank that rounded something in this step; false where none did. */
static bool find_rounding(struct emu_auditor *auditor)
{
    for (uint32_t rank = 0; rank < auditor->plan->roster.mesh->world; rank++) {
        const struct emu_step_record *record = auditor->records[rank];
        if (!record->inexact)
            continue;
        struct emu_first_rounding *first = &auditor->rounding;
        if (first->step == 0) {
            *first = (struct emu_first_rounding){.step = record->step, .rank = rank};
            memcpy(first->kernel, record->inexact_kernel, sizeof first->kernel);
            memcpy(first->where, record->inexact_where, sizeof first->where);
        }
        return true;
    }
    return false;
}

/* In exact arithmetic: where nothing was rounded, on the mesh or in the twin, bits must be equal.
 */
static void sharpen(struct emu_auditor *auditor, struct emu_oracle_step *oracle)
{
    if (auditor->plan->config->arithmetic != EMU_ARITH_EXACT || find_rounding(auditor))
        return;
    if (emu_oracle_sharpen(auditor->oracle, oracle))
        auditor->exact_steps++;
}

static void bind(struct emu_auditor *auditor)
{
    emu_step_time_enter(&auditor->time, EMU_AUDIT_ORACLE);
    enum emu_status status =
        emu_binding_check(auditor->oracle, &auditor->evidence, &auditor->audit);
    if (status != EMU_OK)
        internal(auditor, "the ledger could not be compared with the values", status);
    emu_step_time_enter(&auditor->time, EMU_AUDIT_CHECKS);
}

/* Copies, blocks and books. Where nothing explains copies that differ, a call that was not made
 * does, and the bytes that it did not send are told with them. */
static void check_copies(struct emu_auditor *auditor, bool unexplained)
{
    struct emu_audit *audit = &auditor->audit;
    size_t before = audit->findings.count;
    emu_check_replicas(&auditor->evidence, audit);
    emu_check_tiling(&auditor->evidence, audit);
    size_t from = audit->findings.count;
    size_t cause = emu_audit_first_fault(audit, before);
    emu_check_traffic(&auditor->evidence, audit);
    if (unexplained && cause < from)
        emu_audit_subordinate(audit, cause, from);
}

/* Coefficients first: they explain what the other checks then see. */
static void audit_step(struct emu_auditor *auditor, struct emu_oracle_step *oracle)
{
    struct emu_audit *audit = &auditor->audit;
    const struct emu_evidence *evidence = &auditor->evidence;
    note_step(auditor, oracle);
    keep_books(auditor);
    if (emu_check_trouble(evidence, audit))
        return;
    size_t before = audit->findings.count;
    if (checks_due(auditor, evidence->step))
        emu_check_data(evidence, audit);
    size_t beyond_data = audit->findings.count;
    bool data_right = emu_audit_first_fault(audit, before) == beyond_data;
    if (auditor->plan->keeps_ledger && checks_due(auditor, evidence->step))
        emu_check_ledger(evidence, audit);
    bool sums_right = emu_audit_first_fault(audit, beyond_data) == audit->findings.count;
    if (sums_right)
        emu_check_norm(evidence, audit);
    size_t cause = emu_audit_first_fault(audit, before);
    size_t from = data_right ? audit->findings.count : beyond_data;
    bool none = cause == audit->findings.count;
    if (checks_due(auditor, evidence->step)) {
        check_copies(auditor, none);
    }
    if (oracle) {
        emu_step_time_enter(&auditor->time, EMU_AUDIT_ORACLE);
        sharpen(auditor, oracle);
        emu_check_oracle(evidence, oracle, audit);
        emu_step_time_enter(&auditor->time, EMU_AUDIT_CHECKS);
    }
    if (none)
        return;
    emu_audit_subordinate(audit, cause, from);
    if (oracle && data_right && !sums_right)
        bind(auditor);
}

/* The ranks wait: take the gradients if this is the last step they were to run. */
static void keep_gradients(struct emu_auditor *auditor, enum emu_gate_verdict verdict)
{
    bool last =
        verdict == EMU_GATE_STOP || auditor->evidence.step == auditor->plan->config->train.steps;
    if (!auditor->options->gradients || !last || auditor->evidence.step == 0)
        return;
    enum emu_status status = emu_gradients_collect(&auditor->evidence, &auditor->gradients);
    if (status != EMU_OK)
        internal(auditor, "the gradients could not be kept", status);
}

/* The ranks wait at the gate: the person may look at them before they go on. */
static void ring(struct emu_auditor *auditor)
{
    size_t at = emu_audit_first_fault(&auditor->audit, 0);
    if (!auditor->bell || auditor->rung || at == auditor->audit.findings.count)
        return;
    auditor->rung = true;
    emu_hold_bell_ring(auditor->bell, &auditor->audit.findings.items[at]);
}

/* Answer the gate of the step just audited; the oracle then starts where the ranks do. */
static enum emu_gate_verdict answer(struct emu_auditor *auditor, const struct emu_segment *segment)
{
    uint64_t step = auditor->evidence.step;
    enum emu_gate_verdict verdict = judge(auditor);
    keep_gradients(auditor, verdict);
    ring(auditor);
    if (verdict == EMU_GATE_GO_ON && oracle_due(auditor, step + 1)) {
        emu_step_time_enter(&auditor->time, EMU_AUDIT_ORACLE);
        emu_oracle_load(auditor->oracle, &auditor->evidence);
        emu_step_time_enter(&auditor->time, EMU_AUDIT_CHECKS);
    }
    close_time(auditor, segment->world);
    emu_gate_answer(segment, step + 1, verdict);
    return verdict;
}

/* The oracle's step, where one is due; a failure is a defect of ours and is said. */
static bool consult(struct emu_auditor *auditor, uint64_t step, struct emu_oracle_step *view)
{
    if (!oracle_due(auditor, step))
        return false;
    emu_step_time_enter(&auditor->time, EMU_AUDIT_ORACLE);
    enum emu_status status = emu_oracle_run(auditor->oracle, view);
    emu_step_time_enter(&auditor->time, EMU_AUDIT_IDLE);
    if (status == EMU_OK)
        return true;
    internal(auditor, "the oracle could not run", status);
    return false;
}

static bool run_ended(const void *segment)
{
    return emu_abort_look(segment) != 0;
}

static void serve(struct emu_auditor *auditor, const struct emu_segment *segment)
{
    uint64_t steps = auditor->plan->config->train.steps;
    if (collect(auditor, segment, 0) != EMU_OK)
        return;
    audit_start(auditor);
    for (uint64_t step = 1; answer(auditor, segment) == EMU_GATE_GO_ON && step <= steps; step++) {
        struct emu_oracle_step view;
        bool expected = consult(auditor, step, &view);
        if (collect(auditor, segment, step) != EMU_OK)
            return;
        audit_step(auditor, expected ? &view : NULL);
    }
}

/* Nobody waits for the oracle of a run that was ended. */
void emu_auditor_run(struct emu_auditor *auditor, const struct emu_segment *segment)
{
    if (auditor->options->breakdown) {
        enum emu_status status = emu_step_time_begin(&auditor->time, segment->world);
        if (status != EMU_OK)
            internal(auditor, "the time of the steps could not be measured", status);
    }
    emu_halt_watch(run_ended, segment);
    serve(auditor, segment);
    emu_halt_watch(NULL, NULL);
}

void emu_auditor_take(struct emu_auditor *auditor, struct emu_training_result *result)
{
    result->audit = auditor->audit;
    result->steps = auditor->steps;
    result->step_count = auditor->step_count;
    result->exact_steps = auditor->exact_steps;
    if (result->step_count > 0) {
        result->books = auditor->books;
        auditor->books = NULL;
    }
    if (auditor->time.breakdown && auditor->time.breakdown->steps > 0) {
        result->breakdown = auditor->time.breakdown;
        auditor->time.breakdown = NULL;
    }
    result->rounding = auditor->rounding;
    result->gradients = auditor->gradients;
    auditor->gradients = NULL;
    emu_audit_init(&auditor->audit);
    auditor->steps = NULL;
}
