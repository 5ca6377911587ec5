/* Messages between ranks: order, tags, sizes, both semantics, and what becomes of them when one
 * side has gone. */
#include "ranks.h"
#include "seg/incident.h"
#include "seg/outbox.h"

#include <criterion/criterion.h>

static const uint64_t sizes[] = {0, 1, 63, 64, 65, 4096, 4097, 65536, 65537, 131072, 300001};
#define SIZES (sizeof sizes / sizeof sizes[0])

static unsigned char byte_of(uint32_t from, uint32_t to, uint64_t i)
{
    return (unsigned char)(from * 31 + to * 17 + i * 7 + i / 251);
}

/* Everyone sends every size to everyone (itself too), receives posted in another order. */
static int all_pairs(struct emu_rank *rank, void *user)
{
    emu_rank_set_strict(rank, user != NULL);
    enum { WORLD = 4, OPEN = WORLD * 11 };
    uint32_t me = emu_rank_id(rank);
    struct emu_request *sends[OPEN], *receives[OPEN];
    static unsigned char in[WORLD][300001], out[OPEN][300001];
    for (uint32_t to = 0; to < WORLD; to++)
        for (uint64_t i = 0; i < sizeof in[0]; i++)
            in[to][i] = byte_of(me, to, i);
    for (uint32_t k = 0; k < OPEN; k++) {
        struct emu_call send = {.kind = EMU_SEND,
                                .peer = k % WORLD,
                                .dtype = EMU_U8,
                                .count = sizes[k / WORLD],
                                .tag = 5,
                                .input = in[k % WORLD]};
        RANKS_EXPECT(emu_start(rank, &send, &sends[k]) == EMU_OK);
    }
    for (uint32_t k = 0; k < OPEN; k++) {
        struct emu_call recv = {.kind = EMU_RECV,
                                .peer = (k + me) % WORLD,
                                .dtype = EMU_U8,
                                .count = 300001,
                                .tag = 5,
                                .output = out[k]};
        RANKS_EXPECT(emu_start(rank, &recv, &receives[k]) == EMU_OK);
    }
    for (uint32_t j = 0; j < OPEN; j++) {
        uint32_t k = OPEN - 1 - j;
        RANKS_EXPECT(emu_wait(rank, receives[k]) == EMU_OK);
        RANKS_EXPECT(emu_received(rank) == sizes[k / WORLD]);
        for (uint64_t i = 0; i < sizes[k / WORLD]; i++)
            RANKS_EXPECT(out[k][i] == byte_of((k + me) % WORLD, me, i));
        RANKS_EXPECT(emu_wait(rank, sends[j]) == EMU_OK);
    }
    return 0;
}

Test(messages, of_every_size_arrive_in_order_between_all_pairs, .timeout = 60)
{
    cr_assert_eq(ranks_once("dp=4", NULL, all_pairs, NULL, 50), 0);
}

Test(messages, arrive_likewise_in_strict_semantics, .timeout = 60)
{
    cr_assert_eq(ranks_once("dp=4", NULL, all_pairs, "strict", 50), 0);
}

/* Far more than the outbox holds, to a receiver that is late. */
static int flood(struct emu_rank *rank, void *user)
{
    (void)user;
    for (int32_t i = 0; i < 2000; i++) {
        int32_t x = i;
        if (emu_rank_id(rank) == 0) {
            RANKS_EXPECT(emu_send(rank, 1, &x, 1, EMU_I32, i % 3) == EMU_OK);
        } else {
            if (i == 0)
                emu_clock_sleep(20000000);
            RANKS_EXPECT(emu_recv(rank, 0, &x, 1, EMU_I32, i % 3) == EMU_OK && x == i);
        }
    }
    return 0;
}

Test(messages, that_overflow_the_outbox_wait_for_room, .timeout = 30)
{
    cr_assert_eq(ranks_once("dp=2", NULL, flood, NULL, 20), 0);
}

