#include "cli/bench_command.h"

#include "bench/bench_body.h"
#include "bench/regimes.h"
#include "check/finding_build.h"
#include "cli/bench_print.h"
#include "cli/bench_request.h"
#include "cli/exit_code.h"
#include "cli/print.h"
#include "os/clock.h"
#include "report/json_output.h"
#include "run/job.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

static int print_plan(const struct emu_arguments *arguments,
                      const struct emu_bench_session *session)
{
    struct emu_regimes regimes;
    struct emu_text text = {0};
    struct emu_reason reason;
    if (emu_regimes_of(&session->roster, &regimes, &reason) != EMU_OK)
        return emu_print_usage_error(arguments->command, "%s", reason.text);
    emu_regimes_text(&regimes, &text);
    return emu_print_text(&text);
}

static int write_json(const struct emu_arguments *arguments, const struct emu_bench *bench,
                      const struct emu_job_result *result, struct emu_json_output *output)
{
    struct emu_text error = {0};
    bool whole = emu_bench_write_json(bench, &result->findings, output->stream);
    enum emu_status status = emu_json_output_commit(output, &error);
    int code = EMU_EXIT_PASS;
    if (status != EMU_OK || !whole)
        code = emu_print_refusal(arguments->command,
                                 error.size ? emu_text_get(&error) : "cannot write the report");
    emu_text_finish(&error);
    return code;
}

/* The ranks are gone: say what they found. */
static int report(const struct emu_arguments *arguments, const struct emu_bench *bench,
                  const struct emu_job_result *result, struct emu_json_output *output)
{
    const char *json = emu_arguments_value(arguments, "json");
    FILE *out = json && !strcmp(json, "-") ? stderr : stdout;
    struct emu_text findings = {0};
    uint32_t refused = atomic_load_explicit(bench->refused, memory_order_relaxed);
    if (refused > 0) {
        fprintf(stderr, "meshemu bench: error: the system refused to pin %" PRIu32 " ranks\n",
                refused);
        return EMU_EXIT_SYSTEM;
    }
    emu_bench_print_text(bench, out);
    for (size_t i = 0; i < result->findings.count; i++)
        emu_finding_to_text(&result->findings.items[i], bench->request.roster->mesh, &findings);
    fputs(emu_text_get(&findings), out);
    emu_text_finish(&findings);
    int code = out == stdout ? emu_print_flush() : EMU_EXIT_PASS;
    if (code == EMU_EXIT_PASS && json)
        code = write_json(arguments, bench, result, output);
    if (code != EMU_EXIT_PASS)
        return code;
    if (result->interrupted)
        return EMU_EXIT_INTERRUPTED;
    return emu_bench_passed(bench) && result->findings.count == 0 ? EMU_EXIT_PASS
                                                                  : EMU_EXIT_FINDING;
}

static int launch(const struct emu_arguments *arguments, struct emu_bench *bench,
                  struct emu_json_output *output)
{
    struct emu_job_result result;
    struct emu_job job = {.roster = bench->request.roster,
                          .arena_bytes = emu_bench_arena_bytes(bench),
                          .body = emu_bench_body,
                          .own_body = true,
                          .user = bench,
                          .raw_output = true, /* for the progress line of rank 0 */
                          .checksums = bench->request.checksums,
                          .only_output = -1,
                          .output_fd = STDOUT_FILENO};
    bench->launch->begun_ns = emu_clock_ns();
    enum emu_status status = emu_job_run(&job, &result);
    if (status != EMU_OK)
        return emu_exit_of(status);
    int code = report(arguments, bench, &result, output);
    emu_job_result_finish(&result);
    return code;
}

static int measure(const struct emu_arguments *arguments, const struct emu_bench_session *session)
{
    const char *json = emu_arguments_value(arguments, "json");
    struct emu_json_output output = {0};
    struct emu_reason reason;
    struct emu_bench bench;
    int code = emu_print_open_json(arguments->command, json, &output);
    if (code != EMU_EXIT_PASS)
        return code;
    if (emu_bench_create(&session->request, &bench, &reason) == EMU_OK) {
        code = launch(arguments, &bench, &output);
        emu_bench_finish(&bench);
    } else {
        code = emu_print_refusal(arguments->command, reason.text);
    }
    emu_json_output_discard(&output);
    return code;
}

static int run(const struct emu_arguments *arguments)
{
    struct emu_bench_session session;
    int code = emu_bench_session_read(arguments, &session);
    if (code != EMU_EXIT_PASS)
        return code;
    code = emu_arguments_has(arguments, "plan") ? print_plan(arguments, &session)
                                                : measure(arguments, &session);
    emu_bench_session_finish(&session);
    return code;
}

static const struct emu_option options[] = {
    {"ranks", "N", "ranks of a plain mesh (default: processors, 2 or more)", false},
    {"mesh", "AXES", "the mesh instead, as in --mesh dp=2,tp=4", false},
    {"over", "AXES", "groups over these axes, all at once (default world)", false},
    {"bytes", "A:B", "double the size from A to B (default 8:1M)", false},
    {"dtype", "NAME", "f64, f32 (default), i64, i32, u8 or field61", false},
    {"reduce", "NAME", "sum (default), avg, min, max or prod", false},
    {"root", "R", "root, a group rank (default: it moves with each call)", false},
    {"in-place", NULL, "output where the input is", false},
    {"iterations", "N", "timed calls of a row (default: as --time says)", false},
    {"time", "T", "time for a row, in 5 to 20000 calls (default 50ms)", false},
    {"warmup", "N", "calls before them (default: 1 to 20, by time)", false},
    {"pin", NULL, "bind rank i to processor i modulo their number", false},
    {"checksums", NULL, "sum payloads, too, as run does", false},
    {"coefficients", "N", "exact coefficients beside the data, as in run", false},
    {"launch", NULL, "also time to the first barrier, and memory of a rank", false},
    {"plan", NULL, "print which payloads go which way, and run nothing", false},
    {"json", "FILE|-", "write the report as JSON; - is standard output", false},
    {"help", NULL, "print this help", false},
};

const struct emu_command emu_bench_command = {
    "bench",
    "OP...",
    "measure collectives, and verify what they give",
    "OP is barrier, broadcast, reduce, all_reduce, reduce_scatter, all_gather,\n"
    "all_to_all, gather, scatter or sendrecv; without OP all of them run. As in\n"
    "nccl-tests, bytes count the whole vector, algbw is bytes by mean time, and\n"
    "busbw is algbw times what makes ops comparable: 2(n-1)/n for all_reduce,\n"
    "(n-1)/n where parts are exchanged, else 1. Median and 99th percentile are of\n"
    "rank 0's calls, back to back; the mean is that of the slowest rank. In every\n"
    "row each rank verifies each element of a call before and of one after the\n"
    "timed ones; a wrong one is exit code 1. Signatures, recorders and supervision\n"
    "are part of each call and cannot be switched off; --checksums and\n"
    "--coefficients add what a run has besides.",
    options,
    sizeof options / sizeof options[0],
    run,
};
