/* Every way gives the bits of one plain fold, wherever buffers lie: kinds, dtypes, ops, layouts, in
 * place or not, sizes around every border, on 2, 3, 5 and 8 ranks, and in groups along an axis
 * whose members would all be on one core. */
#include "exact_trial.h"
#include "ways_table.h"

#include <criterion/criterion.h>
#include <criterion/parameterized.h>

/* Bytes of an input; the last ones are more than a round. */
static const uint64_t sizes[] = {0,    1,    24,    56,    64,    72,    136,    2040,
                                 2048, 2056, 16384, 16392, 65528, 65544, 131080, EXACT_BYTES};
#define SIZES (sizeof sizes / sizeof sizes[0])
#define SMALL 7

static bool is_legal(const struct exact_trial *t)
{
    return t->in != EXACT_OWN_PLACE || exact_gathers(t);
}

/* One trial; counts them. */
static int try_one(struct emu_rank *rank, uint32_t group, struct exact_trial *t,
                   const struct exact_buffers *b)
{
    static const uint32_t coefficients[] = {0, 3, 0, 9, 0, EXACT_COEFFICIENTS, 0};
    if (!is_legal(t))
        return 0;
    t->coefficients = coefficients[t->number % 7];
    struct exact_run run = exact_prepare(rank, group, t, b);
    t->number++;
    struct exact_trial made = *t;
    made.number--;
    enum emu_status status = emu_run_call(rank, &run.call);
    int code = exact_verify(rank, group, &made, &run, b->wanted);
    if (status || code)
        fprintf(stderr,
                "%s %s %s count %lu layout %d in %d place %d root %u coefficients %u: status %d\n",
                emu_kind_name(t->kind), emu_dtype_name(t->dtype), emu_op_name(t->op),
                (unsigned long)t->count, t->layout, t->in, t->place, t->root, t->coefficients,
                status);
    RANKS_EXPECT(status == EMU_OK);
    return code;
}

/* In place or not, and everywhere where it matters: of payloads that go by deposits alone the place
 * is taken in turns. */
static int try_places(struct emu_rank *rank, uint32_t group, struct exact_trial *t,
                      const struct exact_buffers *b)
{
    bool all = emu_rank_segment(rank)->ways.lend_from_few == 0;
    int code = 0;
    for (int in = 0; in < EXACT_INS && !code; in++)
        for (int place = 0; place < EXACT_PLACES && !code; place++) {
            if (!all && place != (int)(t->number % EXACT_PLACES))
                continue;
            t->in = (enum exact_in)in;
            t->place = (enum exact_place)place;
            t->root = t->number % emu_rank_group_size(rank, group);
            code = try_one(rank, group, t, b);
        }
    return code;
}

static int ops_of(enum emu_kind kind)
{
    return kind == EMU_REDUCE || kind == EMU_ALL_REDUCE || kind == EMU_REDUCE_SCATTER ? EMU_OP_COUNT
                                                                                      : 1;
}

static int layouts_of(enum emu_kind kind)
{
    return kind == EMU_GATHER || kind == EMU_ALL_GATHER ? 2 : 1;
}

/* Every kind, op, layout and dtype of inputs of so many bytes; of long ones a dtype each. */
static int try_size(struct emu_rank *rank, uint32_t group, size_t size, struct exact_trial *t,
                    const struct exact_buffers *b)
{
    int code = 0;
    for (int kind = EMU_BROADCAST; kind <= EMU_SCATTER; kind++)
        for (int op = 0; op < ops_of((enum emu_kind)kind); op++)
            for (int layout = 0; layout < layouts_of((enum emu_kind)kind); layout++)
                for (int dtype = EMU_F64; dtype <= EMU_U8 && !code; dtype++) {
                    if (size >= SMALL && dtype != (kind + op + (int)size) % (EMU_U8 + 1))
                        continue;
                    t->kind = (enum emu_kind)kind;
                    t->op = (enum emu_op)op;
                    t->layout = (enum emu_layout)layout;
                    t->dtype = (enum emu_dtype)dtype;
                    t->count = sizes[size] / emu_dtype_bytes(t->dtype);
                    if (sizes[size] == 1)
                        t->count = 1;
                    code = try_places(rank, group, t, b);
                }
    return code;
}