/* More open sends than the outbox has room for: those that wait for room stay in order. */
static int open_flood(struct emu_rank *rank, void *user)
{
    (void)user;
    enum { OPEN = 700 };
    static int32_t in[OPEN];
    static struct emu_request *requests[OPEN];
    for (int32_t i = 0; i < OPEN; i++) {
        in[i] = i;
        struct emu_call send = {
            .kind = EMU_SEND, .peer = 1, .dtype = EMU_I32, .count = 1, .input = &in[i]};
        int32_t x = -1;
        if (emu_rank_id(rank) == 0)
            RANKS_EXPECT(emu_start(rank, &send, &requests[i]) == EMU_OK);
        else
            RANKS_EXPECT(emu_recv(rank, 0, &x, 1, EMU_I32, 0) == EMU_OK && x == i);
        if (i == 0) /* let the outbox fill, then empty while further sends start */
            RANKS_EXPECT(emu_barrier(rank, 0) == EMU_OK);
        if (emu_rank_id(rank) == 0 && i == 400)
            emu_clock_sleep(5000000);
    }
    for (int32_t i = 0; i < OPEN && emu_rank_id(rank) == 0; i++)
        RANKS_EXPECT(emu_wait(rank, requests[OPEN - 1 - i]) == EMU_OK);
    return 0;
}

Test(messages, that_wait_for_room_keep_their_order, .timeout = 30)
{
    cr_assert_eq(ranks_once("dp=2", NULL, open_flood, NULL, 20), 0);
}

/* Buffered: two ranks may both send first. 64 KiB is still buffered. */
static int send_first(struct emu_rank *rank, void *user)
{
    (void)user;
    static unsigned char in[65536], out[65536];
    uint32_t other = 1 - emu_rank_id(rank);
    memset(in, (int)other + 1, sizeof in);
    RANKS_EXPECT(emu_send(rank, other, in, sizeof in, EMU_U8, 1) == EMU_OK);
    RANKS_EXPECT(emu_recv(rank, other, out, sizeof out, EMU_U8, 1) == EMU_OK);
    RANKS_EXPECT(out[65535] == emu_rank_id(rank) + 1);
    return 0;
}

Test(messages, of_64_KiB_are_buffered, .timeout = 30)
{
    cr_assert_eq(ranks_once("dp=2", NULL, send_first, NULL, 20), 0);
}

/* Strict: the send has not returned while its receive has not been called. */
static int strict_order(struct emu_rank *rank, void *user)
{
    (void)user;
    emu_rank_set_strict(rank, true);
    const struct emu_segment *segment = emu_rank_segment(rank);
    int32_t x = 3;
    if (emu_rank_id(rank) == 0) {
        RANKS_EXPECT(emu_send(rank, 1, &x, 1, EMU_I32, 0) == EMU_OK);
        return 0;
    }
    struct emu_board_view board;
    do
        emu_board_look(segment, 0, &board);
    while (board.state != EMU_BOARD_WAITING); /* would spin until the deadline if it returned */
    RANKS_EXPECT(board.wait == EMU_WAIT_MESSAGE && board.call.kind == EMU_SEND);
    RANKS_EXPECT(board.call.peer == 1);
    RANKS_EXPECT(emu_recv(rank, 0, &x, 1, EMU_I32, 0) == EMU_OK);
    return 0;
}

Test(messages, a_strict_send_returns_when_its_receive_has_met_it, .timeout = 30)
{
    cr_assert_eq(ranks_once("dp=2", NULL, strict_order, NULL, 20), 0);
}

static int ring(struct emu_rank *rank, void *user)
{
    (void)user;
    emu_rank_set_strict(rank, true);
    static double in[20000], out[20000];
    uint32_t n = emu_rank_world(rank), me = emu_rank_id(rank);
    for (uint32_t turn = 0; turn < 3; turn++) {
        in[19999] = me + turn;
        RANKS_EXPECT(emu_sendrecv(rank, (me + 1) % n, in, 20000, (me + n - 1) % n, out, 20000,
                                  EMU_F64, 4) == EMU_OK);
        RANKS_EXPECT(out[19999] == (me + n - 1) % n + turn);
    }
    return 0;
}

Test(messages, sendrecv_around_a_ring_does_not_deadlock, .timeout = 30)
{
    cr_assert_eq(ranks_once("dp=5", NULL, ring, NULL, 20), 0);
}

struct misfit {
    uint64_t sent, room;
    enum emu_dtype dtype;
    bool strict;
    enum emu_status sender;
};

