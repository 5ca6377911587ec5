/* What dead ranks took with them, as people and programs read it. */
#include "report/ownership.h"
#include "report/run_json.h"
#include "result_maker.h"

#include <criterion/criterion.h>
#include <jansson.h>
#include <string.h>

static struct made_result made;

static void set_up(void)
{
    made_result_init(&made, 1);
}

static void tear_down(void)
{
    made_result_finish(&made);
}

TestSuite(report_ownership, .init = set_up, .fini = tear_down);

static void add_fault(enum emu_class class_id, uint32_t culprit)
{
    struct emu_finding *finding = emu_findings_add(&made.result.findings, class_id);
    cr_assert_not_null(finding);
    emu_finding_culprit(finding, culprit);
}

static void assert_shown(const char *want)
{
    struct emu_text out = {0};
    emu_ownership_print(&made.result, &out);
    cr_expect_str_eq(emu_text_get(&out), want, "%s", emu_text_get(&out));
    emu_text_finish(&out);
}

static json_t *read_back(void)
{
    struct emu_text text = {0};
    struct emu_json json;
    json_error_t error;
    emu_json_init_text(&json, &text);
    emu_run_to_json(&made.result, &json);
    cr_assert(emu_json_finish(&json));
    json_t *root = json_loads(emu_text_get(&text), JSON_REJECT_DUPLICATES, &error);
    cr_assert_not_null(root, "%s", error.text);
    emu_text_finish(&text);
    return root;
}

Test(report_ownership, is_not_spoken_of_where_nobody_died)
{
    add_fault(EMU_CLASS_STALL, 1);
    assert_shown("");
    json_t *root = read_back();
    cr_expect_null(json_object_get(root, "ownership"));
    json_decref(root);
}

Test(report_ownership, names_what_lost_its_last_owner)
{
    add_fault(EMU_CLASS_CRASH, 1);
    add_fault(EMU_CLASS_CRASH, 1);
    assert_shown(
        "\nownership after the death of 1 of 2 ranks (the others were ended): who held "
        "what by the plan\n"
        "  state      shard       parameters                       elements  dead  alive\n"
        "  weights    tp=1        embed.weight and 3 more              1147  1     nobody\n"
        "  weights    tp=0        embed.weight and 3 more              1147  none  0\n"
        "  weights    every rank  layers.0.norm.weight and 1 more        40  1     0\n"
        "  optimizer  tp=1        embed.weight and 3 more              1147  1     nobody\n"
        "  optimizer  tp=0        embed.weight and 3 more              1147  none  0\n"
        "  optimizer  every rank  layers.0.norm.weight and 1 more        40  1     0\n"
        "  weights: 1 of 3 shards lost the last owner, with the state of 1147 "
        "parameters\n"
        "  optimizer: 1 of 3 shards lost the last owner, with the state of 1147 "
        "parameters\n");
    json_t *root = read_back();
    json_t *own = json_object_get(root, "ownership");
    json_t *dead;
    json_t *lost;
    json_t *ranks;
    json_t *alive;
    json_int_t shards, distinct, fewest;
    cr_assert_eq(json_unpack(own, "{s:o,s:{s:I,s:I,s:o,s:I,s:[{},{s:o,s:o}]}}", "dead", &dead,
                             "weights", "shards", &shards, "distinct_alive", &distinct, "lost",
                             &lost, "fewest", &fewest, "holders", "ranks", &ranks, "alive", &alive),
                 0);
    cr_expect(json_array_size(dead) == 1 && json_integer_value(json_array_get(dead, 0)) == 1);
    cr_expect(shards == 3 && distinct == 2 && fewest == 0);
    cr_expect(json_array_size(lost) == 1 && json_integer_value(json_array_get(lost, 0)) == 1);
    cr_expect(json_array_size(ranks) == 1 && json_array_size(alive) == 0);
    cr_expect_not_null(json_object_get(own, "optimizer"));
    json_decref(root);
}

/* A rank that left by itself is as gone as one that was killed. */
Test(report_ownership, counts_ranks_that_exited_too)
{
    add_fault(EMU_CLASS_EARLY_EXIT, 0);
    add_fault(EMU_CLASS_CRASH, 1);
    struct emu_text out = {0};
    emu_ownership_print(&made.result, &out);
    cr_expect_not_null(strstr(emu_text_get(&out), "weights: 3 of 3 shards lost"), "%s",
                       emu_text_get(&out));
    emu_text_finish(&out);
}
