/* Two witnesses of random programs: the replay, which reasons, and the ranks, which run.
 *
 * Programs of barriers and messages, blocking and async, in an order that nobody planned: many get
 * stuck, in circles over several groups or behind a rank that has ended. Where the replay of the
 * strict program lets every rank get to its end, the run must have no finding; where it does not,
 * the run must end by itself with a fault, and say that somebody waited in vain.
 */
#include "job_maker.h"
#include "run/script_run.h"

#include <criterion/parameterized.h>
#include <stdio.h>
#include <string.h>

#define SEEDS 16
#define PROGRAMS 20 /* a seed */
#define WORLD 4
#define OPS_MOST 5

TestSuite(script_random, .timeout = 120);

struct dice {
    uint64_t state;
};

static uint32_t roll(struct dice *dice, uint32_t sides)
{
    dice->state = dice->state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(dice->state >> 33) % sides;
}

static void add_op(struct dice *dice, uint32_t rank, uint32_t *names, struct emu_text *text)
{
    static const char *const over[] = {"tp", "dp", "world", "low"};
    uint32_t kind = roll(dice, 4);
    uint32_t peer = (rank + 1 + roll(dice, WORLD - 1)) % WORLD;
    emu_text_puts(text, "{");
    if (kind <= 1)
        emu_text_printf(text, "barrier: {over: %s", over[roll(dice, rank < 3 ? 4 : 3)]);
    else if (kind == 2)
        emu_text_printf(text, "send: {to: %u, count: %u", peer, roll(dice, 3));
    else
        emu_text_printf(text, "recv: {from: %u, count: 2", peer);
    if (roll(dice, 4) == 0)
        emu_text_printf(text, ", async: n%u", (*names)++);
    emu_text_puts(text, "}},");
}

/* A step that all ranks agree on: a barrier, a message from a to b, or one each way, in one of the
 * orders that people write. Here and there a rank takes another axis. */
static void add_common(struct dice *plan, struct dice *dice, uint32_t rank, struct emu_text *text)
{
    static const char *const over[] = {"tp", "dp", "world"};
    uint32_t step = roll(plan, 5), axis = roll(plan, 3);
    uint32_t a = roll(plan, WORLD), b = (a + 1 + roll(plan, WORLD - 1)) % WORLD;
    uint32_t order = roll(plan, 4);
    uint32_t peer = rank == a ? b : a;
    if (step < 3)
        emu_text_printf(text, "{barrier: {over: %s}},", over[(axis + (roll(dice, 40) == 0)) % 3]);
    else if (rank != a && rank != b)
        return;
    else if (step == 3)
        emu_text_printf(text, "{%s: %u, count: 1}},", rank == a ? "send: {to" : "recv: {from",
                        peer);
    else if (order == 0)
        emu_text_printf(text, "{sendrecv: {to: %u, from: %u, count: 1}},", peer, peer);
    else if (order == 1)
        emu_text_printf(text,
                        "{send: {to: %u, count: 1, async: x}}, {recv: {from: %u, count: 1}},"
                        " {wait: x},",
                        peer, peer);
    else if (order == 2 && rank == a)
        emu_text_printf(text, "{recv: {from: %u, count: 1}}, {send: {to: %u, count: 1}},", peer,
                        peer);
    else /* order 3: both send first */
        emu_text_printf(text, "{send: {to: %u, count: 1}}, {recv: {from: %u, count: 1}},", peer,
                        peer);
}

/* Mostly a plan that all ranks share, else what each one likes. */
static void make_program(struct dice *dice, struct emu_text *text)
{
    bool common = roll(dice, 4) > 0;
    uint64_t plan = dice->state;
    emu_text_puts(text, "mesh: dp=2,tp=2\nsemantics: strict\ngroups: {low: [0, 1, 2]}\nprogram:\n");
    for (uint32_t rank = 0; rank < WORLD; rank++) {
        uint32_t names = 0;
        struct dice shared = {plan};
        emu_text_printf(text, "- {ranks: %u, do: [", rank);
        if (roll(dice, 6) == 0)
            emu_text_puts(text, "{sleep: 2ms},");
        uint32_t count = 1 + roll(common ? &shared : dice, OPS_MOST);
        for (uint32_t i = 0; i < count; i++)
            if (common)
                add_common(&shared, dice, rank, text);
            else
                add_op(dice, rank, &names, text);
        emu_text_puts(text, "{wait: [");
        for (uint32_t i = 0; i < names; i++)
            emu_text_printf(text, "n%u,", i);
        emu_text_puts(text, "]}]}\n");
    }
}

static bool is_about_waiting(enum emu_class class_id)
{
    return class_id == EMU_CLASS_DEADLOCK || class_id == EMU_CLASS_MISSING_PARTICIPANT ||
           class_id == EMU_CLASS_GROUP_MISMATCH || class_id == EMU_CLASS_TAG_MISMATCH;
}

static void compare(const char *text, const struct emu_script_replay *replay,
                    const struct emu_script_outcome *outcome)
{
    const struct emu_findings *findings = &outcome->findings;
    cr_expect_not(outcome->job.interrupted);
    if (replay->stuck == 0)
        cr_expect_eq(findings->count, 0, "a false alarm, %s:\n%s",
                     findings->count ? emu_class_name(findings->items[0].class_id) : "", text);
    else
        cr_expect_gt(emu_findings_faults(findings), 0, "%u ranks are stuck, unseen:\n%s",
                     replay->stuck, text);
    for (size_t i = 0; i < findings->count; i++)
        cr_expect(is_about_waiting(findings->items[i].class_id), "%s of:\n%s",
                  emu_class_name(findings->items[i].class_id), text);
}

static void try_program(struct dice *dice, uint32_t *stuck)
{
    struct emu_text text = {0}, diagnostics = {0};
    struct emu_script *script = NULL;
    struct emu_script_replay replay;
    struct emu_findings notes = {0};
    struct emu_script_outcome outcome;
    struct emu_script_options options = {.output_fd = STDOUT_FILENO};
    make_program(dice, &text);
    struct emu_script_params params = {.name = "r.yaml", .text = text.data, .size = text.size};
    cr_assert_eq(emu_script_read(&params, &diagnostics, &script), EMU_OK, "%s",
                 emu_text_get(&diagnostics));
    cr_assert_eq(emu_script_replay(script, &replay, &notes), EMU_OK);
    cr_assert_eq(emu_script_run(script, &options, &outcome), EMU_OK);
    compare(text.data, &replay, &outcome);
    *stuck += replay.stuck > 0;
    emu_findings_finish(&notes);
    emu_script_outcome_finish(&outcome);
    emu_script_destroy(script);
    emu_text_finish(&diagnostics);
    emu_text_finish(&text);
}

ParameterizedTestParameters(script_random, run_and_replay_agree)
{
    static uint64_t seeds[SEEDS];
    for (uint64_t i = 0; i < SEEDS; i++)
        seeds[i] = i + 1;
    return cr_make_param_array(uint64_t, seeds, SEEDS);
}

ParameterizedTest(const uint64_t *seed, script_random, run_and_replay_agree, .timeout = 120)
{
    struct dice dice = {*seed * UINT64_C(0x9E3779B97F4A7C15)};
    uint32_t stuck = 0;
    for (int i = 0; i < PROGRAMS; i++)
        try_program(&dice, &stuck);
    cr_log_info("seed %u: %u of %u programs get stuck", (unsigned)*seed, stuck, PROGRAMS);
    assert_no_child_left();
}
