/* What a script may say, and the words in which the rest is refused. */
#include "config/script.h"

#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

TestSuite(script_read, .timeout = 20);

struct reading {
    enum emu_status status;
    struct emu_script *script;
    struct emu_text diagnostics;
};

static struct reading read_script(const char *text)
{
    struct reading r = {.script = NULL};
    struct emu_script_params params = {.name = "s.yaml", .text = text, .size = strlen(text)};
    r.status = emu_script_read(&params, &r.diagnostics, &r.script);
    cr_assert_eq(r.status == EMU_OK, r.script != NULL);
    cr_assert_eq(r.status == EMU_OK, r.diagnostics.size == 0, "%s", emu_text_get(&r.diagnostics));
    return r;
}

static struct emu_script *read_good(const char *text)
{
    struct reading r = read_script(text);
    cr_assert_eq(r.status, EMU_OK, "%s", emu_text_get(&r.diagnostics));
    emu_text_finish(&r.diagnostics);
    return r.script;
}

/* The only op of rank 0. */
static const struct emu_script_op *only_op(const struct emu_script *script)
{
    const struct emu_script_entry *entry = emu_script_entry_of(script, 0);
    cr_assert_eq(entry->count, 1);
    return entry->ops;
}

Test(script_read, fields_left_out_have_their_defaults)
{
    struct emu_script *script = read_good(
        "mesh: dp=2,tp=2\nprogram:\n- ranks: all\n  do:\n  - reduce: {over: tp, count: 4}\n");
    const struct emu_script_op *op = only_op(script);
    cr_expect_eq(op->kind, EMU_SCRIPT_COLLECTIVE);
    cr_expect_eq(op->call, EMU_REDUCE);
    cr_expect_str_eq(op->name, "reduce");
    cr_expect_eq(op->dtype, EMU_F32);
    cr_expect_eq(op->op, EMU_SUM);
    cr_expect_eq(op->root, 0);
    cr_expect_eq(op->count, 4);
    cr_expect_eq(op->handle, EMU_SCRIPT_NO_HANDLE);
    cr_expect_eq(op->line, 5);
    cr_expect_not(script->buffered);
    cr_expect_eq(script->stall_after_ns, 0);
    cr_expect_eq(script->stop_grace_ns, UINT64_C(2000000000));
    emu_script_destroy(script);
}

Test(script_read, every_field_is_taken_as_written)
{
    struct emu_script *script = read_good(
        "mesh: dp=2,tp=2\nsemantics: buffered\nstall_after: 1s\nstop_grace: 500ms\nprogram:\n"
        "- ranks: 0\n  do:\n  - sendrecv: {to: 1, from: 3, count: 9, dtype: i64, tag: -2}\n");
    const struct emu_script_op *op = only_op(script);
    cr_expect_eq(op->kind, EMU_SCRIPT_SENDRECV);
    cr_expect_eq(op->to, 1);
    cr_expect_eq(op->from, 3);
    cr_expect_eq(op->count, 9);
    cr_expect_eq(op->dtype, EMU_I64);
    cr_expect_eq(op->tag, -2);
    cr_expect(script->buffered);
    cr_expect_eq(script->stall_after_ns, UINT64_C(1000000000));
    cr_expect_eq(script->stop_grace_ns, UINT64_C(500000000));
    emu_script_destroy(script);
}

Test(script_read, a_budget_of_nothing_is_not_none)
{
    struct emu_script *script = read_good("mesh: dp=1\nstall_after: 0s\nprogram: []\n");
    cr_expect_gt(script->stall_after_ns, 0);
    emu_script_destroy(script);
}