static int misfit_body(struct emu_rank *rank, void *user)
{
    const struct misfit *m = user;
    emu_rank_set_strict(rank, m->strict);
    static double buffer[20000];
    if (emu_rank_id(rank) == 0)
        RANKS_EXPECT(emu_send(rank, 1, buffer, m->sent, EMU_F64, 0) == m->sender);
    else
        RANKS_EXPECT(emu_recv(rank, 0, buffer, m->room, m->dtype, 0) == EMU_EMISMATCH);
    return 0;
}

Test(messages, that_do_not_fit_their_receive_are_refused_and_reported, .timeout = 60)
{
    static struct misfit rows[] = {
        {4, 3, EMU_F64, false, EMU_OK},
        {4, 4, EMU_I64, false, EMU_OK},
        {4, 3, EMU_F64, true, EMU_EMISMATCH},
        {20000, 19999, EMU_F64, false, EMU_EMISMATCH},
        {20000, 20000, EMU_I64, false, EMU_EMISMATCH},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct ranks ranks;
        struct emu_incident incident;
        cr_assert(ranks_open(&ranks, "dp=2", NULL));
        cr_expect_eq(ranks_run(&ranks, misfit_body, &rows[i], 10), 0, "row %zu", i);
        cr_assert(emu_incident_read(&ranks.segment, 0, &incident));
        cr_expect_eq(incident.cause, EMU_INCIDENT_MESSAGE);
        cr_expect_eq(incident.rank, 1);
        cr_expect(incident.call.kind == EMU_RECV && incident.call.count == rows[i].room);
        cr_expect(incident.sent.kind == EMU_SEND && incident.sent.count == rows[i].sent);
        ranks_close(&ranks);
    }
}

/* Rank 0 leaves three messages and ends; rank 1 takes them long after, and then there is none. */
static int legacy(struct emu_rank *rank, void *user)
{
    (void)user;
    int32_t x = 1;
    if (emu_rank_id(rank) == 0) {
        for (x = 1; x <= 3; x++)
            RANKS_EXPECT(emu_send(rank, 1, &x, 1, EMU_I32, x % 2) == EMU_OK);
        return 0;
    }
    while (!emu_rank_failed(rank, 0))
        emu_clock_sleep(1000000);
    RANKS_EXPECT(emu_recv(rank, 0, &x, 1, EMU_I32, 0) == EMU_OK && x == 2);
    RANKS_EXPECT(emu_recv(rank, 0, &x, 1, EMU_I32, 1) == EMU_OK && x == 1);
    RANKS_EXPECT(emu_recv(rank, 0, &x, 1, EMU_I32, 0) == EMU_EPEER);
    return 0;
}

Test(messages, outlive_their_sender, .timeout = 30)
{
    struct ranks ranks;
    struct emu_incident incident;
    struct emu_message_view left;
    cr_assert(ranks_open(&ranks, "dp=2", NULL));
    cr_expect_eq(ranks_run(&ranks, legacy, NULL, 20), 0);
    cr_assert(emu_incident_read(&ranks.segment, 0, &incident));
    cr_expect(incident.cause == EMU_INCIDENT_PEER && incident.rank == 0);
    cr_expect(incident.call.kind == EMU_RECV && incident.group == EMU_GROUP_SELF);
    uint32_t lost = 0;
    for (uint32_t i = 0; i < EMU_MESSAGES_MAX; i++)
        if (emu_outbox_read(&ranks.segment, 0, i, &left)) {
            lost++;
            cr_expect(left.to == 1 && left.call.tag == 1 && left.call.count == 1);
        }
    cr_expect_eq(lost, 1, "the third message was never received");
    ranks_close(&ranks);
}

/* Who waits for a rank that ends wakes up: receiver, large sender. */
static int deserted(struct emu_rank *rank, void *user)
{
    (void)user;
    static double big[20000];
    if (emu_rank_id(rank) == 0) {
        emu_clock_sleep(30000000);
        return 0;
    }
    if (emu_rank_id(rank) == 1)
        RANKS_EXPECT(emu_recv(rank, 0, big, 1, EMU_F64, 0) == EMU_EPEER);
    else
        RANKS_EXPECT(emu_send(rank, 0, big, 20000, EMU_F64, 0) == EMU_EPEER);
    return 0;
}

Test(messages, nobody_waits_for_a_rank_that_has_ended, .timeout = 30)
{
    cr_assert_eq(ranks_once("dp=3", NULL, deserted, NULL, 20), 0);
}
