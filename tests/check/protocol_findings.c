#include "check/protocol.h"
#include "check/scene_maker.h"

#include <criterion/parameterized.h>

TestSuite(check_protocol, .timeout = 20);

static struct emu_call_view variant(enum emu_kind kind, uint64_t count, enum emu_dtype dtype,
                                    enum emu_op op, uint32_t root)
{
    struct emu_call_view call = make_call(kind, GROUP_WORLD, 7);
    call.count = count;
    call.dtype = dtype;
    call.op = op;
    call.root = root;
    return call;
}

/* Judge calls[0..3]; the findings are the caller's. */
static struct emu_findings judge(struct scene_maker *maker, const struct emu_call_view *calls)
{
    struct emu_findings findings = {0};
    struct emu_incident incident = {.cause = EMU_INCIDENT_MISMATCH,
                                    .status = EMU_EMISMATCH,
                                    .group = GROUP_WORLD,
                                    .index = 7,
                                    .enabled_ns = 2000,
                                    .at_ns = 2100};
    make_scene(maker);
    for (uint32_t rank = 0; rank < WORLD; rank++) {
        put_in_call(maker, rank, calls[rank]);
        maker->members[rank].has_call = true;
        maker->members[rank].call = calls[rank];
    }
    cr_assert_eq(emu_protocol_mismatch(&maker->scene, &incident, maker->members, &findings), 0);
    return findings;
}

struct mismatch_case {
    struct {
        enum emu_kind kind;
        uint64_t count;
        enum emu_dtype dtype;
        enum emu_op op;
        uint32_t root;
    } calls[WORLD];
    enum emu_class expected;
    char culprits[16];
    char says[64];
};

#define NORMAL                                                                                     \
    {                                                                                              \
        EMU_ALL_REDUCE, 4, EMU_F32, EMU_SUM, 0                                                     \
    }
#define FROM0                                                                                      \
    {                                                                                              \
        EMU_BROADCAST, 4, EMU_F32, EMU_SUM, 0                                                      \
    }

ParameterizedTestParameters(check_protocol, the_minority_is_named)
{
    static struct mismatch_case cases[] = {
        {{NORMAL, NORMAL, NORMAL, {EMU_BARRIER, 0, EMU_F64, EMU_SUM, 0}},
         EMU_CLASS_ORDER_MISMATCH,
         "3",
         "rank 3 (dp=1,tp=1) called barrier, the others all_reduce"},
        {{NORMAL, {EMU_ALL_REDUCE, 4, EMU_F32, EMU_MAX, 0}, NORMAL, NORMAL},
         EMU_CLASS_OP_MISMATCH,
         "1",
         "has op max, the others op sum"},
        {{{EMU_ALL_REDUCE, 4, EMU_F64, EMU_SUM, 0}, NORMAL, NORMAL, NORMAL},
         EMU_CLASS_DTYPE_MISMATCH,
         "0",
         "has dtype f64, the others dtype f32"},
        {{NORMAL, NORMAL, {EMU_ALL_REDUCE, 5, EMU_F32, EMU_SUM, 0}, NORMAL},
         EMU_CLASS_COUNT_MISMATCH,
         "2",
         "has count 5, the others count 4"},
        {{FROM0, FROM0, FROM0, {EMU_BROADCAST, 4, EMU_F32, EMU_SUM, 2}},
         EMU_CLASS_ROOT_MISMATCH,
         "3",
         "has root 2, the others root 0"},
        {{NORMAL, NORMAL, FROM0, FROM0}, EMU_CLASS_ORDER_MISMATCH, "", "tie: undecided"},
        {{NORMAL,
          {EMU_ALL_REDUCE, 5, EMU_F32, EMU_SUM, 0},
          {EMU_ALL_REDUCE, 6, EMU_F32, EMU_SUM, 0},
          NORMAL},
         EMU_CLASS_COUNT_MISMATCH,
         "1,2",
         "has count 5"},
        {{NORMAL, NORMAL, NORMAL, {EMU_ALL_REDUCE, 5, EMU_F64, EMU_MAX, 0}},
         EMU_CLASS_OP_MISMATCH,
         "3",
         "no data was written"},
    };
    return cr_make_param_array(struct mismatch_case, cases, sizeof cases / sizeof cases[0]);
}

ParameterizedTest(struct mismatch_case *c, check_protocol, the_minority_is_named, .timeout = 20)
{
    struct scene_maker maker;
    struct emu_call_view calls[WORLD];
    for (int i = 0; i < WORLD; i++)
        calls[i] = variant(c->calls[i].kind, c->calls[i].count, c->calls[i].dtype, c->calls[i].op,
                           c->calls[i].root);
    struct emu_findings findings = judge(&maker, calls);
    cr_assert_eq(findings.count, 1, "%zu findings", findings.count);
    const struct emu_finding *finding = &findings.items[0];
    cr_assert_eq(finding->class_id, c->expected, "%s", emu_class_name(finding->class_id));
    assert_culprits(finding, c->culprits);
    assert_says(finding->message, c->says);
    assert_says(finding->message, "no data was written");
    cr_assert_str_eq(finding->group_name, "world");
    cr_assert(finding->has_index && finding->index == 7);
    cr_assert_eq(finding->member_count, WORLD);
    cr_assert_str_eq(finding->members[2].state, "in this call");
    cr_assert_eq(finding->members[2].call.count, calls[2].count);
    cr_assert_eq(finding->after_ns, 1500);
    emu_findings_finish(&findings);
}

