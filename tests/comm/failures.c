/* Ranks that die at any moment, and runs that are ended: nobody hangs, and all survivors of a call
 * are told the same. */
#include "ranks.h"
#include "seg/gate.h"
#include "seg/incident.h"

#include <criterion/criterion.h>

static int dies_first(struct emu_rank *rank, void *user)
{
    (void)user;
    double x = 1, y = -7;
    RANKS_EXPECT(emu_barrier(rank, 0) == EMU_OK);
    if (emu_rank_id(rank) == 2)
        raise(SIGKILL);
    RANKS_EXPECT(emu_all_reduce(rank, 0, &x, &y, 1, EMU_F64, EMU_SUM) == EMU_EPEER);
    RANKS_EXPECT(y == -7);
    RANKS_EXPECT(emu_rank_failed(rank, 2) && !emu_rank_failed(rank, emu_rank_id(rank)));
    for (int i = 0; i < 20; i++)
        RANKS_EXPECT(emu_barrier(rank, 0) == EMU_EPEER);
    uint32_t tp;
    RANKS_EXPECT(emu_rank_group(rank, "tp", &tp) == EMU_OK);
    if (emu_rank_id(rank) < 2)
        for (int i = 0; i < 20; i++)
            RANKS_EXPECT(emu_barrier(rank, tp) == EMU_OK);
    return 0;
}

Test(failures, a_killed_member_breaks_its_groups_and_no_other, .timeout = 30)
{
    struct ranks ranks;
    struct emu_incident incident;
    struct emu_member_view members[4];
    cr_assert(ranks_open(&ranks, "dp=2,tp=2", NULL));
    ranks_run(&ranks, dies_first, NULL, 20);
    for (int i = 0; i < 4; i++)
        cr_expect_eq(ranks.codes[i], i == 2 ? RANKS_SIGNAL + SIGKILL : 0, "rank %d: %d", i,
                     ranks.codes[i]);
    cr_assert(emu_incident_read(&ranks.segment, 0, &incident));
    cr_expect(incident.cause == EMU_INCIDENT_PEER && incident.rank == 2);
    cr_expect(incident.group == 0 && incident.index == 1);
    cr_expect_not(emu_incident_read(&ranks.segment, 1, &incident));
    emu_slot_members(&ranks.segment, 0, 1, members);
    for (int i = 0; i < 4; i++)
        cr_expect_eq(members[i].has_call, i != 2);
    struct emu_recorded_call calls[EMU_INCIDENT_MAX];
    uint32_t n = emu_recorder_read(&ranks.segment, 2, calls, EMU_INCIDENT_MAX);
    cr_expect(n == 1 && calls[0].call.kind == EMU_BARRIER && calls[0].ended_ns > 0,
              "the dead rank's recorder is readable");
    ranks_close(&ranks);
}

/* What a dead rank had deposited is there for the others. */
static int leaves_deposits(struct emu_rank *rank, void *user)
{
    (void)user;
    static double in[8], out[8][8];
    struct emu_request *requests[8];
    for (int i = 0; i < 8; i++) {
        struct emu_call call = {
            .kind = EMU_ALL_REDUCE, .count = 8, .dtype = EMU_F64, .input = in, .output = out[i]};
        for (int j = 0; j < 8; j++)
            in[j] = i + 1;
        if (emu_rank_id(rank) != 1) {
            while (!emu_rank_failed(rank, 1))
                emu_clock_sleep(1000000);
            RANKS_EXPECT(emu_run_call(rank, &call) == EMU_OK && out[i][7] == 3 * (i + 1));
        } else {
            RANKS_EXPECT(emu_start(rank, &call, &requests[i]) == EMU_OK);
        }
    }
    if (emu_rank_id(rank) == 1)
        raise(SIGKILL);
    RANKS_EXPECT(emu_barrier(rank, 0) == EMU_EPEER);
    return 0;
}

Test(failures, deposits_outlive_their_rank, .timeout = 30)
{
    struct ranks ranks;
    cr_assert(ranks_open(&ranks, "dp=3", NULL));
    ranks_run(&ranks, leaves_deposits, NULL, 20);
    cr_expect(ranks.codes[0] == 0 && ranks.codes[2] == 0);
    ranks_close(&ranks);
}

