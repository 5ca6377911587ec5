/* What does a SPEC say, and what is said about a wrong one? */
#include "fault/fault.h"
#include "seg/board.h"

#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

TestSuite(fault_spec, .timeout = 20);

static const char config_text[] =
    "mesh: dp=2,tp=2\n"
    "model: {kind: mlp_lm, context: 2, embed: 4, hidden: 8, layers: 1}\n"
    "data: {text: nowhere.txt, sequence: 4, batch: 4, microbatches: 2}\n"
    "train: {steps: 3}\n";

static struct emu_config *config;

static void drop_plan(struct emu_plan *plan)
{
    emu_plan_destroy(plan);
    emu_config_destroy(config);
}

static struct emu_plan *make_plan(void)
{
    struct emu_text diagnostics = {0};
    struct emu_plan *plan;
    struct emu_config_params params = {
        .name = "test.yaml", .directory = "", .text = config_text, .size = strlen(config_text)};
    cr_assert_eq(emu_config_read(&params, &diagnostics, &config), EMU_OK, "%s",
                 emu_text_get(&diagnostics));
    cr_assert_eq(emu_plan_create(config, &diagnostics, &plan), EMU_OK, "%s",
                 emu_text_get(&diagnostics));
    emu_text_finish(&diagnostics);
    return plan;
}

struct wrong {
    char spec[96];
    size_t column; /* from 1 */
    char said[96];
};

ParameterizedTestParameters(fault_spec, wrong_words_are_named_with_their_place)
{
    static struct wrong cases[] = {
        {"", 1, "a fault is 'kind key=value...'"},
        {"   ", 4, "a fault is 'kind key=value...'"},
        {"crsh rank=1", 1, "did you mean 'crash'?"},
        {"crash", 1, "crash needs rank="},
        {"crash rank=4", 1, "the mesh has ranks 0 to 3"},
        {"crash rank=-1", 12, "a whole number from 0"},
        {"crash rank=", 12, "rank= needs a value"},
        {"crash rank=1 rank=2", 14, "rank is given twice"},
        {"crash rank", 7, "is no key=value"},
        {"crash rnk=1", 7, "did you mean 'rank'?"},
        {"crash rank=1 phase=depsit", 20, "did you mean 'deposit'?"},
        {"crash rank=1 signal=SIGFOO", 21, "allowed are SIGKILL"},
        {"crash rank=1 code=3", 14, "crash takes no 'code'"},
        {"exit rank=1 code=256", 18, "a whole number from 0 to 255"},
        {"crash rank=1 step=0", 19, "a whole number from 1"},
        {"crash rank=1 step=4", 1, "the run has steps 1 to 3"},
        {"delay rank=1 time=5", 19, "ns, us, ms, s, m, h"},
        {"wrong_axis rank=1 over=tq", 24, "did you mean 'tp'?"},
        {"wrong_op rank=1 op=som", 20, "did you mean 'sum'?"},
        {"wrong_dtype rank=1 dtype=field61", 26, "allowed are f64, f32"},
        {"flip_input rank=1 bit=64", 23, "a whole number from 0 to 63"},
        {"skip_reduce param=nothing.*", 1, "names no parameter"},
        {"drop_microbatch rank=1 micro=2", 1, "the run has microbatches 0 to 1"},
        {"wrong_divisor by=wrold", 18, "by=wrold: did you mean 'world'? allowed are world, dp"},
    };
    return cr_make_param_array(struct wrong, cases, sizeof cases / sizeof cases[0]);
}

ParameterizedTest(struct wrong *w, fault_spec, wrong_words_are_named_with_their_place)
{
    struct emu_plan *plan = make_plan();
    struct emu_fault fault = {.spec = "untouched"};
    struct emu_fault_error error = {0};
    cr_assert_eq(emu_fault_parse(w->spec, &plan->roster, plan, &fault, &error), EMU_EPARSE);
    cr_expect_eq(error.offset + 1, w->column, "'%s': column %zu: %s", w->spec, error.offset + 1,
                 error.message);
    cr_expect(strstr(error.message, w->said), "'%s': %s", w->spec, error.message);
    cr_expect_str_eq(fault.spec, "untouched");
    drop_plan(plan);
}