struct order {
    const char *group; /* NULL: the world */
};

static int all_trials(struct emu_rank *rank, void *user)
{
    const struct order *order = user;
    uint32_t group = 0;
    struct exact_buffers b;
    struct exact_trial t = {0};
    RANKS_EXPECT(!order->group || emu_rank_group(rank, order->group, &group) == EMU_OK);
    RANKS_EXPECT(exact_buffers_make(rank, EXACT_BYTES, &b));
    int code = 0;
    for (size_t size = 0; size < SIZES && !code; size++)
        code = try_size(rank, group, size, &t, &b);
    exact_buffers_free(&b);
    return code;
}

static int run_under(const struct way *way, const char *axes, ranks_body *body, void *user)
{
    struct ranks ranks;
    struct emu_segment_params params = {.arena_bytes = 4 * (EXACT_BYTES * 8 + 4096) + (1 << 24),
                                        .checksums = way->checksums,
                                        .ways = &way->table};
    if (!ranks_open_as(&ranks, axes, NULL, params))
        return -2;
    int code = ranks_run(&ranks, body, user, 200);
    ranks_close(&ranks);
    return code;
}

ParameterizedTestParameters(ways, agree_bit_by_bit_with_one_plain_fold)
{
    static size_t which[WAYS];
    for (size_t i = 0; i < WAYS; i++)
        which[i] = i;
    return cr_make_param_array(size_t, which, WAYS);
}

ParameterizedTest(size_t *which, ways, agree_bit_by_bit_with_one_plain_fold, .timeout = 290)
{
    static const char *const meshes[] = {"dp=2", "dp=3", "dp=5", "dp=8"};
    exact_fill();
    for (size_t i = 0; i < sizeof meshes / sizeof meshes[0]; i++)
        cr_expect_eq(run_under(&ways[*which], meshes[i], all_trials, &(struct order){NULL}), 0,
                     "%s over %s", ways[*which].name, meshes[i]);
}

/* Calls of all kinds and lengths are open together, some queued behind others; every rank waits for
 * them in another order, and does something else before. */
#define OPEN 12
#define OPEN_BYTES UINT64_C(70000)

static struct exact_trial open_trial(uint32_t turn, uint32_t i, uint32_t size)
{
    static const uint64_t bytes[] = {8, 4096, 64, OPEN_BYTES, 2056, 20000};
    uint64_t state = turn * OPEN + i;
    struct exact_trial t = {.kind = EMU_BROADCAST + exact_random(&state) % 8,
                            .dtype = (enum emu_dtype)(exact_random(&state) % (EMU_U8 + 1)),
                            .op = (enum emu_op)(exact_random(&state) % EMU_OP_COUNT),
                            .in = (enum exact_in)(exact_random(&state) % 2),
                            .place = (enum exact_place)(exact_random(&state) % EXACT_PLACES),
                            .root = (uint32_t)(exact_random(&state) % size),
                            .number = turn + i};
    t.count = bytes[exact_random(&state) % 6] / emu_dtype_bytes(t.dtype);
    t.coefficients = i % 4 == 1 ? EXACT_COEFFICIENTS / (1 + i) : 0;
    return t;
}

