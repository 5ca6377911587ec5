/* What comes of a script when it is run: results, and what ends a rank's program. */
#include "job_maker.h"
#include "run/script_run.h"

#include <criterion/parameterized.h>
#include <stdio.h>
#include <string.h>

TestSuite(script_run, .timeout = 60);

struct script_trial {
    struct emu_script *script;
    struct emu_script_outcome outcome;
};

/* Read and run; nothing may be left. */
static void try_script(struct script_trial *trial, const char *text)
{
    struct emu_text diagnostics = {0};
    struct emu_script_params params = {.name = "s.yaml", .text = text, .size = strlen(text)};
    struct emu_script_options options = {.output_fd = STDOUT_FILENO};
    uint32_t files = emu_stream_count();
    cr_assert_eq(emu_script_read(&params, &diagnostics, &trial->script), EMU_OK, "%s",
                 emu_text_get(&diagnostics));
    emu_text_finish(&diagnostics);
    cr_assert_eq(emu_script_run(trial->script, &options, &trial->outcome), EMU_OK);
    cr_assert_eq(emu_stream_count(), files, "a descriptor is left");
    assert_no_child_left();
}

static void end_trial(struct script_trial *trial)
{
    emu_script_outcome_finish(&trial->outcome);
    emu_script_destroy(trial->script);
}

/* Results of rank 0 as "op=value op=value". */
static void list_results(const struct script_trial *trial, uint32_t rank, char *out, size_t size)
{
    size_t used = 0;
    out[0] = '\0';
    for (uint64_t i = 0; i < trial->outcome.result_count && used < size; i++) {
        const struct emu_script_result *result = &trial->outcome.results[i];
        double real;
        memcpy(&real, &result->bits, sizeof real);
        bool floating = result->op->dtype == EMU_F64 || result->op->dtype == EMU_F32;
        if (result->rank == rank)
            used += (size_t)snprintf(
                out + used, size - used, "%s%s=%g#%u", used ? " " : "", result->op->name,
                floating ? real : (double)(int64_t)result->bits, (unsigned)result->index);
    }
}

struct value_case {
    char ops[200]; /* of all ranks of tp=4 */
    uint32_t rank;
    char results[120];
};

ParameterizedTestParameters(script_run, results_are_what_the_calls_give)
{
    static struct value_case cases[] = {
        {"{all_reduce: {over: tp, count: 3}}", 2, "all_reduce=10#0"},
        {"{all_reduce: {over: tp, count: 3, op: avg, dtype: f64}}", 0, "all_reduce=2.5#0"},
        {"{all_reduce: {over: tp, count: 3, op: prod, dtype: u8}}", 0, "all_reduce=24#0"},
        {"{all_reduce: {over: tp, count: 3, op: min, dtype: i64}}", 3, "all_reduce=1#0"},
        {"{data: {value: -2.5}}, {all_reduce: {over: tp, count: 1, dtype: i32}}", 3,
         "all_reduce=-8#0"},
        {"{data: {value: 300}}, {all_reduce: {over: tp, count: 1, dtype: u8, op: max}}", 0,
         "all_reduce=255#0"},
        {"{data: {value: 1e300}}, {all_reduce: {over: tp, count: 1, dtype: i64, op: min}}", 0,
         "all_reduce=9.22337e+18#0"},
        {"{data: {value: 5}}, {all_gather: {over: tp, count: 1}}, {all_gather: {over: tp, count: "
         "1}}",
         3, "all_gather=5#0 all_gather=1#1"},
        {"{broadcast: {over: tp, count: 1, root: 2}}", 2, "broadcast=3#0"},
        {"{reduce: {over: tp, count: 1, root: 2}}", 1, ""},
        {"{reduce: {over: tp, count: 1, root: 2}}", 2, "reduce=10#0"},
        {"{barrier: {over: tp}}, {gather: {over: tp, count: 2, root: 1}}", 1, "gather=1#1"},
        {"{scatter: {over: tp, count: 8, root: 3, dtype: f64}}", 0, "scatter=4#0"},
        {"{reduce_scatter: {over: tp, count: 2}}", 1, "reduce_scatter=10#0"},
        {"{reduce_scatter: {over: tp, count: 2}}", 2, ""},
        {"{all_to_all: {over: tp, count: 4}}", 3, "all_to_all=1#0"},
        {"{all_reduce: {over: tp, count: 0}}", 0, ""},
        {"{all_reduce: {over: tp, count: 300000, async: a}}, {all_reduce: {over: world, count: 2}},"
         " {wait: a}",
         1, "all_reduce=10#0 all_reduce=10#0"},
        {"{repeat: {times: 3, do: [{all_reduce: {over: tp, count: 1}}]}}", 0,
         "all_reduce=10#0 all_reduce=10#1 all_reduce=10#2"},
    };
    return cr_make_param_array(struct value_case, cases, sizeof cases / sizeof cases[0]);
}

