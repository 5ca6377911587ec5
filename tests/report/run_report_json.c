/* The JSON of made results, read back by another reader. */
#include "report/run_json.h"
#include "result_maker.h"

#include <criterion/criterion.h>
#include <jansson.h>
#include <math.h>
#include <string.h>

static struct made_result made;
static json_t *root;

static void tear_down(void)
{
    json_decref(root);
    made_result_finish(&made);
}

TestSuite(report_run_json, .fini = tear_down);

static void read_back(void)
{
    struct emu_text text = {0};
    struct emu_json json;
    emu_json_init_text(&json, &text);
    emu_run_to_json(&made.result, &json);
    cr_assert(emu_json_finish(&json));
    json_error_t error;
    root = json_loads(emu_text_get(&text), JSON_REJECT_DUPLICATES, &error);
    cr_assert_not_null(root, "%s in: %s", error.text, emu_text_get(&text));
    emu_text_finish(&text);
}

static json_t *get(json_t *object, const char *key)
{
    json_t *value = json_object_get(object, key);
    cr_assert_not_null(value, "no key %s", key);
    return value;
}

static void expect_string(json_t *object, const char *key, const char *wanted)
{
    const char *got = json_string_value(get(object, key));
    cr_assert_not_null(got, "%s is no string", key);
    cr_expect_str_eq(got, wanted);
}

static void expect_integer(json_t *object, const char *key, json_int_t wanted)
{
    cr_assert(json_is_integer(get(object, key)), "%s", key);
    cr_expect_eq(json_integer_value(get(object, key)), wanted, "%s", key);
}

Test(report_run_json, a_passed_run_has_every_part_of_the_contract)
{
    made_result_init(&made, 3);
    read_back();
    expect_string(root, "meshemu", "0.1.0");
    expect_integer(root, "schema", 1);
    expect_string(root, "command", "run");
    expect_string(root, "verdict", "pass");
    expect_string(root, "replay", "meshemu run made.yaml");
    cr_expect_eq(json_array_size(get(root, "findings")), 0);
    expect_integer(get(get(root, "config"), "model"), "hidden", 6);
    json_t *axes = get(get(root, "mesh"), "axes");
    cr_assert_eq(json_array_size(axes), 2);
    expect_string(json_array_get(axes, 1), "name", "tp");
    expect_integer(json_array_get(axes, 1), "size", 2);
    expect_integer(get(root, "mesh"), "world", 2);
    cr_expect(json_is_object(get(root, "memory")));
    cr_expect(json_is_object(get(root, "traffic")));
    expect_integer(get(root, "time"), "total_ns", 2000000);
    json_t *rank = json_array_get(get(root, "ranks"), 1);
    expect_integer(rank, "rank", 1);
    expect_integer(rank, "pid", 4811);
    expect_integer(get(rank, "coordinate"), "tp", 1);
}

Test(report_run_json, steps_carry_the_oracle_where_it_ran)
{
    made_result_init(&made, 3);
    made.steps[1].has_oracle = false;
    made.steps[2].grad_norm = (double)NAN;
    read_back();
    json_t *steps = get(root, "steps");
    cr_assert_eq(json_array_size(steps), 3);
    expect_integer(json_array_get(steps, 1), "step", 2);
    expect_integer(json_array_get(steps, 1), "tokens", 60);
    cr_expect_eq(json_number_value(get(json_array_get(steps, 0), "loss")), 4.0);
    cr_expect_eq(json_number_value(get(json_array_get(steps, 0), "oracle_loss")), 4.0 + 0x1p-50);
    cr_expect_eq(json_number_value(get(json_array_get(steps, 0), "loss_bound")), 0x1p-48);
    cr_expect_null(json_object_get(json_array_get(steps, 1), "oracle_loss"));
    cr_expect(json_is_null(get(json_array_get(steps, 2), "grad_norm")));
}

Test(report_run_json, all_eight_checks_are_there_with_status)
{
    static const char *const names[] = {"init",   "data",   "replicas", "tiling",
                                        "ledger", "oracle", "memory",   "traffic"};
    made_result_init(&made, 1);
    made.result.audit.figures[EMU_CHECK_DATA] =
        (struct emu_check_figures){.status = EMU_CHECK_FAIL, .compared = 4, .differed = 1};
    made.result.audit.figures[EMU_CHECK_ORACLE].worst = (double)INFINITY;
    read_back();
    json_t *checks = get(root, "checks");
    cr_expect_eq(json_object_size(checks), 8);
    for (size_t i = 0; i < 8; i++)
        cr_expect(json_is_string(get(get(checks, names[i]), "status")));
    expect_string(get(checks, "init"), "status", "pass");
    expect_integer(get(checks, "init"), "compared", 14);
    expect_string(get(checks, "data"), "status", "fail");
    expect_integer(get(checks, "data"), "differed", 1);
    expect_string(get(checks, "ledger"), "status", "skipped");
    expect_string(get(checks, "ledger"), "why", "checks.ledger is false");
    cr_expect(json_is_null(get(get(checks, "oracle"), "worst")));
    cr_expect_eq(json_number_value(get(get(checks, "oracle"), "largest_bound")), 1e-14);
}