static int open_trials(struct emu_rank *rank, void *user)
{
    (void)user;
    static struct exact_buffers b[OPEN];
    struct exact_run runs[OPEN];
    struct emu_request *requests[OPEN];
    uint32_t tp, me = emu_rank_id(rank);
    RANKS_EXPECT(emu_rank_group(rank, "tp", &tp) == EMU_OK);
    for (uint32_t i = 0; i < OPEN; i++)
        RANKS_EXPECT(exact_buffers_make(rank, OPEN_BYTES, &b[i]));
    for (uint32_t turn = 0; turn < 25; turn++) {
        uint64_t state = turn * 100 + me;
        for (uint32_t i = 0; i < OPEN; i++) {
            uint32_t group = i % 3 ? 0 : tp;
            struct exact_trial t = open_trial(turn, i, emu_rank_group_size(rank, group));
            runs[i] = exact_prepare(rank, group, &t, &b[i]);
            RANKS_EXPECT(emu_start(rank, &runs[i].call, &requests[i]) == EMU_OK);
            if (exact_random(&state) % 8 == 0)
                emu_clock_sleep(exact_random(&state) % 300000);
        }
        if (turn % 3 == 0)
            RANKS_EXPECT(emu_barrier(rank, tp) == EMU_OK);
        uint32_t first = (uint32_t)(exact_random(&state) % OPEN);
        for (uint32_t k = 0; k < OPEN; k++) {
            uint32_t i = (first + k * 5) % OPEN;
            RANKS_EXPECT(emu_wait(rank, requests[i]) == EMU_OK);
            struct exact_trial t =
                open_trial(turn, i, emu_rank_group_size(rank, runs[i].call.group));
            int code = exact_verify(rank, runs[i].call.group, &t, &runs[i], b[i].wanted);
            if (code)
                return code;
        }
    }
    for (uint32_t i = 0; i < OPEN; i++)
        exact_buffers_free(&b[i]);
    return 0;
}

Test(ways, agree_where_many_calls_are_open_and_waited_for_in_any_order, .timeout = 200)
{
    exact_fill();
    for (size_t i = 0; i < WAYS; i++)
        cr_expect_eq(run_under(&ways[i], "dp=2,tp=3", open_trials, NULL), 0, "%s", ways[i].name);
}

/* Leaders that have started a call, but do something else until it is over for somebody: the others
 * carry it out without them. user: how many of the first ranks stay away. */
static int without_leaders(struct emu_rank *rank, void *user)
{
    uint32_t me = emu_rank_id(rank), n = emu_rank_world(rank), away = *(uint32_t *)user;
    enum { COUNT = 20000 };
    double *in = emu_rank_alloc(rank, COUNT * sizeof *in);
    double *out = emu_rank_alloc(rank, COUNT * sizeof *out);
    double mark = 0;
    RANKS_EXPECT(in && out);
    for (uint32_t turn = 1; turn <= 60; turn++) {
        struct emu_request *request;
        struct emu_call call = {
            .kind = EMU_ALL_REDUCE, .dtype = EMU_F64, .count = COUNT, .input = in, .output = out};
        in[COUNT - 1] = me + turn;
        RANKS_EXPECT(emu_start(rank, &call, &request) == EMU_OK);
        if (me >= away)
            RANKS_EXPECT(emu_wait(rank, request) == EMU_OK);
        /* the last rank says that it is through */
        for (uint32_t to = 0; to < away && me == n - 1; to++)
            RANKS_EXPECT(emu_send(rank, to, &mark, 1, EMU_F64, 0) == EMU_OK);
        if (me < away) {
            RANKS_EXPECT(emu_recv(rank, n - 1, &mark, 1, EMU_F64, 0) == EMU_OK);
            RANKS_EXPECT(emu_wait(rank, request) == EMU_OK);
        }
        RANKS_EXPECT(out[COUNT - 1] == n * turn + n * (n - 1) / 2);
    }
    return 0;
}

Test(ways, need_no_leader_that_waits_for_something_else, .timeout = 100)
{
    for (size_t i = 0; i < WAYS; i++)
        for (uint32_t away = 1; ways[i].lends && away < 5; away += 2)
            cr_expect_eq(run_under(&ways[i], "dp=5", without_leaders, &away), 0, "%s, %u away",
                         ways[i].name, away);
}

/* dp: ranks 0 2 4 or 1 3 5, all on one core of two. */
Test(ways, agree_in_groups_along_every_axis, .timeout = 290)
{
    exact_fill();
    for (size_t i = 0; i < WAYS; i++) {
        cr_expect_eq(run_under(&ways[i], "dp=3,tp=2", all_trials, &(struct order){"dp"}), 0,
                     "%s over dp", ways[i].name);
        cr_expect_eq(run_under(&ways[i], "dp=3,tp=2", all_trials, &(struct order){"tp"}), 0,
                     "%s over tp", ways[i].name);
    }
}
