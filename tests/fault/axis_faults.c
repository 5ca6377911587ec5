/* Faults that single axes bring with them: where do they apply, who may catch them, what must be
 * named? From plan and address alone. */
#include "fault/expectation.h"
#include "fault/fault_set.h"
#include "fault/fault_steps.h"

#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <stdio.h>
#include <string.h>

TestSuite(fault_axes, .timeout = 20);

#define BIT(name) (UINT64_C(1) << EMU_CLASS_##name)

struct asked {
    char config[112]; /* flow members beside data */
    char spec[64];
    char skip[48]; /* part of the reason; "": it applies */
    uint64_t classes;
    char axes[12]; /* "dp,cp" */
    bool names_rank;
};

static struct emu_config *read_config(const char *members)
{
    char text[512];
    struct emu_text diagnostics = {0};
    struct emu_config *config;
    snprintf(text, sizeof text,
             "{%s, data: {text: nowhere.txt, sequence: 12, batch: 8, microbatches: 2}}", members);
    struct emu_config_params params = {
        .name = "test.yaml", .directory = "", .text = text, .size = strlen(text)};
    cr_assert_eq(emu_config_read(&params, &diagnostics, &config), EMU_OK, "%s",
                 emu_text_get(&diagnostics));
    emu_text_finish(&diagnostics);
    return config;
}

static uint32_t bits_of(const struct emu_mesh *mesh, const char *axes)
{
    char copy[12], *rest = NULL;
    uint32_t bits = 0;
    snprintf(copy, sizeof copy, "%s", axes);
    for (char *name = strtok_r(copy, ",", &rest); name; name = strtok_r(NULL, ",", &rest))
        bits |= UINT32_C(1) << emu_mesh_find(mesh, name);
    return bits;
}

#define MODEL "model: {kind: mlp_lm, context: 2, embed: 4, hidden: 6, layers: 2"
#define PP "mesh: 'pp=2,dp=2', " MODEL ", tie_embeddings: false}"
#define TIED "mesh: 'pp=2,dp=2', " MODEL ", tie_embeddings: true}"
#define CP "mesh: 'dp=2,cp=2', " MODEL "}"
#define ROWS "mesh: 'dp=2,tp=2', " MODEL ", sequence_parallel: true}"
#define TP "mesh: 'dp=2,tp=2', " MODEL "}"
#define SHARED "mesh: dp=2, " MODEL "}, optimizer: {shard: zero2}"
#define UNEVEN "mesh: dp=3, " MODEL "}, optimizer: {shard: zero1}"

ParameterizedTestParameters(fault_axes, plan_and_address_say_what_is_expected)
{
    static struct asked cases[] = {
        {TIED, "skip_tied", "", BIT(TIED_UNSYNCED), "pp", false},
        {TIED, "double_tied step=1", "", BIT(DOUBLE_REDUCTION), "pp", false},
        {PP, "skip_tied", "no table lies on two stages", 0, "", false},
        {ROWS, "skip_sliced", "", BIT(MISSING_REDUCTION), "tp", false},
        {ROWS, "skip_sliced param=layers.1.norm.weight", "", BIT(MISSING_REDUCTION), "tp", false},
        {ROWS, "skip_sliced param=embed.weight", "leaves no such gradient", 0, "", false},
        {TP, "skip_sliced", "leaves no such gradient", 0, "", false},
        {CP, "reduce_part", "", BIT(MISSING_REDUCTION), "cp", false},
        {CP, "reduce_part over=cp", "", BIT(MISSING_REDUCTION), "dp", false},
        {TP, "reduce_part", "and another one", 0, "", false},
        {TP, "reduce_part over=tp", "and another one", 0, "", false},
        {CP, "slice_denominator", "", BIT(TOKEN_WEIGHT) | BIT(NONFINITE), "cp", false},
        {TP, "slice_denominator", "there is one cp coordinate", 0, "", false},
        {PP, "skip_scale rank=1", "", BIT(WRONG_SCALE), "pp", true},
        {CP, "skip_scale rank=1", "there is one pipeline stage", 0, "", false},
        {TP, "skip_norm_sum", "", BIT(WRONG_NORM), "tp", false},
        {PP, "average_norm over=pp", "", BIT(WRONG_NORM), "pp", false},
        {TP, "skip_norm_sum over=dp", "not summed over that", 0, "", false},
        {SHARED, "skip_norm_sum over=dp", "", BIT(WRONG_NORM), "dp", false},
        {CP, "average_norm", "not summed over that", 0, "", false},
        {UNEVEN, "count_padding param=*.norm.weight", "", BIT(WRONG_NORM), "", false},
        {UNEVEN, "count_padding param=layers.0.up.weight", "is padded", 0, "", false},
        {SHARED, "count_padding", "is padded", 0, "", false},
        {CP, "wrong_halo", "", BIT(ORACLE_MISMATCH) | BIT(TRAFFIC_MISMATCH), "", false},
        {CP, "wrong_halo rank=0", "no context crosses", 0, "", false},
        {TP, "wrong_halo", "no context crosses", 0, "", false},
        {TP, "swap_microbatches rank=1", "there is one pipeline stage", 0, "", false},
        {UNEVEN, "shift_shard rank=2", "", BIT(SHARD_TILING), "", true},
        {TP, "shift_shard rank=2", "no optimizer state is divided", 0, "", false},
        {UNEVEN, "skip_gather param=embed.weight", "", BIT(REPLICA_DIVERGENCE), "", false},
        {TP, "skip_gather rank=2", "no optimizer state is divided", 0, "", false},
    };
    return cr_make_param_array(struct asked, cases, sizeof cases / sizeof cases[0]);
}

