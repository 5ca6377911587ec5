/* Which buffered scripts would get stuck under strict rules, and who would wait for whom? */
#include "check/script_replay.h"

#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <stdio.h>
#include <string.h>

TestSuite(script_replay, .timeout = 30);

struct replay_case {
    char fact[64];
    char program[360]; /* of tp=4, in flow style */
    char circle[8];    /* digits of the ranks; "": it gets through */
};

#define ALL_BARRIER "{ranks: all, do: [{barrier: {over: tp}}]}"

static struct replay_case cases[] = {
    {"nothing to wait for", ALL_BARRIER, ""},
    {"both send first",
     "{ranks: 0, do: [{send: {to: 1, count: 1}}, {recv: {from: 1, count: 1}}]},"
     "{ranks: 1, do: [{send: {to: 0, count: 1}}, {recv: {from: 0, count: 1}}]}",
     "01"},
    {"one receives first",
     "{ranks: 0, do: [{send: {to: 1, count: 1}}, {recv: {from: 1, count: 1}}]},"
     "{ranks: 1, do: [{recv: {from: 0, count: 1}}, {send: {to: 0, count: 1}}]}",
     ""},
    {"sendrecv is both at once",
     "{ranks: 0, do: [{sendrecv: {to: 1, from: 1, count: 1}}]},"
     "{ranks: 1, do: [{sendrecv: {to: 0, from: 0, count: 1}}]}",
     ""},
    {"async sends are not waited for at once",
     "{ranks: 0, do: [{send: {to: 1, count: 1, async: a}}, {recv: {from: 1, count: 1}},"
     " {wait: a}]},"
     "{ranks: 1, do: [{send: {to: 0, count: 1, async: a}}, {recv: {from: 0, count: 1}},"
     " {wait: a}]}",
     ""},
    {"async sends waited for before the receive",
     "{ranks: 0, do: [{send: {to: 1, count: 1, async: a}}, {wait: a},"
     " {recv: {from: 1, count: 1}}]},"
     "{ranks: 1, do: [{send: {to: 0, count: 1, async: a}}, {wait: a},"
     " {recv: {from: 0, count: 1}}]}",
     "01"},
    {"a message to oneself",
     "{ranks: 2, do: [{send: {to: 2, count: 1}}, {recv: {from: 2, count: 1}}]}", "2"},
    {"tags in another order",
     "{ranks: 0, do: [{send: {to: 1, count: 1, tag: 1}}, {send: {to: 1, count: 1, tag: 2}}]},"
     "{ranks: 1, do: [{recv: {from: 0, count: 1, tag: 2}}, {recv: {from: 0, count: 1, tag: "
     "1}}]}",
     "01"},
    {"a send across a barrier",
     "{ranks: 0, do: [{send: {to: 1, count: 1}}, {barrier: {over: tp}}]},"
     "{ranks: 1, do: [{barrier: {over: tp}}, {recv: {from: 0, count: 1}}]},"
     "{ranks: 2-3, do: [{barrier: {over: tp}}]}",
     "01"},
    {"who waits for the circle is not in it",
     "{ranks: 0, do: [{send: {to: 1, count: 1}}, {recv: {from: 1, count: 1}},"
     " {send: {to: 3, count: 1}}]},"
     "{ranks: 1, do: [{send: {to: 0, count: 1}}, {recv: {from: 0, count: 1}}]},"
     "{ranks: 3, do: [{recv: {from: 0, count: 1}}]}",
     "01"},
    {"two circles are one note",
     "{ranks: 0, do: [{send: {to: 1, count: 1}}, {recv: {from: 1, count: 1}}]},"
     "{ranks: 1, do: [{send: {to: 0, count: 1}}, {recv: {from: 0, count: 1}}]},"
     "{ranks: 2, do: [{send: {to: 3, count: 1}}, {recv: {from: 3, count: 1}}]},"
     "{ranks: 3, do: [{send: {to: 2, count: 1}}, {recv: {from: 2, count: 1}}]}",
     "0123"},
    {"the last round of a loop",
     "{ranks: 0, do: [{repeat: {times: 50, do: [{send: {to: 1, count: 1}}]}},"
     " {send: {to: 1, count: 1, tag: 9}}, {recv: {from: 1, count: 1}}]},"
     "{ranks: 1, do: [{repeat: {times: 50, do: [{recv: {from: 0, count: 1}}]}},"
     " {send: {to: 0, count: 1}}, {recv: {from: 0, count: 1, tag: 9}}]}",
     "01"},
    {"an exit ends a program",
     "{ranks: 0, do: [{exit: 0}, {send: {to: 1, count: 1}}]},"
     "{ranks: 1, do: [{repeat: {times: 0, do: [{send: {to: 0, count: 1}}]}}]}",
     ""},
};