/* A fault with everything that a finding can hold. */
static void add_full_finding(void)
{
    struct emu_finding *finding = emu_findings_add(&made.result.findings, EMU_CLASS_COUNT_MISMATCH);
    struct emu_call_view call = {.kind = EMU_REDUCE,
                                 .index = 7,
                                 .count = 4,
                                 .dtype = EMU_F32,
                                 .op = EMU_MAX,
                                 .root = 1,
                                 .group_name = "tp",
                                 .file = "step.c",
                                 .line = 12};
    uint32_t target = 0;
    struct emu_wait_view wait = {1, &target, 1, 0, 7, EMU_REDUCE};
    emu_finding_message(finding, "counts differ");
    emu_finding_group(finding, &made.plan->roster, 0);
    emu_finding_axis(finding, "tp");
    emu_finding_index(finding, 7);
    emu_finding_culprit(finding, 1);
    emu_finding_member(finding, 0, "in user code", NULL);
    emu_finding_member(finding, 1, "in this call", &call);
    emu_finding_wait(finding, &wait);
    emu_finding_parameter(finding, "embed.weight");
    emu_finding_consequence(finding, "rank 0 waits");
    emu_finding_set_text(&finding->ratio, "1/2");
    finding->after_ns = 1234;
}

Test(report_run_json, a_finding_names_class_place_and_values)
{
    made_result_init(&made, 1);
    add_full_finding();
    read_back();
    expect_string(root, "verdict", "fail");
    json_t *got = json_array_get(get(root, "findings"), 0);
    expect_string(got, "class", "COUNT_MISMATCH");
    expect_string(got, "severity", "fault");
    expect_string(got, "message", "counts differ");
    expect_string(got, "group_name", "world");
    cr_expect_eq(json_array_size(get(got, "group")), 2);
    cr_expect_str_eq(json_string_value(json_array_get(get(got, "axes"), 0)), "tp");
    expect_integer(got, "index", 7);
    cr_expect_eq(json_integer_value(json_array_get(get(got, "culprits"), 0)), 1);
    cr_expect(json_is_false(get(got, "undecided")));
    expect_string(got, "parameter", "embed.weight");
    cr_expect_eq(json_array_size(get(got, "parameters")), 1);
    expect_string(got, "ratio", "1/2");
    cr_expect(json_is_null(get(got, "expected")));
    cr_expect(json_is_null(get(got, "replay")));
    cr_expect_str_eq(json_string_value(json_array_get(get(got, "consequences"), 0)),
                     "rank 0 waits");
    expect_integer(got, "after_ns", 1234);
}

Test(report_run_json, a_finding_shows_members_with_calls_and_waits)
{
    made_result_init(&made, 1);
    add_full_finding();
    read_back();
    json_t *got = json_array_get(get(root, "findings"), 0);
    json_t *first = json_array_get(get(got, "members"), 0);
    json_t *second = json_array_get(get(got, "members"), 1);
    cr_expect(json_is_null(get(first, "call")));
    expect_string(first, "state", "in user code");
    expect_integer(get(second, "coordinate"), "tp", 1);
    expect_string(get(second, "call"), "kind", "reduce");
    expect_string(get(second, "call"), "op", "max");
    expect_string(get(second, "call"), "dtype", "f32");
    expect_integer(get(second, "call"), "root", 1);
    expect_integer(get(second, "call"), "line", 12);
    cr_expect_null(json_object_get(get(second, "call"), "tag"));
    json_t *edge = json_array_get(get(got, "waits"), 0);
    expect_integer(edge, "rank", 1);
    cr_expect_eq(json_integer_value(json_array_get(get(edge, "for"), 0)), 0);
    cr_expect_eq(json_array_size(get(edge, "group")), 2);
    expect_string(edge, "kind", "reduce");
}

Test(report_run_json, strange_bytes_become_valid_strings)
{
    made_result_init(&made, 0);
    struct emu_finding *finding = emu_findings_add(&made.result.findings, EMU_CLASS_INTERNAL);
    emu_finding_message(finding, "quote \" back\\slash \x01 line\n bad \xff\xc3 end");
    finding->note = true;
    struct emu_call_view call = {.kind = (enum emu_kind)77, .group = UINT32_MAX};
    memset(call.label, 'x', sizeof call.label);
    memset(call.file, 0xfe, sizeof call.file);
    emu_finding_member(finding, 9, "\xf0\x28", &call);
    read_back();
    json_t *got = json_array_get(get(root, "findings"), 0);
    expect_string(got, "severity", "note");
    expect_string(got, "message",
                  "quote \" back\\slash \x01 line\n bad \xef\xbf\xbd\xef\xbf\xbd end");
    json_t *member = json_array_get(get(got, "members"), 0);
    cr_expect(json_is_null(get(member, "coordinate")));
    cr_expect_eq(strlen(json_string_value(get(get(member, "call"), "label"))), 32);
    cr_expect(json_is_null(get(got, "index")));
    cr_expect(json_is_null(get(got, "after_ns")));
}

Test(report_run_json, a_run_without_processes_has_no_pids)
{
    made_result_init(&made, 0);
    made.result.job.ranks = NULL;
    read_back();
    cr_expect(json_is_null(get(json_array_get(get(root, "ranks"), 0), "pid")));
    cr_expect_eq(json_array_size(get(root, "steps")), 0);
}
