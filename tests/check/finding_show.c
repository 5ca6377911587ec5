/* Exact texts: what a person reads is what is tested. */
#include "check/finding_build.h"
#include "check/finding_values.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static struct emu_mesh mesh;
static struct emu_findings findings;

static void set_up(void)
{
    cr_assert_eq(emu_mesh_parse("dp=2,tp=2", &mesh, NULL), EMU_OK);
}

static void tear_down(void)
{
    emu_findings_finish(&findings);
    emu_mesh_finish(&mesh);
}

TestSuite(check_finding_text, .init = set_up, .fini = tear_down);

static void expect_text(const struct emu_finding *finding, const char *wanted)
{
    struct emu_text text = {0};
    emu_finding_to_text(finding, &mesh, &text);
    cr_expect_str_eq(emu_text_get(&text), wanted, "got\n%s\nwanted\n%s", emu_text_get(&text),
                     wanted);
    emu_text_finish(&text);
}

static struct emu_call_view all_reduce(uint64_t count, const char *label, uint32_t line)
{
    struct emu_call_view call = {
        .kind = EMU_ALL_REDUCE, .group = 4, .count = count, .dtype = EMU_F32, .op = EMU_SUM};
    snprintf(call.group_name, sizeof call.group_name, "tp");
    snprintf(call.label, sizeof call.label, "%s", label);
    snprintf(call.file, sizeof call.file, "step.c");
    call.line = line;
    return call;
}

Test(check_finding_text, a_mismatch_is_a_table_with_the_odd_rank_marked)
{
    struct emu_roster roster;
    emu_roster_init(&roster, &mesh);
    uint32_t family, group;
    cr_assert_eq(emu_roster_find(&roster, "tp", &family), EMU_OK);
    cr_assert_eq(emu_roster_group_of(&roster, family, 2, &group), EMU_OK);
    struct emu_finding *finding = emu_findings_add(&findings, EMU_CLASS_COUNT_MISMATCH);
    emu_finding_message(finding, "the members ask for different counts; no data was written");
    emu_finding_group(finding, &roster, group);
    emu_finding_index(finding, 7);
    struct emu_call_view right = all_reduce(4, "loss", 31), wrong = all_reduce(1000, "", 40);
    emu_finding_member(finding, 2, "in this call", &right);
    emu_finding_member(finding, 3, "in this call", &wrong);
    emu_finding_culprit(finding, 3);
    emu_finding_consequence(finding, "rank 0 waits for rank 2");
    finding->after_ns = 1234567;
    emu_finding_set_text(&finding->replay, "meshemu script bad.yaml");
    expect_text(finding,
                "  COUNT_MISMATCH: the members ask for different counts; no data was written\n"
                "    group tp {2, 3}, call 7\n"
                "       rank  coordinate  state         call        group  count  dtype  op   label"
                "  at\n"
                "          2  dp=1,tp=0   in this call  all_reduce  tp         4  f32    sum  loss "
                "  step.c:31\n"
                "    >     3  dp=1,tp=1   in this call  all_reduce  tp      1000  f32    sum       "
                "  step.c:40\n"
                "    culprit: rank 3 (dp=1,tp=1)\n"
                "    consequence: rank 0 waits for rank 2\n"
                "    found after: 1.235 ms\n"
                "    replay: meshemu script bad.yaml\n");
    emu_roster_finish(&roster);
}