Test(script_read, acts_keep_what_they_say)
{
    struct emu_script *script =
        read_good("mesh: dp=1\nprogram:\n- ranks: 0\n  do:\n  - compute: 10ms\n  - sleep: 2s\n"
                  "  - spin: true\n  - exit: 3\n  - kill: SIGSEGV\n"
                  "  - {stop: true, cont_after: 1s}\n  - {cont_after: 2s, stop: true}\n"
                  "  - stop: true\n  - data: {value: -2.5}\n");
    const struct emu_script_op *op = emu_script_entry_of(script, 0)->ops;
    cr_expect_eq(op[0].kind, EMU_SCRIPT_COMPUTE);
    cr_expect_eq(op[0].duration_ns, UINT64_C(10000000));
    cr_expect_eq(op[1].kind, EMU_SCRIPT_SLEEP);
    cr_expect_eq(op[2].kind, EMU_SCRIPT_SPIN);
    cr_expect_eq(op[3].code, 3);
    cr_expect_eq(op[4].code, SIGSEGV);
    cr_expect_eq(op[5].duration_ns, UINT64_C(1000000000));
    cr_expect_eq(op[6].kind, EMU_SCRIPT_STOP);
    cr_expect_eq(op[6].duration_ns, UINT64_C(2000000000));
    cr_expect_eq(op[7].duration_ns, 0);
    cr_expect_float_eq(op[8].value, -2.5, 0);
    emu_script_destroy(script);
}

struct selector_case {
    char ranks[24];
    char named[8]; /* digits of the ranks of a mesh of six */
};

ParameterizedTestParameters(script_read, selector_names_its_ranks)
{
    static struct selector_case cases[] = {
        {"3", "3"},           {"1-3", "123"}, {"\"1-3\"", "123"}, {"all", "012345"},
        {"even", "024"},      {"odd", "135"}, {"[0, 4]", "04"},   {"[1, \"3-4\"]", "134"},
        {"[odd, 0]", "0135"}, {"5-5", "5"},
    };
    return cr_make_param_array(struct selector_case, cases, sizeof cases / sizeof cases[0]);
}

ParameterizedTest(const struct selector_case *param, script_read, selector_names_its_ranks)
{
    char text[128], named[8] = "";
    snprintf(text, sizeof text, "mesh: dp=3,tp=2\nprogram:\n- ranks: %s\n  do: []\n", param->ranks);
    struct emu_script *script = read_good(text);
    for (uint32_t rank = 0, n = 0; rank < 6; rank++)
        if (emu_script_entry_of(script, rank))
            named[n++] = (char)('0' + rank);
    cr_expect_str_eq(named, param->named);
    emu_script_destroy(script);
}

Test(script_read, groups_keep_the_order_of_their_members)
{
    struct emu_script *script = read_good("mesh: tp=4\nprogram:\n- ranks: all\n  do:\n"
                                          "  - barrier: {over: rev}\ngroups: {rev: [3, 1, 0]}\n");
    uint32_t id = emu_script_group(script, only_op(script), 0);
    struct emu_group group = emu_roster_group(&script->roster, id);
    cr_expect_eq(group.size, 3);
    cr_expect_eq(emu_group_member(&group, 0), 3);
    cr_expect_eq(emu_group_member(&group, 2), 0);
    cr_expect_eq(emu_script_group(script, only_op(script), 2), id, "rank 2 is no member of it");
    emu_script_destroy(script);
}

Test(script_read, axis_lists_as_text_and_as_list_are_one_group)
{
    struct emu_script *script =
        read_good("mesh: dp=2,tp=2,pp=2\nprogram:\n- ranks: all\n  do:\n"
                  "  - barrier: {over: [tp, dp]}\n  - barrier: {over: \"tp, dp\"}\n"
                  "  - barrier: {over: [dp, tp]}\n  - barrier: {over: world}\n");
    const struct emu_script_op *op = emu_script_entry_of(script, 0)->ops;
    cr_expect_eq(op[0].family, op[1].family);
    cr_expect_neq(op[0].family, op[2].family);
    cr_expect_eq(op[3].family, 0);
    struct emu_group group = emu_roster_group(&script->roster, emu_script_group(script, &op[0], 5));
    cr_expect_eq(group.size, 4);
    cr_expect(emu_group_contains(&group, 5));
    emu_script_destroy(script);
}

