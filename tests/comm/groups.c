/* Many groups of one mesh at work: each in its own order, payloads of one and of many rounds. */
#include "trial.h"

#include <criterion/criterion.h>

static const char *const more_groups[] = {"dp,cp", "cp,dp", "tp,dp", NULL};
#define MESH "dp=2,cp=2,tp=2"

static int over_all_groups(struct emu_rank *rank, void *user)
{
    static const char *const names[] = {"dp", "tp", "dp,cp", "world", "cp,dp", "cp", "tp,dp"};
    const uint64_t *count = user;
    for (uint32_t round = 0; round < 14; round++)
        for (int kind = EMU_BARRIER; kind <= EMU_SCATTER; kind++) {
            /* Sibling groups go in different orders; ranks of one group in the same. */
            const char *name = names[round % 7];
            uint32_t group;
            RANKS_EXPECT(emu_rank_group(rank, name, &group) == EMU_OK);
            struct trial t = {.kind = (enum emu_kind)kind,
                              .dtype = EMU_I64,
                              .count = *count,
                              .root = 1,
                              .in_place = (uint32_t)kind % 2 == round / 7,
                              .layout = round % 2};
            int code = run_trial(rank, group, &t);
            if (code)
                return code;
        }
    return 0;
}

Test(groups, every_axis_set_combines_its_own_members, .timeout = 60)
{
    uint64_t count = 11;
    cr_assert_eq(ranks_once(MESH, more_groups, over_all_groups, &count, 50), 0);
}

Test(groups, payloads_of_many_rounds_arrive_whole, .timeout = 120)
{
    uint64_t count = 40961; /* 320 KiB and a bit: six rounds, the last one short */
    cr_assert_eq(ranks_once(MESH, more_groups, over_all_groups, &count, 100), 0);
}

/* Open requests in several groups at once, waited for in another order on every rank; the large
 * ones need progress by ranks that wait for something else. */
static int interleaved(struct emu_rank *rank, void *user)
{
    (void)user;
    enum { FAMILIES = 4, EACH = 5, COUNT = 20000 };
    static const char *const names[FAMILIES] = {"dp", "tp", "dp,cp", "world"};
    static int64_t in[COUNT], out[FAMILIES * EACH][COUNT];
    struct emu_request *requests[FAMILIES * EACH];
    uint32_t sizes[FAMILIES], me = emu_rank_id(rank);
    for (int i = 0; i < COUNT; i++)
        in[i] = 1 + i % 3;
    for (uint32_t i = 0; i < FAMILIES * EACH; i++) {
        uint32_t group, f = i % FAMILIES;
        RANKS_EXPECT(emu_rank_group(rank, names[f], &group) == EMU_OK);
        sizes[f] = emu_rank_group_size(rank, group);
        struct emu_call call = {.kind = EMU_ALL_REDUCE,
                                .group = group,
                                .dtype = EMU_I64,
                                .count = i % 2 ? COUNT : 3,
                                .input = in,
                                .output = out[i]};
        RANKS_EXPECT(emu_start(rank, &call, &requests[i]) == EMU_OK);
    }
    RANKS_EXPECT(emu_rank_open_requests(rank) == FAMILIES * EACH);
    for (uint32_t k = 0; k < FAMILIES * EACH; k++) {
        uint32_t i = (k * 7 + me * 3) % (FAMILIES * EACH);
        RANKS_EXPECT(emu_wait(rank, requests[i]) == EMU_OK);
        for (uint32_t e = 0; e < (i % 2 ? COUNT : 3); e++)
            RANKS_EXPECT(out[i][e] == (int64_t)sizes[i % FAMILIES] * in[e]);
    }
    RANKS_EXPECT(emu_rank_open_requests(rank) == 0);
    return 0;
}

Test(groups, open_calls_of_several_groups_finish_in_any_order, .timeout = 60)
{
    cr_assert_eq(ranks_once(MESH, more_groups, interleaved, NULL, 50), 0);
}

static int thousand_small(struct emu_rank *rank, void *user)
{
    (void)user;
    uint32_t n = emu_rank_world(rank);
    for (int64_t i = 0; i < 1000; i++) {
        int64_t sum = 0, x = i + emu_rank_id(rank);
        RANKS_EXPECT(emu_all_reduce(rank, 0, &x, &sum, 1, EMU_I64, EMU_SUM) == EMU_OK);
        RANKS_EXPECT(sum == n * i + n * (n - 1) / 2);
    }
    return 0;
}

Test(groups, a_thousand_small_calls_keep_their_order, .timeout = 60)
{
    cr_assert_eq(ranks_once("dp=8", NULL, thousand_small, NULL, 50), 0);
}