ParameterizedTestParameters(script_replay, circle_is_found)
{
    return cr_make_param_array(struct replay_case, cases, sizeof cases / sizeof cases[0]);
}

static struct emu_script *make_script(const char *program)
{
    char text[512];
    struct emu_script *script = NULL;
    struct emu_text diagnostics = {0};
    snprintf(text, sizeof text, "mesh: tp=4\nsemantics: buffered\nprogram: [%s]\n", program);
    struct emu_script_params params = {.name = "s.yaml", .text = text, .size = strlen(text)};
    cr_assert_eq(emu_script_read(&params, &diagnostics, &script), EMU_OK, "%s",
                 emu_text_get(&diagnostics));
    emu_text_finish(&diagnostics);
    return script;
}

ParameterizedTest(const struct replay_case *param, script_replay, circle_is_found)
{
    struct emu_script *script = make_script(param->program);
    struct emu_script_replay replay;
    struct emu_findings findings = {0};
    char circle[8] = "";
    cr_assert_eq(emu_script_replay(script, &replay, &findings), EMU_OK);
    cr_expect_eq(replay.verdict, param->circle[0] ? EMU_REPLAY_STUCK : EMU_REPLAY_PASS, "%s",
                 param->fact);
    cr_assert_eq(findings.count, param->circle[0] ? 1 : 0, "%s", param->fact);
    if (findings.count > 0) {
        const struct emu_finding *note = &findings.items[0];
        for (size_t i = 0; i < note->group_size; i++)
            circle[i] = (char)('0' + note->group[i]);
        cr_expect_eq(note->class_id, EMU_CLASS_UNSAFE_BUFFERING);
        cr_expect(note->note && note->undecided && note->culprit_count == 0);
        cr_expect_eq(note->wait_count, note->group_size);
        for (size_t i = 0; i < note->wait_count; i++)
            cr_expect_gt(note->waits[i].target_count, 0);
    }
    cr_expect_str_eq(circle, param->circle, "%s", param->fact);
    emu_findings_finish(&findings);
    emu_script_destroy(script);
}

Test(script_replay, edges_say_call_and_target)
{
    struct emu_script *script =
        make_script("{ranks: 0, do: [{barrier: {over: tp}}, {send: {to: 1, count: 1, tag: 5}},"
                    " {barrier: {over: tp}}]},"
                    "{ranks: 1, do: [{barrier: {over: tp}}, {barrier: {over: tp}},"
                    " {recv: {from: 0, count: 1, tag: 5}}]},"
                    "{ranks: 2-3, do: [{barrier: {over: tp}}, {barrier: {over: tp}}]}");
    struct emu_script_replay replay;
    struct emu_findings findings = {0};
    cr_assert_eq(emu_script_replay(script, &replay, &findings), EMU_OK);
    cr_assert_eq(findings.count, 1);
    const struct emu_wait_view *waits = findings.items[0].waits;
    cr_assert_eq(findings.items[0].wait_count, 2);
    cr_expect_eq(waits[0].kind, EMU_SEND);
    cr_assert_eq(waits[0].target_count, 1);
    cr_expect_eq(waits[0].targets[0], 1);
    cr_expect_eq(waits[1].kind, EMU_BARRIER);
    cr_expect_eq(waits[1].index, 1);
    cr_assert_eq(waits[1].target_count, 1);
    cr_expect_eq(waits[1].targets[0], 0);
    emu_findings_finish(&findings);
    emu_script_destroy(script);
}

Test(script_replay, too_long_a_program_is_given_up)
{
    struct emu_script *script = make_script(
        "{ranks: all, do: [{repeat: {times: 1000000000000, do: [{barrier: {over: tp}}]}}]}");
    struct emu_script_replay replay;
    struct emu_findings findings = {0};
    cr_assert_eq(emu_script_replay(script, &replay, &findings), EMU_OK);
    cr_expect_eq(replay.verdict, EMU_REPLAY_TOO_LONG);
    cr_expect_eq(findings.count, 0);
    emu_script_destroy(script);
}