ParameterizedTest(struct asked *one, fault_axes, plan_and_address_say_what_is_expected)
{
    struct emu_config *config = read_config(one->config);
    struct emu_text diagnostics = {0};
    struct emu_plan *plan;
    struct emu_fault fault;
    struct emu_fault_error error = {0};
    struct emu_fault_expectation expected;
    cr_assert_eq(emu_plan_create(config, &diagnostics, &plan), EMU_OK, "%s",
                 emu_text_get(&diagnostics));
    cr_assert_eq(emu_fault_parse(one->spec, &plan->roster, plan, &fault, &error), EMU_OK, "%s: %s",
                 one->spec, error.message);
    emu_fault_expect(&fault, plan, &expected);
    if (*one->skip) {
        cr_assert(expected.skip, "%s in %s applies", one->spec, one->config);
        cr_expect(strstr(expected.skip, one->skip), "%s: %s", one->spec, expected.skip);
    } else {
        cr_expect_null(expected.skip, "%s in %s: %s", one->spec, one->config, expected.skip);
        cr_expect_eq(expected.classes, one->classes, "%s", one->spec);
        cr_expect_eq(expected.axes, bits_of(plan->roster.mesh, one->axes), "%s", one->spec);
        cr_expect_eq(expected.names_rank, one->names_rank, "%s", one->spec);
    }
    emu_plan_destroy(plan);
    emu_config_destroy(config);
    emu_text_finish(&diagnostics);
}

Test(fault_axes, a_finding_that_names_another_axis_is_not_right)
{
    struct emu_config *config = read_config(CP);
    struct emu_plan *plan;
    cr_assert_eq(emu_plan_create(config, NULL, &plan), EMU_OK);
    const char *axes[] = {"cp"};
    struct emu_finding finding = {
        .class_id = EMU_CLASS_MISSING_REDUCTION, .axes = (char **)axes, .axis_count = 1};
    struct emu_fault_expectation expected = {.classes = BIT(MISSING_REDUCTION), .axes = 2};
    cr_expect(emu_fault_culprit_right(&expected, plan, &finding));
    axes[0] = "dp";
    cr_expect_not(emu_fault_culprit_right(&expected, plan, &finding));
    emu_plan_destroy(plan);
    emu_config_destroy(config);
}

/* What the step is told at the sum of its norm; the family is set where it does otherwise. */
static bool strays(const char *config_text, const char *spec, enum emu_deviation kind,
                   uint64_t *family, uint32_t *fired)
{
    struct emu_config *config = read_config(config_text);
    struct emu_plan *plan;
    struct emu_fault fault;
    struct emu_fault_error error = {0};
    _Atomic uint32_t counters[8] = {0};
    cr_assert_eq(emu_plan_create(config, NULL, &plan), EMU_OK);
    cr_assert_eq(emu_fault_parse(spec, &plan->roster, plan, &fault, &error), EMU_OK, "%s: %s", spec,
                 error.message);
    struct emu_fault_set set = {&fault, 1, plan->roster.mesh->world, counters};
    struct emu_fault_steps steps;
    emu_fault_steps_init(&steps, &set, plan);
    struct emu_deviation_place place = {.step = 1};
    *family = 77;
    bool answer = steps.hooks.deviates(steps.hooks.user, kind, &place, family);
    *fired = emu_fault_set_fired(&set, 0, 0);
    emu_plan_destroy(plan);
    emu_config_destroy(config);
    return answer;
}

Test(fault_axes, a_sum_that_the_step_does_not_make_is_not_left_out)
{
    uint64_t family;
    uint32_t fired;
    cr_expect(strays(TP, "skip_norm_sum over=tp", EMU_DEVIATE_SKIP_NORM_SUM, &family, &fired));
    cr_expect(family != 77 && fired == 1);
    cr_expect_not(strays(TP, "skip_norm_sum over=dp", EMU_DEVIATE_SKIP_NORM_SUM, &family, &fired));
    cr_expect(family == 77 && fired == 0);
    cr_expect_not(strays(TP, "average_norm over=world", EMU_DEVIATE_AVERAGE_NORM, &family, &fired));
    cr_expect(family == 77 && fired == 0);
}
