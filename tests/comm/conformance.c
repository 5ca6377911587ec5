/* What every backend must do. The same bodies run over `self` (one rank, no segment) and over `shm`
 * with 1, 2, 3, 4, 7 and 8 ranks. */
#include "seg/incident.h"
#include "trial.h"

#include <criterion/criterion.h>
#include <criterion/parameterized.h>

static const enum emu_dtype dtypes[] = {EMU_F64, EMU_F32, EMU_I64, EMU_I32, EMU_U8};
static const uint64_t counts[] = {0, 1, 2, 5, 8, 13, 64, 1000};

/* Every kind, dtype, count and both places, over one group. */
static int all_kinds(struct emu_rank *rank, uint32_t group)
{
    uint32_t size = emu_rank_group_size(rank, group);
    int code = 0;
    for (int kind = EMU_BARRIER; kind <= EMU_SCATTER && !code; kind++)
        for (size_t d = 0; d < 5 && !code; d++)
            for (size_t c = 0; c < sizeof counts / sizeof counts[0] && !code; c++)
                for (uint32_t variant = 0; variant < 4 && !code; variant++) {
                    struct trial t = {.kind = (enum emu_kind)kind,
                                      .dtype = dtypes[d],
                                      .count = counts[c],
                                      .root = (uint32_t)c % size,
                                      .in_place = variant & 1,
                                      .layout = variant & 2 ? EMU_LAYOUT_CHUNKS : EMU_LAYOUT_EQUAL};
                    code = run_trial(rank, group, &t);
                }
    return code;
}

static int all_ops(struct emu_rank *rank, uint32_t group)
{
    int code = 0;
    for (size_t d = 0; d < 5 && !code; d++)
        for (int op = 0; op < EMU_OP_COUNT && !code; op++) {
            struct trial t = {
                .kind = EMU_ALL_REDUCE, .dtype = dtypes[d], .op = (enum emu_op)op, .count = 37};
            code = run_trial(rank, group, &t);
            t.kind = EMU_REDUCE_SCATTER;
            if (!code)
                code = run_trial(rank, group, &t);
        }
    return code;
}

static int every_kind_body(struct emu_rank *rank, void *user)
{
    (void)user;
    return all_kinds(rank, 0);
}

static int every_op_body(struct emu_rank *rank, void *user)
{
    (void)user;
    return all_ops(rank, 0);
}

static int self_group_body(struct emu_rank *rank, void *user)
{
    (void)user;
    int code = all_kinds(rank, EMU_GROUP_SELF);
    return code ? code : all_ops(rank, EMU_GROUP_SELF);
}

/* BOUND dtypes are copied in groups of one, whatever the op. */
static int bound_body(struct emu_rank *rank, void *user)
{
    (void)user;
    double in[4] = {1.5, 0.25, -3, 0.5}, out[4] = {0};
    RANKS_EXPECT(emu_all_reduce(rank, EMU_GROUP_SELF, in, out, 2, EMU_BOUND64, EMU_AVG) == EMU_OK);
    RANKS_EXPECT(memcmp(in, out, sizeof in) == 0);
    return 0;
}

static int to_oneself_body(struct emu_rank *rank, void *user)
{
    (void)user;
    uint32_t me = emu_rank_id(rank);
    int32_t in[3] = {1, 2, 3}, out[5] = {0};
    RANKS_EXPECT(emu_send(rank, me, in, 3, EMU_I32, 7) == EMU_OK);
    RANKS_EXPECT(emu_send(rank, me, in, 1, EMU_I32, 8) == EMU_OK);
    RANKS_EXPECT(emu_recv(rank, me, out, 5, EMU_I32, 8) == EMU_OK);
    RANKS_EXPECT(emu_received(rank) == 1 && out[0] == 1 && out[1] == 0);
    RANKS_EXPECT(emu_recv(rank, me, out, 5, EMU_I32, 7) == EMU_OK);
    RANKS_EXPECT(emu_received(rank) == 3 && out[2] == 3);
    RANKS_EXPECT(emu_sendrecv(rank, me, in, 3, me, out + 2, 3, EMU_I32, 9) == EMU_OK);
    RANKS_EXPECT(out[4] == 3);
    return 0;
}

static int refused_body(struct emu_rank *rank, void *user)
{
    (void)user;
    double x = 1;
    RANKS_EXPECT(emu_all_reduce(rank, 0, NULL, &x, 1, EMU_F64, EMU_SUM) == EMU_EINVAL);
    RANKS_EXPECT(emu_all_reduce(rank, 0, &x, NULL, 1, EMU_F64, EMU_SUM) == EMU_EINVAL);
    RANKS_EXPECT(emu_broadcast(rank, 0, &x, 1, EMU_F64, 64) == EMU_EINVAL);
    RANKS_EXPECT(emu_all_reduce(rank, 999, &x, &x, 1, EMU_F64, EMU_SUM) == EMU_EINVAL);
    RANKS_EXPECT(emu_all_reduce(rank, 0, &x, &x, UINT64_MAX, EMU_F64, EMU_SUM) == EMU_EINVAL);
    RANKS_EXPECT(emu_all_reduce(rank, 0, &x, &x, 1, (enum emu_dtype)77, EMU_SUM) == EMU_EINVAL);
    RANKS_EXPECT(emu_all_reduce(rank, 0, &x, &x, 1, EMU_F64, (enum emu_op)9) == EMU_EINVAL);
    RANKS_EXPECT(emu_all_reduce(rank, 0, &x, &x, 1, EMU_FIELD61, EMU_MAX) == EMU_EINVAL);
    RANKS_EXPECT(emu_send(rank, 1000, &x, 1, EMU_F64, 0) == EMU_EINVAL);
    RANKS_EXPECT(emu_run_at(rank, (enum emu_kind)50, 0, &x, &x, 1, EMU_F64, EMU_SUM, 0, "", 1) ==
                 EMU_EINVAL);
    RANKS_EXPECT(emu_barrier(rank, 0) == EMU_OK);
    return 0;
}