Test(fault_spec, every_word_reaches_its_field)
{
    struct emu_plan *plan = make_plan();
    struct emu_fault fault;
    struct emu_fault_error error;
    const char *spec = "  crash rank=2\tstep=1 call=5 label=embed.* group=dp phase=deposit "
                       "signal=SIGSEGV ";
    cr_assert_eq(emu_fault_parse(spec, &plan->roster, plan, &fault, &error), EMU_OK, "%s",
                 error.message);
    cr_expect_eq(fault.kind, EMU_FAULT_CRASH);
    cr_expect_eq(fault.value[EMU_KEY_RANK].number, 2);
    cr_expect_eq(fault.value[EMU_KEY_STEP].number, 1);
    cr_expect_eq(fault.value[EMU_KEY_CALL].number, 5);
    cr_expect_str_eq(fault.value[EMU_KEY_LABEL].text, "embed.*");
    cr_expect_str_eq(plan->roster.families[fault.value[EMU_KEY_GROUP].number].name, "dp");
    cr_expect_eq(fault.value[EMU_KEY_PHASE].number, EMU_PHASE_DEPOSIT);
    cr_expect_eq(fault.value[EMU_KEY_SIGNAL].number, SIGSEGV);
    cr_expect_not(emu_fault_has(&fault, EMU_KEY_PARAM));
    cr_expect_str_eq(fault.spec, spec);
    drop_plan(plan);
}

Test(fault_spec, times_are_read_in_nanoseconds)
{
    struct emu_plan *plan = make_plan();
    struct emu_fault fault;
    struct emu_fault_error error;
    cr_assert_eq(emu_fault_parse("delay rank=0 time=1.5ms", &plan->roster, plan, &fault, &error),
                 EMU_OK);
    cr_expect_eq(fault.value[EMU_KEY_TIME].number, 1500000);
    drop_plan(plan);
}

Test(fault_spec, a_program_of_ones_own_has_calls_but_no_training_step)
{
    struct emu_plan *plan = make_plan();
    struct emu_fault fault;
    struct emu_fault_error error;
    cr_expect_eq(emu_fault_parse("skip_call rank=1", &plan->roster, NULL, &fault, &error), EMU_OK);
    cr_expect_eq(emu_fault_parse("skip_reduce", &plan->roster, NULL, &fault, &error), EMU_EPARSE);
    cr_expect(strstr(error.message, "acts inside the training step"), "%s", error.message);
    drop_plan(plan);
}

Test(fault_spec, a_spec_that_is_too_long_is_refused)
{
    struct emu_plan *plan = make_plan();
    char spec[EMU_FAULT_SPEC_MAX + 2];
    struct emu_fault fault;
    struct emu_fault_error error;
    memset(spec, ' ', sizeof spec - 1);
    spec[sizeof spec - 1] = '\0';
    memcpy(spec, "crash rank=1", 12);
    cr_expect_eq(emu_fault_parse(spec, &plan->roster, plan, &fault, &error), EMU_EPARSE);
    spec[EMU_FAULT_SPEC_MAX - 1] = '\0';
    cr_expect_eq(emu_fault_parse(spec, &plan->roster, plan, &fault, &error), EMU_OK);
    drop_plan(plan);
}

Test(fault_spec, every_kind_has_a_row_and_every_key_a_name)
{
    for (int kind = 0; kind < EMU_FAULT_KIND_COUNT; kind++) {
        const struct emu_fault_row *row = emu_fault_row((enum emu_fault_kind)kind);
        const char *name = emu_fault_name((enum emu_fault_kind)kind);
        cr_expect(row->help && *row->help, "%s", name);
        cr_expect(row->classes != 0, "%s", name);
        cr_expect_eq(row->needed & ~row->keys, 0, "%s needs a key that it does not take", name);
    }
    for (int key = 0; key < EMU_FAULT_KEY_COUNT; key++)
        cr_expect(*emu_fault_key_name((enum emu_fault_key)key));
}