/* Calls of one and of many rounds, open and waited for, until the group breaks. Each survivor
 * writes the outcome of every call into its arena: 1 + status. */
#define CALLS_LOGGED 100000

static int until_broken(struct emu_rank *rank, void *user)
{
    (void)user;
    enum { BIG = 40000 };
    static double in[BIG], out[2][BIG];
    unsigned char *log = emu_rank_alloc(rank, CALLS_LOGGED);
    RANKS_EXPECT(log);
    double n = emu_rank_world(rank);
    for (int i = 0; i < BIG; i++)
        in[i] = i % 5;
    enum emu_status status = EMU_OK;
    for (uint32_t k = 0; !status && k + 2 < CALLS_LOGGED; k += 2) {
        struct emu_request *requests[2];
        for (uint32_t i = 0; i < 2; i++) {
            struct emu_call call = {.kind = EMU_ALL_REDUCE,
                                    .dtype = EMU_F64,
                                    .input = in,
                                    .output = out[i],
                                    .count = (k / 2 + i) % 2 ? 3 : BIG};
            RANKS_EXPECT(emu_start(rank, &call, &requests[i]) == EMU_OK);
        }
        for (uint32_t i = 0; i < 2; i++) {
            enum emu_status ended = emu_wait(rank, requests[i]);
            log[k + i] = (unsigned char)(1 + ended);
            status = ended ? ended : status;
            RANKS_EXPECT(ended || out[i][2] == 2 * n);
            RANKS_EXPECT(ended || (k / 2 + i) % 2 || out[i][BIG - 1] == in[BIG - 1] * n);
        }
    }
    RANKS_EXPECT(status == EMU_EPEER);
    return 0;
}

static void kill_after(struct ranks *ranks, uint32_t victim, uint64_t ns)
{
    ranks_fork(ranks, until_broken, NULL);
    emu_clock_sleep(ns);
    kill(ranks->pids[victim], SIGKILL);
    ranks_reap(ranks, 20);
}

/* A process under AddressSanitizer takes the kernel many times longer to copy and to end. */
#if defined(__SANITIZE_ADDRESS__)
#define KILLS 200
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define KILLS 200
#endif
#endif
#ifndef KILLS
#define KILLS 2000
#endif

Test(failures, at_a_random_moment_leave_every_call_whole_or_broken_for_all, .timeout = 240)
{
    uint64_t random = 12345;
    for (int run = 0; run < KILLS; run++) {
        struct ranks ranks;
        cr_assert(ranks_open(&ranks, "dp=4", NULL));
        random = random * UINT64_C(6364136223846793005) + 1442695040888963407u;
        uint32_t victim = (uint32_t)(random >> 60) % 4;
        kill_after(&ranks, victim, (random >> 33) % 6000000);
        const unsigned char *logs[4];
        for (uint32_t i = 0; i < 4; i++) {
            logs[i] = emu_segment_arena(&ranks.segment, i);
            cr_expect_eq(ranks.codes[i], i == victim ? RANKS_SIGNAL + SIGKILL : 0, "run %d", run);
        }
        uint32_t first = victim == 0 ? 1 : 0;
        for (uint32_t i = 0; i < 4; i++)
            if (i != victim)
                cr_expect_eq(memcmp(logs[i], logs[first], CALLS_LOGGED), 0,
                             "run %d: ranks %u and %u were told different things", run, first, i);
        ranks_close(&ranks);
    }
}

/* Each rank waits somewhere else; the abort reaches all. */
static int waits_somewhere(struct emu_rank *rank, void *user)
{
    (void)user;
    static double big[20000];
    enum emu_gate_verdict verdict;
    double x;
    switch (emu_rank_id(rank)) {
    case 0:
        RANKS_EXPECT(emu_barrier(rank, 0) == EMU_EABORTED);
        break;
    case 1:
        RANKS_EXPECT(emu_recv(rank, 0, &x, 1, EMU_F64, 0) == EMU_EABORTED);
        break;
    case 2:
        RANKS_EXPECT(emu_send(rank, 0, big, 20000, EMU_F64, 0) == EMU_EABORTED);
        break;
    default:
        RANKS_EXPECT(emu_gate_pass(emu_rank_segment(rank), 3, 1, &verdict) == EMU_EABORTED);
    }
    RANKS_EXPECT(emu_barrier(rank, 0) == EMU_EABORTED);
    return 0;
}