/* The same bits on all members, in an order in which floating point shows the order. */
static int same_bits(struct emu_rank *rank, void *user)
{
    (void)user;
    enum { N = 3000 };
    static float in[N], out[N], all[8 * N];
    for (int i = 0; i < N; i++)
        in[i] = 1.0f / (float)(1 + i * 7 + (int)emu_rank_id(rank) * 13);
    RANKS_EXPECT(emu_all_reduce(rank, 0, in, out, N, EMU_F32, EMU_AVG) == EMU_OK);
    RANKS_EXPECT(emu_all_gather(rank, 0, out, all, N, EMU_F32) == EMU_OK);
    for (int m = 0; m < 8; m++)
        RANKS_EXPECT(memcmp(all + m * N, out, sizeof out) == 0);
    for (int i = 0; i < N; i++) {
        float sum = 1.0f / (float)(1 + i * 7);
        for (int m = 1; m < 8; m++)
            sum += 1.0f / (float)(1 + i * 7 + m * 13);
        sum /= 8;
        RANKS_EXPECT(memcmp(&sum, &out[i], sizeof sum) == 0);
    }
    return 0;
}

Test(groups, sums_are_folded_in_group_order_on_every_member, .timeout = 60)
{
    cr_assert_eq(ranks_once("dp=8", NULL, same_bits, NULL, 50), 0);
}

/* Junk where an argument does not matter, count 0 with NULL, memory outside the arena and in it. */
static int junk(struct emu_rank *rank, void *user)
{
    (void)user;
    uint32_t me = emu_rank_id(rank);
    int32_t *arena = emu_rank_alloc(rank, 4 * sizeof *arena);
    RANKS_EXPECT(arena && (uintptr_t)arena % 64 == 0 && arena[3] == 0);
    for (int i = 0; i < 4; i++)
        arena[i] = (int32_t)me;
    int32_t out[4];
    struct emu_call call = {.kind = EMU_ALL_REDUCE,
                            .dtype = EMU_I32,
                            .count = 4,
                            .root = me + 77,
                            .peer = me * 99,
                            .tag = (int32_t)me,
                            .layout = (enum emu_layout)me,
                            .input = arena,
                            .output = out};
    RANKS_EXPECT(emu_run_call(rank, &call) == EMU_OK && out[2] == 6);
    call.kind = EMU_BROADCAST;
    call.root = 3;
    call.op = (enum emu_op)(me * 5);
    call.input = me == 3 ? arena : (void *)1; /* not read elsewhere */
    call.output = me == 3 ? NULL : out;
    RANKS_EXPECT(emu_run_call(rank, &call) == EMU_OK);
    RANKS_EXPECT(me == 3 || out[0] == 3);
    call.kind = EMU_BARRIER;
    call.count = me + 5;
    call.dtype = (enum emu_dtype)(me + 40);
    RANKS_EXPECT(emu_run_call(rank, &call) == EMU_OK);
    RANKS_EXPECT(emu_all_gather(rank, 0, NULL, NULL, 0, EMU_F64) == EMU_OK);
    int32_t *whole = me == 1 ? out : NULL; /* buffers of the root alone */
    RANKS_EXPECT(emu_gather(rank, 0, arena, whole, 1, EMU_I32, 1) == EMU_OK);
    RANKS_EXPECT(me != 1 || (out[0] == 0 && out[3] == 3));
    RANKS_EXPECT(emu_reduce(rank, 0, arena, whole, 4, EMU_I32, EMU_MAX, 1) == EMU_OK);
    RANKS_EXPECT(me != 1 || out[3] == 3);
    RANKS_EXPECT(emu_scatter(rank, 0, whole, arena, 4, EMU_I32, 1) == EMU_OK && arena[0] == 3);
    return 0;
}

Test(groups, arguments_that_do_not_matter_may_hold_anything, .timeout = 30)
{
    cr_assert_eq(ranks_once("dp=4", NULL, junk, NULL, 20), 0);
}

/* A rank may end as soon as its own calls are done. */
static int early_leavers(struct emu_rank *rank, void *user)
{
    (void)user;
    uint32_t tp;
    RANKS_EXPECT(emu_rank_group(rank, "tp", &tp) == EMU_OK);
    RANKS_EXPECT(emu_barrier(rank, 0) == EMU_OK);
    if (emu_rank_id(rank) < 2)
        return 0;
    for (int i = 0; i < 100; i++)
        RANKS_EXPECT(emu_barrier(rank, tp) == EMU_OK);
    return 0;
}

Test(groups, ranks_that_leave_early_disturb_nobody, .timeout = 30)
{
    struct ranks ranks;
    cr_assert(ranks_open(&ranks, "dp=2,tp=2", NULL));
    cr_assert_eq(ranks_run(&ranks, early_leavers, NULL, 20), 0);
    ranks_close(&ranks);
}
