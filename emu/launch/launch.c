/* The public way to run a mesh: include/meshemu/launch.h over run/job.h and report/. */
#include "base/cpu_variant.h"
#include "check/finding_build.h"
#include "fault/fault_filter.h"
#include "launch/launch_files.h"
#include "run/fault_load.h"
#include "run/job.h"

#include <meshemu/launch.h>

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CODE_NO_MEMORY 70 /* of a rank whose faults could not be set up */
#define DEFAULT_ARENA_BYTES (UINT64_C(16) << 20)

struct emu_outcome {
    struct emu_mesh mesh;
    struct emu_roster roster;
    struct emu_fault_load faults;
    struct emu_job_result result;
};

static enum emu_status refuse(const char *what, const char *text,
                              const struct emu_mesh_error *error)
{
    fprintf(stderr, "meshemu: %s \"%s\", column %" PRIu32 ": %s\n", what, text, error->column,
            error->message);
    return EMU_EINVAL;
}

/* One entry of the groups option, "dp,cp". */
static enum emu_status add_group(struct emu_roster *roster, const char *text)
{
    struct emu_mesh_error error = {0};
    struct emu_axes axes;
    uint32_t family;
    enum emu_status status = emu_axes_parse(roster->mesh, text, &axes, &error);
    if (status != EMU_OK)
        return refuse("groups", text, &error);
    status = emu_roster_add_axes(roster, &axes, &family);
    if (status == EMU_OK)
        return EMU_OK;
    fprintf(stderr, "meshemu: groups \"%s\": %s\n", text,
            status == EMU_ERANGE ? "too many kinds of groups" : emu_status_text(status));
    return status == EMU_ENOMEM ? EMU_ENOMEM : EMU_EINVAL;
}

/* "dp,cp; cp,dp": entries between semicolons, empty ones are skipped. */
static enum emu_status add_groups(struct emu_roster *roster, const char *groups)
{
    char *copy = strdup(groups), *rest = NULL;
    if (!copy)
        return EMU_ENOMEM;
    enum emu_status status = EMU_OK;
    for (char *entry = strtok_r(copy, ";", &rest); entry && status == EMU_OK;
         entry = strtok_r(NULL, ";", &rest))
        if (entry[strspn(entry, " \t\n")] != '\0')
            status = add_group(roster, entry);
    free(copy);
    return status;
}

static enum emu_status describe(const struct emu_launch_options *options,
                                struct emu_outcome *outcome)
{
    struct emu_mesh_error error = {0};
    enum emu_status status = emu_mesh_parse(options->mesh, &outcome->mesh, &error);
    if (status == EMU_ENOMEM)
        return status;
    if (status != EMU_OK)
        return refuse("mesh", options->mesh, &error);
    emu_roster_init(&outcome->roster, &outcome->mesh);
    return options->groups ? add_groups(&outcome->roster, options->groups) : EMU_OK;
}

/* What each rank runs: the caller's body under the faults of the environment. */
struct launched {
    int (*body)(struct emu_rank *rank, void *user);
    void *user;
    const struct emu_fault_set *faults;
};

static int run_body(struct emu_rank *rank, void *context)
{
    struct launched *launched = context;
    if (emu_fault_filter_push(rank, launched->faults) != EMU_OK)
        return CODE_NO_MEMORY;
    return launched->body(rank, launched->user);
}

static enum emu_status read_faults(struct emu_outcome *outcome)
{
    struct emu_text diagnostics = {0};
    enum emu_status status = emu_fault_load_text(&outcome->roster, getenv("MESHEMU_FAULT"),
                                                 "MESHEMU_FAULT", &diagnostics, &outcome->faults);
    fputs(emu_text_get(&diagnostics), stderr);
    emu_text_finish(&diagnostics);
    return status == EMU_EPARSE ? EMU_EINVAL : status;
}

static enum emu_status run_ranks(const struct emu_launch_options *options,
                                 const struct emu_launch_files *files, struct launched *launched,
                                 struct emu_outcome *outcome)
{
    struct emu_job job = {
        .roster = &outcome->roster,
        .arena_bytes = options->arena_bytes ? options->arena_bytes : DEFAULT_ARENA_BYTES,
        .body = run_body,
        .user = launched,
        .timeout_ns = options->timeout_ns,
        .stall_after_ns = options->stall_after_ns,
        .stop_grace_ns = options->stop_grace_ns,
        .raw_output = options->raw_output,
        .only_output = -1,
        .keep_going = options->keep_going,
        .checksums = !options->no_checksums,
        .keep_records = files->record.stream != NULL,
        .output_fd = files->on_stdout ? STDERR_FILENO : STDOUT_FILENO,
    };
    enum emu_status status = emu_job_run(&job, &outcome->result);
    return status ? status : emu_fault_load_tell(&outcome->faults);
}