static void await_waiting(const struct ranks *ranks)
{
    struct emu_board_view board;
    for (uint32_t i = 0; i < ranks->mesh.world; i++)
        do {
            emu_clock_sleep(100000);
            emu_board_look(&ranks->segment, i, &board);
        } while (board.state != EMU_BOARD_WAITING);
}

Test(failures, an_abort_wakes_every_sleeper, .timeout = 60)
{
    for (int run = 0; run < 20; run++) {
        struct ranks ranks;
        cr_assert(ranks_open(&ranks, "dp=4", NULL));
        ranks_fork(&ranks, waits_somewhere, NULL);
        if (run % 2)
            await_waiting(&ranks);
        else
            emu_clock_sleep((uint64_t)run * 100000); /* also while they are on their way */
        emu_abort_post(&ranks.segment, 5);
        emu_abort_post(&ranks.segment, 6);
        ranks_reap(&ranks, 10);
        for (int i = 0; i < 4; i++)
            cr_expect_eq(ranks.codes[i], 0, "run %d rank %d: %d", run, i, ranks.codes[i]);
        cr_expect_eq(emu_abort_look(&ranks.segment), 5, "the first cause stays");
        ranks_close(&ranks);
    }
}

static int two_die(struct emu_rank *rank, void *user)
{
    (void)user;
    if (emu_rank_id(rank) == 1 || emu_rank_id(rank) == 3)
        raise(SIGKILL);
    RANKS_EXPECT(emu_barrier(rank, 0) == EMU_EPEER);
    return 0;
}

Test(failures, of_several_ranks_are_one_incident_of_the_group, .timeout = 30)
{
    struct ranks ranks;
    struct emu_incident incident;
    cr_assert(ranks_open(&ranks, "dp=5", NULL));
    ranks_run(&ranks, two_die, NULL, 20);
    cr_expect(ranks.codes[0] == 0 && ranks.codes[2] == 0 && ranks.codes[4] == 0);
    cr_expect(emu_incident_read(&ranks.segment, 0, &incident));
    cr_expect(incident.rank == 1 || incident.rank == 3);
    ranks_close(&ranks);
}

/* Large and small messages around a ring, until a rank dies: nobody hangs, with a ferry half full
 * or a message just announced. */
static int ring_until_broken(struct emu_rank *rank, void *user)
{
    emu_rank_set_strict(rank, user != NULL);
    enum { BIG = 250000 };
    static unsigned char in[BIG], out[BIG];
    uint32_t n = emu_rank_world(rank), me = emu_rank_id(rank);
    for (uint64_t turn = 0;; turn++) {
        uint64_t count = turn % 3 == 0 ? BIG : turn % 3 * 100;
        in[count - 1] = (unsigned char)(turn * 7 + me);
        enum emu_status status =
            emu_sendrecv(rank, (me + 1) % n, in, count, (me + n - 1) % n, out, count, EMU_U8, 0);
        if (status == EMU_EPEER)
            return 0;
        RANKS_EXPECT(status == EMU_OK);
        RANKS_EXPECT(out[count - 1] == (unsigned char)(turn * 7 + (me + n - 1) % n));
    }
}

Test(failures, of_a_messenger_leave_nobody_waiting, .timeout = 120)
{
    uint64_t random = 99;
    for (int run = 0; run < 40; run++) {
        struct ranks ranks;
        cr_assert(ranks_open(&ranks, "dp=3", NULL));
        random = random * UINT64_C(6364136223846793005) + 1442695040888963407u;
        ranks_fork(&ranks, ring_until_broken, run % 2 ? "strict" : NULL);
        emu_clock_sleep((random >> 33) % 6000000);
        kill(ranks.pids[1], SIGKILL);
        ranks_reap(&ranks, 20);
        for (uint32_t i = 0; i < 3; i++)
            cr_expect_eq(ranks.codes[i], i == 1 ? RANKS_SIGNAL + SIGKILL : 0, "run %d: %d", run,
                         ranks.codes[i]);
        ranks_close(&ranks);
    }
}