ParameterizedTest(const struct value_case *param, script_run, results_are_what_the_calls_give,
                  .timeout = 60)
{
    struct script_trial trial;
    char text[512], got[200];
    snprintf(text, sizeof text, "mesh: tp=4\nprogram: [{ranks: all, do: [%s]}]\n", param->ops);
    try_script(&trial, text);
    list_results(&trial, param->rank, got, sizeof got);
    cr_expect_str_eq(got, param->results, "%s", param->ops);
    end_trial(&trial);
}

Test(script_run, sendrecv_gives_what_the_other_sent)
{
    struct script_trial trial;
    char got[100];
    try_script(&trial,
               "mesh: tp=2\nprogram:\n"
               "- {ranks: 0, do: [{sendrecv: {to: 1, from: 1, count: 100000, async: a}}, {wait: a},"
               " {recv: {from: 1, count: 2}}]}\n"
               "- {ranks: 1, do: [{sendrecv: {to: 0, from: 0, count: 100000}},"
               " {data: {value: 8}}, {send: {to: 0, count: 1}}]}\n");
    cr_expect(emu_script_passed(&trial.outcome));
    list_results(&trial, 0, got, sizeof got);
    cr_expect_str_eq(got, "sendrecv=2#0 recv=8#1");
    end_trial(&trial);
}

struct fault_case {
    char fact[48];
    char program[320]; /* of dp=2,tp=2 */
    enum emu_class class_id;
    char culprits[8];
};

ParameterizedTestParameters(script_run, mistake_is_one_fault)
{
    static struct fault_case cases[] = {
        {"negative count",
         "{ranks: 2, do: [{all_reduce: {over: tp, count: -3}}]},"
         "{ranks: 3, do: [{all_reduce: {over: tp, count: 3}}]}",
         EMU_CLASS_INVALID_ARGUMENT, "2"},
        {"the same on all ranks", "{ranks: all, do: [{broadcast: {over: dp, count: 1, root: -1}}]}",
         EMU_CLASS_INVALID_ARGUMENT, "0123"},
        {"root outside, on all ranks",
         "{ranks: all, do: [{broadcast: {over: dp, count: 1, root: 2}}]}",
         EMU_CLASS_INVALID_ARGUMENT, "0123"},
        {"peer outside", "{ranks: 1, do: [{send: {to: 4, count: 1}}]}", EMU_CLASS_INVALID_ARGUMENT,
         "1"},
        {"negative peer", "{ranks: 1, do: [{recv: {from: -1, count: 1}}]}",
         EMU_CLASS_INVALID_ARGUMENT, "1"},
        {"peer beyond all numbers", "{ranks: 1, do: [{recv: {from: 4294967297, count: 1}}]}",
         EMU_CLASS_INVALID_ARGUMENT, "1"},
        {"never waited for", "{ranks: [0, 1], do: [{all_reduce: {over: tp, count: 1, async: a}}]}",
         EMU_CLASS_INVALID_ARGUMENT, "01"},
        {"never waited for, though exit 0",
         "{ranks: 0, do: [{send: {to: 0, count: 1, async: a}}, {exit: 0}, {wait: a}]}",
         EMU_CLASS_INVALID_ARGUMENT, "0"},
        {"started again before its wait",
         "{ranks: 3, do: [{repeat: {times: 2, do: [{send: {to: 3, count: 1, async: a}}]}},"
         " {wait: a}]}",
         EMU_CLASS_INVALID_ARGUMENT, "3"},
        {"waited for twice",
         "{ranks: 3, do: [{send: {to: 3, count: 1, async: a}}, {recv: {from: 3, count: 1}},"
         " {wait: [a, a]}]}",
         EMU_CLASS_INVALID_ARGUMENT, "3"},
        {"a group of others",
         "{ranks: [0, 3], do: [{all_reduce: {over: low, count: 1}}]},"
         "{ranks: 1, do: [{all_reduce: {over: low, count: 1}}]}",
         EMU_CLASS_NOT_A_MEMBER, "3"},
        {"a broken call before an open one",
         "{ranks: 0, do: [{all_reduce: {over: low, count: 2, async: a}},"
         " {all_reduce: {over: low, count: 1, async: b}}, {wait: a}, {wait: b}]},"
         "{ranks: 1, do: [{all_gather: {over: low, count: 2}}]}",
         EMU_CLASS_ORDER_MISMATCH, ""},
        {"exit with a code", "{ranks: 2, do: [{exit: 9}]}", EMU_CLASS_EARLY_EXIT, "2"},
        {"exit with a code and an open call",
         "{ranks: 2, do: [{send: {to: 2, count: 1, async: a}}, {exit: 9}, {wait: a}]}",
         EMU_CLASS_EARLY_EXIT, "2"},
        {"killed", "{ranks: 1, do: [{kill: SIGKILL}]}", EMU_CLASS_CRASH, "1"},
        {"aborted", "{ranks: 1, do: [{kill: SIGABRT}]}", EMU_CLASS_CRASH, "1"},
        {"memory fault", "{ranks: 1, do: [{kill: SIGSEGV}]}", EMU_CLASS_CRASH, "1"},
        {"left by a rank that nobody names", "{ranks: 0, do: [{barrier: {over: tp}}]}",
         EMU_CLASS_MISSING_PARTICIPANT, "1"},
    };
    return cr_make_param_array(struct fault_case, cases, sizeof cases / sizeof cases[0]);
}