Test(check_protocol, what_a_kind_does_not_use_never_differs)
{
    struct scene_maker maker;
    struct emu_call_view calls[WORLD];
    for (uint32_t i = 0; i < WORLD; i++)
        calls[i] = variant(EMU_ALL_GATHER, 4, EMU_F32, (enum emu_op)i, i);
    calls[1].count = 9;
    struct emu_findings findings = judge(&maker, calls);
    cr_assert_eq(findings.count, 1);
    cr_assert_eq(findings.items[0].class_id, EMU_CLASS_COUNT_MISMATCH);
    assert_culprits(&findings.items[0], "1");
    emu_findings_finish(&findings);
}

Test(check_protocol, independent_odd_ranks_are_two_findings)
{
    struct scene_maker maker;
    struct emu_call_view calls[WORLD];
    for (uint32_t i = 0; i < WORLD; i++)
        calls[i] = variant(EMU_ALL_REDUCE, 4, EMU_F32, EMU_SUM, 0);
    calls[1].op = EMU_PROD;
    calls[3].count = 8;
    struct emu_findings findings = judge(&maker, calls);
    cr_assert_eq(findings.count, 2);
    cr_assert_eq(findings.items[0].class_id, EMU_CLASS_OP_MISMATCH);
    assert_culprits(&findings.items[0], "1");
    cr_assert_eq(findings.items[1].class_id, EMU_CLASS_COUNT_MISMATCH);
    assert_culprits(&findings.items[1], "3");
    emu_findings_finish(&findings);
}

Test(check_protocol, what_only_the_layout_tells_apart_is_a_count)
{
    struct scene_maker maker;
    struct emu_call_view calls[WORLD];
    for (uint32_t i = 0; i < WORLD; i++)
        calls[i] = variant(EMU_ALL_GATHER, 4, EMU_F32, EMU_SUM, 0);
    struct emu_findings findings = judge(&maker, calls);
    cr_assert_eq(findings.count, 1);
    cr_assert_eq(findings.items[0].class_id, EMU_CLASS_COUNT_MISMATCH);
    assert_culprits(&findings.items[0], "");
    emu_findings_finish(&findings);
}

static struct emu_finding *refuse(struct scene_maker *maker, struct emu_findings *findings,
                                  enum emu_status status, uint32_t group)
{
    struct emu_incident incident = {.cause = EMU_INCIDENT_ARGUMENT,
                                    .status = status,
                                    .rank = 2,
                                    .group = group,
                                    .call = make_call(EMU_BROADCAST, group, 3),
                                    .text = "root 9 of 2 members"};
    make_scene(maker);
    put_in_call(maker, 2, incident.call);
    cr_assert_eq(emu_protocol_refused(&maker->scene, &incident, findings), 0);
    return &findings->items[0];
}

Test(check_protocol, a_refused_call_names_its_caller)
{
    struct scene_maker maker;
    struct emu_findings findings = {0};
    const struct emu_finding *finding = refuse(&maker, &findings, EMU_EINVAL, GROUP_TP + 1);
    cr_assert_eq(finding->class_id, EMU_CLASS_INVALID_ARGUMENT);
    assert_culprits(finding, "2");
    assert_says(finding->message, "rank 2 (dp=1,tp=0) called broadcast over tp #3");
    assert_says(finding->message, "root 9 of 2 members");
    cr_assert_eq(finding->member_count, 2);
    cr_assert_str_eq(finding->members[0].state, "in this call");
    emu_findings_finish(&findings);
}

Test(check_protocol, an_outsider_stands_beside_the_members)
{
    struct scene_maker maker;
    struct emu_findings findings = {0};
    const struct emu_finding *finding = refuse(&maker, &findings, EMU_ENOTMEMBER, GROUP_TP);
    cr_assert_eq(finding->class_id, EMU_CLASS_NOT_A_MEMBER);
    assert_culprits(finding, "2");
    cr_assert_eq(finding->member_count, 3);
    cr_assert_eq(finding->members[2].rank, 2);
    cr_assert_str_eq(finding->axes[0], "tp");
    emu_findings_finish(&findings);
}

Test(check_protocol, a_group_that_is_none_is_no_index)
{
    struct scene_maker maker;
    struct emu_findings findings = {0};
    const struct emu_finding *finding = refuse(&maker, &findings, EMU_EINVAL, 4711);
    cr_assert_eq(finding->class_id, EMU_CLASS_INVALID_ARGUMENT);
    cr_assert_null(finding->group);
    cr_assert_eq(finding->member_count, 1);
    emu_findings_finish(&findings);
}

Test(check_protocol, a_message_that_does_not_fit_is_undecided)
{
    struct scene_maker maker;
    struct emu_findings findings = {0};
    struct emu_incident incident = {.cause = EMU_INCIDENT_MESSAGE,
                                    .status = EMU_EMISMATCH,
                                    .rank = 1,
                                    .group = EMU_GROUP_SELF,
                                    .call = {.kind = EMU_RECV, .peer = 3, .count = 4},
                                    .sent = {.kind = EMU_SEND, .peer = 1, .count = 8},
                                    .text = "8 elements were sent, there is room for 4"};
    make_scene(&maker);
    emu_protocol_unfit(&maker.scene, &incident, &findings);
    incident.sent.dtype = EMU_I32;
    emu_protocol_unfit(&maker.scene, &incident, &findings);
    cr_assert_eq(findings.items[0].class_id, EMU_CLASS_TRUNCATION);
    cr_assert_eq(findings.items[1].class_id, EMU_CLASS_DTYPE_MISMATCH);
    assert_culprits(&findings.items[0], "");
    cr_assert_eq(findings.items[0].members[1].rank, 3);
    assert_says(findings.items[0].message, "room for 4");
    emu_findings_finish(&findings);
}