static enum emu_status write_files(const struct emu_launch_options *options,
                                   struct emu_launch_files *files,
                                   const struct emu_outcome *outcome)
{
    struct emu_launch_report report = {
        .roster = &outcome->roster,
        .result = &outcome->result,
        .groups = options->groups,
        .timeout_ns = options->timeout_ns,
        .stall_after_ns = options->stall_after_ns,
        .stop_grace_ns = options->stop_grace_ns,
        .keep_going = options->keep_going,
        .passed = emu_outcome_passed(outcome),
        .faults = outcome->faults.told,
        .fault_count = outcome->faults.set.count,
    };
    return emu_launch_files_write(files, &report);
}

enum emu_status emu_launch(const struct emu_launch_options *options,
                           int (*body)(struct emu_rank *rank, void *user), void *user,
                           struct emu_outcome **outcome)
{
    if (!options || !options->mesh || !body || !outcome) {
        fprintf(stderr, "meshemu: emu_launch needs options with a mesh, a body and an outcome\n");
        return EMU_EINVAL;
    }
    if (!emu_cpu_variant_asked_well()) {
        fprintf(stderr, "meshemu: MESHEMU_CPU_VARIANT: baseline, avx2 or avx512 is allowed\n");
        return EMU_EINVAL;
    }
    struct emu_outcome *made = calloc(1, sizeof *made);
    struct emu_launch_files files = {0};
    if (!made)
        return EMU_ENOMEM;
    struct launched launched = {body, user, &made->faults.set};
    enum emu_status status = describe(options, made);
    if (status == EMU_OK)
        status = read_faults(made);
    if (status == EMU_OK)
        status = emu_launch_files_open(&files);
    if (status == EMU_OK)
        status = run_ranks(options, &files, &launched, made);
    if (status == EMU_OK)
        status = write_files(options, &files, made);
    if (status != EMU_OK) {
        emu_launch_files_discard(&files);
        emu_outcome_destroy(made);
        return status;
    }
    *outcome = made;
    return EMU_OK;
}

bool emu_outcome_passed(const struct emu_outcome *outcome)
{
    for (uint32_t rank = 0; rank < outcome->mesh.world; rank++)
        if (emu_outcome_exit_code(outcome, rank) != 0)
            return false;
    return !outcome->result.interrupted && emu_fault_load_idle(&outcome->faults) == 0 &&
           emu_findings_faults(&outcome->result.findings) == 0;
}

const struct emu_findings *emu_outcome_findings(const struct emu_outcome *outcome)
{
    return &outcome->result.findings;
}

int emu_outcome_exit_code(const struct emu_outcome *outcome, uint32_t rank)
{
    if (rank >= outcome->mesh.world)
        return -1;
    const struct emu_job_rank *one = &outcome->result.ranks[rank];
    return one->signalled ? 128 + one->code : one->code;
}

void emu_outcome_print(const struct emu_outcome *outcome, FILE *stream)
{
    const struct emu_findings *findings = &outcome->result.findings;
    struct emu_text text = {0};
    for (size_t i = 0; i < findings->count; i++)
        emu_finding_to_text(&findings->items[i], &outcome->mesh, &text);
    if (outcome->result.interrupted)
        emu_text_puts(&text, "interrupted: the ranks were ended\n");
    else if (findings->count == 0)
        emu_text_puts(&text, "no findings\n");
    emu_fault_load_name_idle(&outcome->faults, true, "", &text);
    if (text.size > 0)
        fwrite(text.data, 1, text.size, stream);
    emu_text_finish(&text);
}

void emu_outcome_destroy(struct emu_outcome *outcome)
{
    if (!outcome)
        return;
    emu_job_result_finish(&outcome->result);
    emu_fault_load_finish(&outcome->faults);
    emu_roster_finish(&outcome->roster);
    emu_mesh_finish(&outcome->mesh);
    free(outcome);
}