ParameterizedTest(const struct fault_case *param, script_run, mistake_is_one_fault, .timeout = 60)
{
    struct script_trial trial;
    char text[512], culprits[8] = "";
    snprintf(text, sizeof text, "mesh: dp=2,tp=2\ngroups: {low: [0, 1]}\nprogram: [%s]\n",
             param->program);
    try_script(&trial, text);
    const struct emu_findings *findings = &trial.outcome.findings;
    cr_assert_eq(emu_findings_faults(findings), 1, "%s: %zu faults", param->fact,
                 emu_findings_faults(findings));
    cr_expect_eq(findings->items[0].class_id, param->class_id, "%s: %s", param->fact,
                 emu_class_name(findings->items[0].class_id));
    for (size_t i = 0; i < findings->items[0].culprit_count; i++)
        culprits[i] = (char)('0' + findings->items[0].culprits[i]);
    cr_expect_str_eq(culprits, param->culprits, "%s", param->fact);
    cr_expect_not(emu_script_passed(&trial.outcome));
    end_trial(&trial);
}

Test(script_run, groups_that_are_whole_go_on)
{
    struct script_trial trial;
    char got[100];
    try_script(&trial, "mesh: dp=2,tp=2\nprogram:\n- {ranks: 0, do: [{kill: SIGKILL}]}\n"
                       "- {ranks: 1, do: [{barrier: {over: tp}}, {barrier: {over: tp}}]}\n"
                       "- {ranks: 2-3, do: [{sleep: 50ms}, {all_reduce: {over: tp, count: 1}},"
                       " {all_reduce: {over: tp, count: 1}}]}\n");
    cr_expect_eq(emu_findings_faults(&trial.outcome.findings), 1);
    list_results(&trial, 3, got, sizeof got);
    cr_expect_str_eq(got, "all_reduce=7#0 all_reduce=7#1");
    end_trial(&trial);
}

Test(script_run, stopped_rank_continues_itself_however_soon)
{
    struct script_trial trial;
    try_script(&trial, "mesh: tp=2\nprogram: [{ranks: all, do: [{stop: true, cont_after: 1ns},"
                       " {stop: true, cont_after: 30ms}, {all_reduce: {over: tp, count: 1}}]}]\n");
    cr_expect(emu_script_passed(&trial.outcome));
    cr_expect_eq(trial.outcome.result_count, 2);
    end_trial(&trial);
}

Test(script_run, timeout_ends_what_never_ends)
{
    static const char text[] = "mesh: tp=2\nprogram: [{ranks: 0, do: [{spin: true}]}]\n";
    struct emu_script_params params = {.name = "s.yaml", .text = text, .size = strlen(text)};
    struct emu_script_options options = {.output_fd = STDOUT_FILENO, .timeout_ns = 200000000};
    struct emu_text diagnostics = {0};
    struct script_trial trial;
    cr_assert_eq(emu_script_read(&params, &diagnostics, &trial.script), EMU_OK);
    cr_assert_eq(emu_script_run(trial.script, &options, &trial.outcome), EMU_OK);
    cr_assert_eq(trial.outcome.findings.count, 1);
    cr_expect_eq(trial.outcome.findings.items[0].class_id, EMU_CLASS_STALL);
    assert_no_child_left();
    end_trial(&trial);
}

Test(script_run, buffered_ring_gets_its_note_only_where_nothing_else_is_wrong)
{
    static const char ring[] =
        "mesh: tp=2\nsemantics: buffered\nprogram:\n"
        "- {ranks: 0, do: [{send: {to: 1, count: 1}}, {recv: {from: 1, count: 1}}%s]}\n"
        "- {ranks: 1, do: [{send: {to: 0, count: 1}}, {recv: {from: 0, count: 1}}]}\n";
    char text[400];
    struct script_trial trial;
    snprintf(text, sizeof text, ring, "");
    try_script(&trial, text);
    cr_assert_eq(trial.outcome.findings.count, 1);
    cr_expect_eq(trial.outcome.findings.items[0].class_id, EMU_CLASS_UNSAFE_BUFFERING);
    cr_expect(emu_script_passed(&trial.outcome));
    end_trial(&trial);
    snprintf(text, sizeof text, ring, ", {exit: 1}");
    try_script(&trial, text);
    cr_assert_eq(trial.outcome.findings.count, 1);
    cr_expect_eq(trial.outcome.findings.items[0].class_id, EMU_CLASS_EARLY_EXIT);
    end_trial(&trial);
}