static int field_body(struct emu_rank *rank, void *user)
{
    (void)user;
    uint64_t p = (UINT64_C(1) << 61) - 1, x = p - 1, sum = 0;
    RANKS_EXPECT(emu_all_reduce(rank, 0, &x, &sum, 1, EMU_FIELD61, EMU_SUM) == EMU_OK);
    RANKS_EXPECT(sum == p - emu_rank_world(rank)); /* n * -1 */
    return 0;
}

static int async_body(struct emu_rank *rank, void *user)
{
    (void)user;
    enum { CALLS = 20 }; /* more than there are slots */
    struct emu_request *requests[CALLS];
    int64_t in[CALLS], out[CALLS];
    for (unsigned i = 0; i < CALLS; i++) {
        in[i] = i + emu_rank_id(rank);
        struct emu_call call = {.kind = EMU_ALL_REDUCE,
                                .count = 1,
                                .dtype = EMU_I64,
                                .input = &in[i],
                                .output = &out[i]};
        RANKS_EXPECT(emu_start(rank, &call, &requests[i]) == EMU_OK);
    }
    int64_t n = emu_rank_world(rank);
    for (unsigned k = 0; k < CALLS; k++) {
        unsigned i = (k * 7 + 3) % CALLS; /* every one once, out of order */
        RANKS_EXPECT(emu_wait(rank, requests[i]) == EMU_OK);
        RANKS_EXPECT(out[i] == n * i + n * (n - 1) / 2);
    }
    return 0;
}

struct body_row {
    const char *name;
    ranks_body *body;
};
static const struct body_row bodies[] = {
    {"every kind, dtype, count, layout, in place or not", every_kind_body},
    {"every op", every_op_body},
    {"the group of oneself", self_group_body},
    {"bounds in a group of one", bound_body},
    {"messages to oneself", to_oneself_body},
    {"refused arguments leave the group whole", refused_body},
    {"the ledger's field", field_body},
    {"more calls open than slots, waited for out of order", async_body},
};
#define BODIES (sizeof bodies / sizeof bodies[0])

Test(backend_self, meets_the_contract, .timeout = 60)
{
    struct emu_mesh mesh;
    struct emu_mesh_error error;
    struct emu_roster roster;
    static _Alignas(64) unsigned char memory[4096];
    cr_assert_eq(emu_mesh_parse("dp=1", &mesh, &error), EMU_OK);
    emu_roster_init(&roster, &mesh);
    for (size_t i = 0; i < BODIES; i++) {
        struct emu_rank *rank;
        cr_assert_eq(emu_rank_create_self(&roster, memory, sizeof memory, &rank), EMU_OK);
        cr_expect_eq(bodies[i].body(rank, NULL), 0, "%s", bodies[i].name);
        emu_rank_destroy(rank);
    }
    emu_roster_finish(&roster);
    emu_mesh_finish(&mesh);
}

ParameterizedTestParameters(backend_shm, meets_the_contract)
{
    static unsigned sizes[] = {1, 2, 3, 4, 7, 8};
    return cr_make_param_array(unsigned, sizes, sizeof sizes / sizeof sizes[0]);
}

static uint32_t corruptions(const struct emu_segment *segment)
{
    uint32_t count = 0;
    struct emu_incident incident;
    for (uint32_t i = 0; emu_incident_read(segment, i, &incident); i++)
        count += incident.cause == EMU_INCIDENT_CORRUPT;
    return count;
}

static void meet_the_contract(unsigned size, bool checksums)
{
    char axes[16];
    snprintf(axes, sizeof axes, "dp=%u", size);
    for (size_t i = 0; i < BODIES; i++) {
        struct ranks ranks;
        struct emu_segment_params params = {.arena_bytes = 1 << 20, .checksums = checksums};
        cr_assert(ranks_open_as(&ranks, axes, NULL, params));
        cr_expect_eq(ranks_run(&ranks, bodies[i].body, NULL, 60), 0, "%s over %u ranks",
                     bodies[i].name, size);
        cr_expect_eq(corruptions(&ranks.segment), 0, "%s over %u ranks", bodies[i].name, size);
        ranks_close(&ranks);
    }
}

ParameterizedTest(unsigned *size, backend_shm, meets_the_contract, .timeout = 120)
{
    meet_the_contract(*size, false);
}

ParameterizedTestParameters(backend_shm, meets_it_with_checksums)
{
    static unsigned sizes[] = {2, 3, 7};
    return cr_make_param_array(unsigned, sizes, sizeof sizes / sizeof sizes[0]);
}

ParameterizedTest(unsigned *size, backend_shm, meets_it_with_checksums, .timeout = 120)
{
    meet_the_contract(*size, true);
}