Test(check_finding_text, times_have_four_digits_and_a_unit)
{
    static const struct {
        uint64_t ns;
        const char *text;
    } rows[] = {{0, "0 ns"},         {1, "1 ns"},         {127200, "127.2 µs"},
                {2500000, "2.5 ms"}, {1000000000, "1 s"}, {INT64_MAX, "9223372037 s"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct emu_text text = {0};
        emu_delay_text(rows[i].ns, &text);
        cr_expect_str_eq(emu_text_get(&text), rows[i].text);
        emu_text_finish(&text);
    }
}

Test(check_finding_text, a_tie_is_undecided)
{
    struct emu_finding *finding = emu_findings_add(&findings, EMU_CLASS_ROOT_MISMATCH);
    const uint32_t ranks[] = {0, 1};
    emu_finding_message(finding, "two roots");
    emu_finding_ranks(finding, ranks, 2);
    finding->undecided = true;
    finding->after_ns = 4100;
    expect_text(finding, "  ROOT_MISMATCH: two roots\n"
                         "    ranks {0, 1} at (dp=0,tp=0), (dp=0,tp=1)\n"
                         "    culprit: undecided: no minority among them\n"
                         "    found after: 4.1 µs\n");
}

Test(check_finding_text, a_wrong_value_has_ratio_and_reason)
{
    struct emu_finding *finding = emu_findings_add(&findings, EMU_CLASS_ORACLE_MISMATCH);
    emu_finding_message(finding, "wrong");
    emu_finding_parameter(finding, "embed.weight");
    emu_finding_parameter(finding, "head.weight");
    emu_finding_culprit(finding, 0);
    emu_finding_culprit(finding, 2);
    emu_finding_set_text(&finding->expected, "1/4");
    emu_finding_set_text(&finding->got, "1/2");
    emu_finding_set_text(&finding->ratio, "2");
    emu_finding_set_text(&finding->explanation, "2 = size of tp");
    expect_text(finding, "  ORACLE_MISMATCH: wrong\n"
                         "    culprits: rank 0 (dp=0,tp=0), rank 2 (dp=1,tp=0)\n"
                         "    parameters: embed.weight, head.weight\n"
                         "    expected 1/4, got 1/2: ratio 2 = size of tp\n");
}

/* A ledger finding with two coefficients; the caller adds the rest. */
static struct emu_finding *ledger_finding(const char *first, const char *second)
{
    struct emu_finding *finding = emu_findings_add(&findings, EMU_CLASS_TOKEN_WEIGHT);
    emu_finding_message(finding, "wrong");
    emu_finding_coefficient(finding, "dp=0", first, 2);
    emu_finding_coefficient(finding, "dp=1", second, 1);
    emu_finding_set_text(&finding->expected, "1/8");
    return finding;
}

Test(check_finding_text, one_coefficient_for_all_is_told_once)
{
    struct emu_finding *finding = ledger_finding("1/2", "1/2");
    emu_finding_set_text(&finding->got, "1/2");
    emu_finding_set_text(&finding->ratio, "4");
    emu_finding_set_text(&finding->explanation, "4 = size of dp\ncause: a\nfactors: b");
    expect_text(finding, "  TOKEN_WEIGHT: wrong\n"
                         "    every token counts 1/2, right is 1/8: ratio 4 = size of dp\n"
                         "    cause: a\n"
                         "    factors: b\n");
}

Test(check_finding_text, different_coefficients_stand_beside_their_tokens)
{
    struct emu_finding *finding = ledger_finding("1/12", "1/4");
    finding->coefficient_rank = 3;
    emu_finding_set_text(&finding->got, "1/12 to 1/4");
    emu_finding_set_text(&finding->explanation, "a mean of means");
    expect_text(finding, "  TOKEN_WEIGHT: wrong\n"
                         "    coefficients on rank 3: dp=0: 1/12 (2 tokens), dp=1: 1/4 (1 token)\n"
                         "    tokens count 1/12 to 1/4, right is 1/8\n"
                         "    why: a mean of means\n");
}

Test(check_finding_text, a_ratio_without_a_product_has_its_reason_below)
{
    struct emu_finding *finding = ledger_finding("1/6", "1/6");
    emu_finding_set_text(&finding->got, "1/6");
    emu_finding_set_text(&finding->ratio, "4/3");
    emu_finding_set_text(&finding->explanation, "no product of known sizes explains 4/3");
    expect_text(finding, "  TOKEN_WEIGHT: wrong\n"
                         "    every token counts 1/6, right is 1/8: ratio 4/3\n"
                         "    why: no product of known sizes explains 4/3\n");
}

Test(check_finding_text, a_note_about_values_is_one_line)
{
    struct emu_finding *finding = ledger_finding("1/8", "1/8");
    finding->note = true;
    emu_finding_set_text(&finding->explanation, "neutral");
    expect_text(finding, "  TOKEN_WEIGHT (note): wrong\n");
}

Test(check_finding_text, of_many_sources_eight_are_shown)
{
    struct emu_finding *finding = ledger_finding("0", "1/8");
    char name[16];
    for (int i = 2; i < 10; i++) {
        snprintf(name, sizeof name, "dp=%d", i);
        emu_finding_coefficient(finding, name, "1/8", 0);
    }
    expect_text(finding,
                "  TOKEN_WEIGHT: wrong\n"
                "    coefficients: dp=0: 0 (2 tokens), dp=1: 1/8 (1 token), dp=2: 1/8, dp=3: 1/8, "
                "dp=4: 1/8, dp=5: 1/8, dp=6: 1/8, dp=7: 1/8, ... (10 sources)\n"
                "    expected 1/8\n");
}

Test(check_finding_text, waits_are_edges)
{
    struct emu_finding *finding = emu_findings_add(&findings, EMU_CLASS_DEADLOCK);
    uint32_t one[] = {1}, two[] = {0, 3};
    struct emu_wait_view first = {0, one, 1, 1, 5, EMU_ALL_REDUCE};
    struct emu_wait_view second = {1, two, 2, 2, 6, EMU_BARRIER};
    emu_finding_message(finding, "a circle");
    emu_finding_wait(finding, &first);
    emu_finding_wait(finding, &second);
    finding->undecided = true;
    expect_text(finding, "  DEADLOCK: a circle\n"
                         "    rank 0 waits for rank 1 in all_reduce, call 5\n"
                         "    rank 1 waits for ranks 0, 3 in barrier, call 6\n"
                         "    culprit: undecided: no minority among them\n");
}

Test(check_finding_text, a_message_shows_peer_and_tag)
{
    struct emu_finding *finding = emu_findings_add(&findings, EMU_CLASS_TAG_MISMATCH);
    struct emu_call_view call = {
        .kind = EMU_SEND, .count = 2, .dtype = EMU_U8, .peer = 3, .tag = -1};
    emu_finding_message(finding, "tags differ");
    emu_finding_member(finding, 1, "waiting", &call);
    finding->note = true;
    expect_text(finding, "  TAG_MISMATCH (note): tags differ\n"
                         "    rank  coordinate  state    call  count  dtype  peer  tag\n"
                         "       1  dp=0,tp=1   waiting  send      2  u8        3   -1\n");
}

Test(check_finding_text, of_a_large_group_the_usual_members_are_counted)
{
    struct emu_mesh large;
    cr_assert_eq(emu_mesh_parse("dp=100", &large, NULL), EMU_OK);
    struct emu_finding *finding = emu_findings_add(&findings, EMU_CLASS_COUNT_MISMATCH);
    emu_finding_message(finding, "counts");
    struct emu_roster roster;
    emu_roster_init(&roster, &large);
    emu_finding_group(finding, &roster, 0);
    for (uint32_t rank = 0; rank < 100; rank++) {
        struct emu_call_view call = all_reduce(rank == 42 ? 5 : 4, "", 1);
        emu_finding_member(finding, rank, "in this call", &call);
    }
    emu_finding_culprit(finding, 42);
    struct emu_text text = {0};
    emu_finding_to_text(finding, &large, &text);
    cr_expect_str_eq(
        emu_text_get(&text),
        "  COUNT_MISMATCH: counts\n"
        "    group world {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, ... 99 (100 ranks)}\n"
        "       rank  coordinate  state         call        group  count  dtype  op   at\n"
        "          0  dp=0        in this call  all_reduce  tp         4  f32    sum  step.c:1\n"
        "    >    42  dp=42       in this call  all_reduce  tp         5  f32    sum  step.c:1\n"
        "    and 98 more like rank 0\n"
        "    culprit: rank 42 (dp=42)\n",
        "got\n%s", emu_text_get(&text));
    emu_text_finish(&text);
    emu_roster_finish(&roster);
    emu_mesh_finish(&large);
}

Test(check_finding_text, what_many_ranks_did_alike_is_one_line)
{
    struct emu_finding *finding = emu_findings_add(&findings, EMU_CLASS_CRASH);
    emu_finding_message(finding, "rank 2 crashed");
    emu_finding_consequence(finding, "rank 1 (dp=1) waited for rank 2");
    for (uint32_t rank = 13; rank > 2; rank--)
        emu_finding_consequence(finding, "rank %" PRIu32 " (dp=%" PRIu32 ") was ended", rank, rank);
    for (uint32_t rank = 14; rank < 17; rank++)
        emu_finding_consequence(finding, "rank %" PRIu32 " (dp=%" PRIu32 ") exited 9", rank, rank);
    expect_text(finding, "  CRASH: rank 2 crashed\n"
                         "    consequence: rank 1 (dp=1) waited for rank 2\n"
                         "    consequence: 11 ranks (3-13) were ended\n"
                         "    consequence: rank 14 (dp=14) exited 9\n"
                         "    consequence: rank 15 (dp=15) exited 9\n"
                         "    consequence: rank 16 (dp=16) exited 9\n");
}

Test(check_finding_text, of_very_many_consequences_the_first_are_shown)
{
    struct emu_finding *finding = emu_findings_add(&findings, EMU_CLASS_CRASH);
    for (uint32_t i = 0; i < 40; i++)
        emu_finding_consequence(finding, "the same in step %" PRIu32, i);
    struct emu_text text = {0};
    emu_finding_to_text(finding, &mesh, &text);
    cr_expect_not_null(strstr(emu_text_get(&text), "    consequence: the same in step 15\n"
                                                   "    and 24 more consequences\n"));
    emu_text_finish(&text);
}

Test(check_finding_text, control_characters_and_strange_values_do_no_harm)
{
    struct emu_finding *finding = emu_findings_add(&findings, EMU_CLASS_INTERNAL);
    struct emu_call_view call = {.kind = (enum emu_kind)99,
                                 .dtype = (enum emu_dtype)99,
                                 .op = (enum emu_op)99,
                                 .label = "a\033[2J"};
    emu_finding_message(finding, "line\nbreak");
    emu_finding_member(finding, 4000000000u, "odd\tstate", &call);
    emu_finding_culprit(finding, 4000000000u);
    expect_text(finding,
                "  INTERNAL: line?break\n"
                "             rank  coordinate        state      call  count  dtype  label\n"
                "    >  4000000000  outside the mesh  odd?state  ?         0  ?      a?[2J\n"
                "    culprit: rank 4000000000 (outside the mesh)\n");
}

Test(check_finding_text, an_empty_finding_is_still_a_line)
{
    expect_text(emu_findings_add(&findings, EMU_CLASS_CRASH),
                "  CRASH: no memory was left to say more\n");
}