Test(script_read, wrong_calls_are_no_errors_of_the_text)
{
    struct emu_script *script =
        read_good("mesh: dp=2,tp=2\ngroups: {low: [0, 1]}\nprogram:\n- ranks: 3\n  do:\n"
                  "  - all_reduce: {over: low, count: -4}\n"
                  "  - broadcast: {over: tp, count: 1, root: 7}\n"
                  "  - reduce: {over: tp, count: 1, root: -1, async: a}\n"
                  "  - send: {to: 99, count: 0}\n  - recv: {from: -1, count: 0}\n");
    emu_script_destroy(script);
}

/* Lines of the ops that a rank executes. */
static void walk_lines(const struct emu_script *script, char *out, size_t size)
{
    struct emu_script_walk walk;
    const struct emu_script_op *op;
    size_t used = 0;
    emu_script_walk_init(&walk, emu_script_entry_of(script, 0));
    while ((op = emu_script_walk_next(&walk)) && used + 2 < size)
        out[used++] = (char)('a' + op->line - 5);
    out[used] = '\0';
}

Test(script_read, walk_unrolls_nested_repeats)
{
    char lines[64];
    struct emu_script *script = read_good("mesh: dp=1\nprogram:\n- ranks: 0\n  do:\n"
                                          "  - compute: 1ns\n" /* a */
                                          "  - repeat: {times: 2, do: [\n"
                                          "     {sleep: 1ns},\n" /* c */
                                          "     {repeat: {times: 3, do: [\n"
                                          "       {compute: 1ns}]}},\n" /* e */
                                          "     {sleep: 1ns}]}\n"       /* f */
                                          "  - exit: 0\n");             /* g */
    walk_lines(script, lines, sizeof lines);
    cr_expect_str_eq(lines, "aceeefceeefg");
    cr_expect_eq(emu_script_entry_of(script, 0)->steps, 12);
    emu_script_destroy(script);
}

Test(script_read, repeats_of_nothing_cost_nothing)
{
    char lines[8];
    struct emu_script *script = read_good(
        "mesh: dp=1\nprogram:\n- ranks: 0\n  do:\n"
        "  - repeat: {times: 1000000000000, do: [{repeat: {times: 0, do: [spin: true]}}]}\n"
        "  - repeat: {times: 1000000000000, do: []}\n"
        "  - exit: 0\n");
    walk_lines(script, lines, sizeof lines);
    cr_expect_str_eq(lines, "c");
    emu_script_destroy(script);
}

Test(script_read, results_are_counted_without_running)
{
    struct emu_script *script =
        read_good("mesh: dp=1\nprogram:\n- ranks: 0\n  do:\n"
                  "  - repeat: {times: 1000, do: [{repeat: {times: 1000, do: ["
                  "{all_reduce: {over: dp, count: 1}}, {barrier: {over: dp}}]}}]}\n");
    cr_expect_eq(emu_script_entry_of(script, 0)->results, 1000000);
    cr_expect_eq(emu_script_entry_of(script, 0)->steps, 2000000);
    emu_script_destroy(script);
}

Test(script_read, waits_find_names_that_stand_behind_them)
{
    struct emu_script *script =
        read_good("mesh: tp=2\nprogram:\n- ranks: all\n  do:\n"
                  "  - repeat: {times: 2, do: [{wait: [b, a]},"
                  " {barrier: {over: tp, async: a}}, {barrier: {over: tp, async: b}}]}\n");
    const struct emu_script_entry *entry = emu_script_entry_of(script, 0);
    const struct emu_script_op *body = entry->ops[0].body;
    cr_assert_eq(entry->name_count, 2);
    cr_assert_eq(body[0].wait_count, 2);
    cr_expect_str_eq(entry->names[body[0].waits[0]], "b");
    cr_expect_eq(body[0].waits[1], body[1].handle);
    emu_script_destroy(script);
}

/* Text of the program of rank 0 and what is said about it. */
struct refusal_case {
    char op[96];
    char says[128];
};

