/* Members that ask for different things: all are told the same, nothing moves, and the incident
 * says what each had asked for. */
#include "ranks.h"
#include "seg/incident.h"

#include <criterion/criterion.h>
#include <criterion/parameterized.h>

enum field { KIND, COUNT, DTYPE, OP, ROOT, LAYOUT };

struct mismatch {
    enum field field;
    uint64_t count; /* small, or of many rounds */
    uint32_t odd;   /* who differs */
};

static struct emu_call agreed_call(const struct mismatch *m, void *buffer, void *output)
{
    struct emu_call call = {.kind = EMU_ALL_REDUCE,
                            .count = m->count,
                            .dtype = EMU_F64,
                            .input = buffer,
                            .output = output,
                            .label = "step",
                            .file = __FILE__,
                            .line = 42};
    if (m->field == ROOT)
        call.kind = EMU_REDUCE;
    if (m->field == LAYOUT)
        call.kind = EMU_GATHER;
    return call;
}

static void make_odd(const struct mismatch *m, struct emu_call *call)
{
    switch (m->field) {
    case KIND:
        call->kind = EMU_REDUCE_SCATTER;
        break;
    case COUNT:
        call->count--;
        break;
    case DTYPE:
        call->dtype = EMU_I64;
        break;
    case OP:
        call->op = EMU_MAX;
        break;
    case ROOT:
        call->root = 2;
        break;
    case LAYOUT:
        call->layout = EMU_LAYOUT_CHUNKS;
        break;
    }
}

static int mismatch_body(struct emu_rank *rank, void *user)
{
    const struct mismatch *m = user;
    uint64_t bytes = (m->count * 3 + 1) * 8;
    unsigned char *in = calloc(1, bytes), *out = malloc(bytes);
    RANKS_EXPECT(in && out);
    memset(out, 0x5a, bytes);
    RANKS_EXPECT(emu_barrier(rank, 0) == EMU_OK);
    struct emu_call call = agreed_call(m, in, out);
    if (emu_rank_id(rank) == m->odd)
        make_odd(m, &call);
    RANKS_EXPECT(emu_run_call(rank, &call) == EMU_EMISMATCH);
    for (uint64_t i = 0; i < bytes; i++)
        RANKS_EXPECT(out[i] == 0x5a);
    RANKS_EXPECT(emu_barrier(rank, 0) == EMU_EMISMATCH); /* at once, and for ever */
    RANKS_EXPECT(emu_barrier(rank, EMU_GROUP_SELF) == EMU_OK);
    return 0;
}

ParameterizedTestParameters(mismatch, is_told_to_all_members_before_data_moves)
{
    static struct mismatch rows[36];
    size_t n = 0;
    for (int field = KIND; field <= LAYOUT; field++)
        for (uint32_t odd = 0; odd < 3; odd++) {
            rows[n++] = (struct mismatch){(enum field)field, 6, odd};
            rows[n++] = (struct mismatch){(enum field)field, 60000, odd};
        }
    return cr_make_param_array(struct mismatch, rows, 36);
}

ParameterizedTest(struct mismatch *m, mismatch, is_told_to_all_members_before_data_moves,
                  .timeout = 30)
{
    struct ranks ranks;
    struct emu_incident incident;
    struct emu_member_view members[3];
    cr_assert(ranks_open(&ranks, "dp=3", NULL));
    cr_expect_eq(ranks_run(&ranks, mismatch_body, m, 20), 0);
    cr_assert(emu_incident_read(&ranks.segment, 0, &incident));
    cr_expect_eq(incident.cause, EMU_INCIDENT_MISMATCH);
    cr_expect_eq(incident.status, EMU_EMISMATCH);
    cr_expect_eq(incident.group, 0);
    cr_expect_eq(incident.index, 1);
    cr_expect(incident.enabled_ns > 0 && incident.at_ns >= incident.enabled_ns);
    cr_expect_not(emu_incident_read(&ranks.segment, 1, &incident), "one cause, one incident");
    emu_slot_members(&ranks.segment, 0, 1, members);
    for (uint32_t i = 0; i < 3; i++) {
        struct emu_call wanted = agreed_call(m, NULL, NULL);
        if (i == m->odd)
            make_odd(m, &wanted);
        const struct emu_call_view *call = &members[i].call;
        cr_expect(members[i].has_call && members[i].rank == i);
        cr_expect(call->kind == wanted.kind && call->count == wanted.count &&
                  call->dtype == wanted.dtype && call->root == wanted.root);
        cr_expect(call->kind == EMU_GATHER || call->op == wanted.op);
        cr_expect_str_eq(call->label, "step");
        cr_expect_str_eq(call->group_name, "world");
        cr_expect_eq(call->line, 42);
    }
    ranks_close(&ranks);
}