ParameterizedTestParameters(script_read, wrong_words_are_refused)
{
    static struct refusal_case cases[] = {
        {"all_redcue: {over: tp, count: 1}", "s.yaml:5:5: error: unknown op 'all_redcue'"},
        {"all_redcue: {over: tp, count: 1}", "did you mean 'all_reduce'?"},
        {"barrier: {ovr: tp}", "unknown field 'ovr' in 'barrier'"},
        {"barrier: {ovr: tp}", "did you mean 'over'?"},
        {"barrier: {over: tp, count: 3}", "no use for 'count' in 'barrier'"},
        {"barrier: {}", "'barrier' needs 'over'"},
        {"barrier: 7", "'barrier' must be a mapping of its fields, not '7'"},
        {"all_gather: {over: tp}", "'all_gather' needs 'count'"},
        {"send: {count: 1}", "'send' needs 'to'"},
        {"all_reduce: {over: tpp, count: 1}", "s.yaml:5:24: error: no group 'tpp'"},
        {"all_reduce: {over: [tp, dp, tp], count: 1}", "tp"},
        {"all_reduce: {over: [], count: 1}", "'over' must be an axis"},
        {"all_reduce: {over: tp, count: 1.5}", "'count' must be a whole number, not '1.5'"},
        {"all_reduce: {over: tp, count: 010}", "'count' must be a whole number, not '010'"},
        {"all_reduce: {over: tp, count: 99999999999999}", "from -9223372036854775808 to 1099"},
        {"all_reduce: {over: tp, count: 1, dtype: f33}", "did you mean 'f32'?"},
        {"all_reduce: {over: tp, count: 1, op: mean}", "'op' must be one of: sum, avg, min, max"},
        {"send: {to: 1, count: 1, tag: 3000000000}", "'tag' is 3000000000; from -2147483648"},
        {"wait: nothing", "these ranks start no call with async: nothing"},
        {"wait: {}", "'wait' must be the name of an async call"},
        {"compute: 5", "add the unit"},
        {"spin: false", "'spin' must be true, not 'false'"},
        {"exit: 256", "'exit' is 256; from 0 to 255 is allowed"},
        {"kill: SIGHUP", "'kill' must be one of: SIGKILL, SIGSEGV, SIGABRT"},
        {"repeat: {times: -1, do: []}", "'times' is -1; from 0 to"},
        {"repeat: {times: 1}", "'repeat' needs 'do'"},
        {"repeat: {times: 1, do: 3}", "'do' must be a list of ops, not '3'"},
        {"data: {value: .nan}", "'value' must be a finite number"},
        {"barrier: {over: tp}\n    send: {to: 1, count: 1}", "'send' stands beside 'barrier'"},
        {"sleep: 1s\n    cont_after: 1s", "'cont_after' stands beside 'sleep'"},
        {"barrier: {over: tp, async: []}", "'async' must be a name"},
        {"repeat: {times: 1048577, do: [{recv: {from: 1, count: 1}}]}",
         "1048577 calls of a rank would report a value; 1048576 are allowed"},
    };
    return cr_make_param_array(struct refusal_case, cases, sizeof cases / sizeof cases[0]);
}

ParameterizedTest(const struct refusal_case *param, script_read, wrong_words_are_refused)
{
    char text[256];
    snprintf(text, sizeof text, "mesh: dp=2,tp=2\nprogram:\n- ranks: 0\n  do:\n  - %s\n",
             param->op);
    struct reading r = read_script(text);
    cr_expect_eq(r.status, EMU_EPARSE);
    cr_expect(strstr(emu_text_get(&r.diagnostics), param->says), "'%s' is not in: %s", param->says,
              emu_text_get(&r.diagnostics));
    emu_text_finish(&r.diagnostics);
}

struct top_case {
    char text[160];
    char says[96];
};

ParameterizedTestParameters(script_read, wrong_scripts_are_refused)
{
    static struct top_case cases[] = {
        {"", "a script is a mapping of these keys"},
        {"[]", "a script is a mapping of these keys"},
        {"program: []", "'mesh' is missing"},
        {"mesh: tp=2", "'program' is missing"},
        {"mesh: tp=0\nprogram: []", "error"},
        {"mesh: tp=70000\nprogram: []", "a script may have 65536"},
        {"mesh: tp=2\nprogam: []", "did you mean 'program'?"},
        {"mesh: tp=2\nprogram: 3", "'program' must be a list of {ranks, do}, not '3'"},
        {"mesh: tp=2\nsemantics: lax\nprogram: []", "must be one of: strict, buffered"},
        {"mesh: tp=2\nprogram: [{ranks: 2, do: []}]", "no rank 2: the mesh has ranks 0 to 1"},
        {"mesh: tp=2\nprogram: [{ranks: [0, 0], do: []}]", "rank 0 is named already"},
        {"mesh: tp=2\nprogram: [{ranks: 0, do: []}, {ranks: all, do: []}]",
         "rank 0 is named already"},
        {"mesh: tp=2\nprogram: [{ranks: 1-0, do: []}]", "'1-0' runs backwards"},
        {"mesh: tp=2\nprogram: [{ranks: evn, do: []}]", "did you mean 'even'?"},
        {"mesh: tp=2\nprogram: [{do: []}]", "an entry of 'program' needs 'ranks'"},
        {"mesh: tp=2\nprogram: [{ranks: 0}]", "an entry of 'program' needs 'do'"},
        {"mesh: tp=2\ngroups: {tp: [0]}\nprogram: []", "this one is an axis"},
        {"mesh: tp=2\ngroups: {world: [0]}\nprogram: []", "this one is reserved"},
        {"mesh: tp=2\ngroups: {a: [0, 0]}\nprogram: []", "rank 0 is in the group twice"},
        {"mesh: tp=2\ngroups: {a: [2]}\nprogram: []", "no rank 2"},
        {"mesh: tp=2\ngroups: {a: []}\nprogram: []", "'a' must be a list of one rank or more"},
        {"mesh: tp=2\ngroups: {\"a,b\": [0]}\nprogram: []", "without blanks and commas"},
    };
    return cr_make_param_array(struct top_case, cases, sizeof cases / sizeof cases[0]);
}

ParameterizedTest(const struct top_case *param, script_read, wrong_scripts_are_refused)
{
    struct reading r = read_script(param->text);
    cr_expect_eq(r.status, EMU_EPARSE);
    cr_expect(strstr(emu_text_get(&r.diagnostics), param->says), "'%s' is not in: %s", param->says,
              emu_text_get(&r.diagnostics));
    emu_text_finish(&r.diagnostics);
}

Test(script_read, all_mistakes_are_told_in_one_go)
{
    struct reading r = read_script("mesh: tp=2\nprogram:\n- ranks: 9\n  do:\n  - a: {}\n  - b: {}\n"
                                   "- ranks: 0\n  do:\n  - exit: -1\n");
    unsigned errors = 0;
    for (const char *at = emu_text_get(&r.diagnostics); (at = strstr(at, "error:")); at++)
        errors++;
    cr_expect_eq(errors, 4, "%s", emu_text_get(&r.diagnostics));
    emu_text_finish(&r.diagnostics);
}

Test(script_read, more_names_than_a_thousand_are_refused)
{
    struct emu_text text = {0};
    emu_text_puts(&text, "mesh: tp=2\nprogram:\n- ranks: 0\n  do:\n");
    for (int i = 0; i <= EMU_SCRIPT_MAX_NAMES; i++)
        emu_text_printf(&text, "  - barrier: {over: tp, async: n%d}\n", i);
    struct reading r = read_script(emu_text_get(&text));
    cr_expect(strstr(emu_text_get(&r.diagnostics), "more than 1000 async names"));
    emu_text_finish(&r.diagnostics);
    emu_text_finish(&text);
}