/* Calls that were started before the broken one end well, those after it end like it. */
static int order_body(struct emu_rank *rank, void *user)
{
    (void)user;
    int64_t in = 1, out[4] = {0};
    struct emu_request *requests[4];
    for (uint32_t i = 0; i < 4; i++) {
        struct emu_call call = {
            .kind = EMU_ALL_REDUCE, .count = 1, .dtype = EMU_I64, .input = &in, .output = &out[i]};
        if (i == 2 && emu_rank_id(rank) == 1)
            call.op = EMU_PROD;
        RANKS_EXPECT(emu_start(rank, &call, &requests[i]) == EMU_OK);
    }
    RANKS_EXPECT(emu_wait(rank, requests[3]) == EMU_EMISMATCH);
    RANKS_EXPECT(emu_wait(rank, requests[2]) == EMU_EMISMATCH);
    RANKS_EXPECT(emu_wait(rank, requests[1]) == EMU_OK && out[1] == 4);
    RANKS_EXPECT(emu_wait(rank, requests[0]) == EMU_OK && out[0] == 4);
    return 0;
}

Test(mismatch, leaves_earlier_calls_of_the_group_whole, .timeout = 30)
{
    cr_assert_eq(ranks_once("dp=4", NULL, order_body, NULL, 20), 0);
}

/* Other groups of the same ranks go on. */
static int other_groups_body(struct emu_rank *rank, void *user)
{
    (void)user;
    uint32_t dp, tp;
    double x = 2, y = 0;
    RANKS_EXPECT(emu_rank_group(rank, "dp", &dp) == EMU_OK);
    RANKS_EXPECT(emu_rank_group(rank, "tp", &tp) == EMU_OK);
    uint64_t count = emu_rank_id(rank) == 3 ? 0 : 1;
    enum emu_status wanted = emu_rank_id(rank) % 2 ? EMU_EMISMATCH : EMU_OK;
    RANKS_EXPECT(emu_all_reduce(rank, dp, &x, &y, count, EMU_F64, EMU_SUM) == wanted);
    for (int i = 0; i < 50; i++)
        RANKS_EXPECT(emu_all_reduce(rank, tp, &x, &y, 1, EMU_F64, EMU_SUM) == EMU_OK && y == 4);
    return 0;
}

Test(mismatch, breaks_its_own_group_only, .timeout = 30)
{
    cr_assert_eq(ranks_once("dp=2,tp=2", NULL, other_groups_body, NULL, 20), 0);
}

static int stranger_body(struct emu_rank *rank, void *user)
{
    (void)user;
    uint32_t tp;
    double x = 1, y;
    RANKS_EXPECT(emu_rank_group(rank, "tp", &tp) == EMU_OK);
    RANKS_EXPECT(emu_rank_group(rank, "pp", &tp) == EMU_ENOTFOUND);
    if (emu_rank_id(rank) == 0)
        RANKS_EXPECT(emu_all_reduce(rank, tp + 1, &x, &y, 1, EMU_F64, EMU_SUM) == EMU_ENOTMEMBER);
    return 0;
}

Test(mismatch, a_stranger_to_the_group_is_refused_and_reported, .timeout = 30)
{
    struct ranks ranks;
    struct emu_incident incident;
    cr_assert(ranks_open(&ranks, "dp=2,tp=2", NULL));
    cr_assert_eq(ranks_run(&ranks, stranger_body, NULL, 20), 0);
    cr_assert(emu_incident_read(&ranks.segment, 0, &incident));
    cr_expect_eq(incident.cause, EMU_INCIDENT_ARGUMENT);
    cr_expect_eq(incident.status, EMU_ENOTMEMBER);
    cr_expect_eq(incident.rank, 0);
    cr_expect_eq(incident.call.kind, EMU_ALL_REDUCE);
    cr_expect_str_eq(incident.call.group_name, "tp");
    cr_expect(strstr(incident.text, "rank 0 is not among"));
    ranks_close(&ranks);
}
