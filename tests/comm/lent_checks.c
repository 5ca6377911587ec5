/* What is lent and summed: a byte that changes between a member's signature and the fold is told to
 * all members, a byte that nobody takes to nobody; which calls are lent at all; how they are cut.
 */
#include "comm/shm.h"
#include "exact_trial.h"
#include "seg/incident.h"
#include "ways_table.h"

#include <criterion/criterion.h>
#include <criterion/parameterized.h>

#define WORLD 3
#define COUNT 20000 /* f64: blocks of 4 KiB, and a last one that is shorter */
#define COEFFICIENTS 700

static const struct emu_ways lending = {2, 0, 0, 16384, NEVER};

/* One byte changes. */
struct change {
    enum emu_kind kind;
    uint64_t count;
    int64_t at;  /* of the member's input, or of its coefficients; behind or before them too */
    bool ledger; /* of its coefficients */
    uint32_t rank;
    bool seen; /* by all */
};

static struct exact_trial trial_of(const struct change *c)
{
    return (struct exact_trial){.kind = c->kind,
                                .dtype = EMU_F64,
                                .layout = EMU_LAYOUT_CHUNKS,
                                .count = c->count,
                                .root = 1,
                                .number = 1,
                                .coefficients = COEFFICIENTS};
}

static int change_one(struct emu_rank *rank, void *user)
{
    const struct change *c = user;
    struct exact_trial t = trial_of(c);
    struct exact_buffers b;
    struct emu_request *request;
    uint32_t me = emu_rank_id(rank);
    RANKS_EXPECT(exact_buffers_make(rank, c->count * 8, &b));
    struct exact_run run = exact_prepare(rank, 0, &t, &b);
    RANKS_EXPECT(me == c->rank || emu_recv(rank, c->rank, NULL, 0, EMU_U8, 0) == EMU_OK);
    RANKS_EXPECT(emu_start(rank, &run.call, &request) == EMU_OK);
    if (me == c->rank) {
        unsigned char *of = c->ledger ? (void *)run.call.ledger : run.buffers[0] + run.input_at;
        of[c->at] ^= 0x40;
    }
    for (uint32_t to = 0; me == c->rank && to < WORLD; to++)
        RANKS_EXPECT(to == me || emu_send(rank, to, NULL, 0, EMU_U8, 0) == EMU_OK);
    RANKS_EXPECT(emu_wait(rank, request) == (c->seen ? EMU_ECORRUPT : EMU_OK));
    RANKS_EXPECT(emu_rank_lent_calls(rank) == 1);
    for (uint32_t i = 0; i < EMU_SLOTS; i++) { /* once around, through the same slot */
        t.number++;
        run = exact_prepare(rank, 0, &t, &b);
        RANKS_EXPECT(emu_run_call(rank, &run.call) == EMU_OK);
        int code = exact_verify(rank, 0, &t, &run, b.wanted);
        if (code)
            return code;
    }
    exact_buffers_free(&b);
    return 0;
}

#define INPUT (COUNT * 8)
#define LEDGER (COEFFICIENTS * 8)
#define THIRD (INPUT / WORLD)

/* Root 1. Rank 0 has the longest part of a third. */
static struct change changes[] = {
    {EMU_ALL_REDUCE, COUNT, 0, false, 0, true},
    {EMU_ALL_REDUCE, COUNT, 4095, false, 1, true},
    {EMU_ALL_REDUCE, COUNT, 4096, false, 2, true},
    {EMU_ALL_REDUCE, COUNT, INPUT - 1, false, 2, true},
    {EMU_ALL_REDUCE, COUNT, INPUT, false, 2, false},
    {EMU_ALL_REDUCE, COUNT, -1, false, 2, false},
    {EMU_ALL_REDUCE, COUNT, 0, true, 0, true},
    {EMU_ALL_REDUCE, COUNT, LEDGER - 8, true, 2, true},
    {EMU_ALL_REDUCE, COUNT, LEDGER, true, 2, false},
    {EMU_REDUCE, COUNT, 77777, false, 2, true},
    {EMU_REDUCE, COUNT, 777, true, 0, true},
    {EMU_REDUCE_SCATTER, COUNT, INPUT - 1, false, 0, true},
    {EMU_REDUCE_SCATTER, COUNT, LEDGER - 8, true, 1, true},
    {EMU_BROADCAST, COUNT, INPUT - 1, false, 1, true},
    {EMU_BROADCAST, COUNT, 5, false, 0, false},
    {EMU_BROADCAST, COUNT, 0, true, 1, true},
    {EMU_BROADCAST, COUNT, LEDGER - 8, true, 1, true},
    {EMU_BROADCAST, COUNT, 0, true, 2, false},
    {EMU_ALL_GATHER, COUNT, 0, false, 2, true},
    {EMU_ALL_GATHER, COUNT, THIRD, false, 0, true},
    {EMU_ALL_GATHER, COUNT, THIRD + 16, false, 0, false},
    {EMU_GATHER, COUNT, 30000, false, 0, true},
    {EMU_ALL_TO_ALL, COUNT, INPUT - 1, false, 0, true},
    {EMU_ALL_TO_ALL, COUNT, 1, false, 0, true},
    {EMU_SCATTER, COUNT, 100000, false, 1, true},
    {EMU_SCATTER, COUNT, 100000, false, 2, false},
    {EMU_ALL_REDUCE, 1, 3, false, 1, true},
    {EMU_ALL_REDUCE, 0, 3, true, 1, true},
};

ParameterizedTestParameters(lent_checks, tell_all_members_of_a_byte_that_changed_and_was_taken)
{
    return cr_make_param_array(struct change, changes, sizeof changes / sizeof changes[0]);
}

ParameterizedTest(struct change *c, lent_checks,
                  tell_all_members_of_a_byte_that_changed_and_was_taken, .timeout = 30)
{
    struct ranks ranks;
    struct emu_segment_params params = {
        .arena_bytes = UINT64_C(1) << 22, .checksums = true, .ways = &lending};
    struct emu_incident incident;
    exact_fill();
    cr_assert(ranks_open_as(&ranks, "dp=3", NULL, params));
    cr_expect_eq(ranks_run(&ranks, change_one, c, 20), 0, "%s, byte %ld %s of rank %u",
                 emu_kind_name(c->kind), (long)c->at, c->ledger ? "of the coefficients" : "",
                 c->rank);
    cr_expect_eq(emu_incident_read(&ranks.segment, 0, &incident), c->seen);
    if (c->seen) {
        cr_expect_eq(incident.cause, EMU_INCIDENT_CORRUPT);
        cr_expect_eq(incident.rank, c->rank);
        cr_expect_eq(incident.index, 0);
    }
    ranks_close(&ranks);
}

/* More sums than a chunk of the stage has room for: units of a line of a payload that is longer
 * than 8192 of them. A flipped byte is seen, and the rest is right. */
Test(lent_checks, sum_longer_blocks_where_their_number_would_be_too_large, .timeout = 60)
{
    static const struct emu_ways fine = {2, 0, 0, 64, NEVER};
    struct change c = {EMU_ALL_GATHER, (EXACT_BYTES - 64) / 8, 59000, false, 1, true};
    struct emu_segment_params params = {
        .arena_bytes = UINT64_C(1) << 23, .checksums = true, .ways = &fine};
    struct ranks ranks;
    exact_fill();
    cr_assert(ranks_open_as(&ranks, "dp=3", NULL, params));
    ranks.segment.stage_bytes /= 64; /* chunks of 1 KiB: 128 sums */
    cr_expect_eq(ranks_run(&ranks, change_one, &c, 50), 0);
    ranks_close(&ranks);
}

/* Which calls are lent? */
struct lending {
    const char *name;
    uint64_t arena_bytes;
    uint64_t bytes;
    bool outside, coefficients_outside, watched; /* of rank 1 alone */
    bool lent;
};

static void look_on(void *user, enum emu_phase phase, const struct emu_call *call,
                    const struct emu_deposit *deposit)
{
    (void)user, (void)phase, (void)call, (void)deposit;
}

static int lend_one(struct emu_rank *rank, void *user)
{
    const struct lending *l = user;
    bool odd = emu_rank_id(rank) == 1;
    double *heap = calloc(1, l->bytes);
    double *x = l->arena_bytes ? emu_rank_alloc(rank, l->bytes) : heap;
    uint64_t beside[4] = {1, 2, 3, 4};
    uint64_t *ledger = l->arena_bytes ? emu_rank_alloc(rank, sizeof beside) : beside;
    RANKS_EXPECT(heap && x && ledger);
    if (odd && l->watched)
        emu_rank_watch_phases(rank, (struct emu_phase_watch){look_on, NULL});
    x = odd && l->outside ? heap : x;
    ledger = odd && l->coefficients_outside ? beside : ledger;
    for (uint64_t i = 0; i < 4; i++)
        ledger[i] = i + 1;
    x[0] = 3;
    struct emu_call call = {.kind = EMU_ALL_REDUCE,
                            .dtype = EMU_F64,
                            .count = l->bytes / sizeof *x,
                            .input = x,
                            .output = x,
                            .ledger = ledger,
                            .ledger_count = 4};
    RANKS_EXPECT(emu_run_call(rank, &call) == EMU_OK);
    RANKS_EXPECT(x[0] == 3 * WORLD && ledger[3] == 4 * WORLD);
    RANKS_EXPECT(emu_rank_lent_calls(rank) == l->lent);
    free(heap);
    return 0;
}

Test(lent_checks, calls_are_lent_where_all_of_them_lies_in_arenas_and_nobody_looks_on,
     .timeout = 60)
{
    static const struct emu_ways usual = {2, 2048, 8192, 32768, NEVER};
    static struct lending rows[] = {
        {"a long one", 1 << 20, 8192 + 8, false, false, false, true},
        {"the shortest", 1 << 20, 8192 - 24, false, false, false, true},
        {"a short one", 1 << 20, 8192 - 32, false, false, false, false},
        {"data elsewhere", 1 << 20, 65536, true, false, false, false},
        {"coefficients elsewhere", 1 << 20, 65536, false, true, false, false},
        {"seen by a fault filter", 1 << 20, 65536, false, false, true, false},
        {"no arenas", 0, 65536, false, false, false, false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        for (int checksums = 0; checksums < 2; checksums++) {
            struct ranks ranks;
            struct emu_segment_params params = {
                .arena_bytes = rows[i].arena_bytes, .checksums = checksums, .ways = &usual};
            cr_assert(ranks_open_as(&ranks, "dp=3", NULL, params));
            cr_expect_eq(ranks_run(&ranks, lend_one, &rows[i], 20), 0, "%s", rows[i].name);
            ranks_close(&ranks);
        }
}

/* Without arenas there is nothing to be lent: what fits into one round is deposited by emu_start,
 * and the others need nothing more of its rank. */
static int start_and_stay_away(struct emu_rank *rank, void *user)
{
    (void)user;
    static double x[2000];
    struct emu_request *request;
    uint32_t me = emu_rank_id(rank);
    _Atomic uint32_t *through = (void *)emu_segment_record(emu_rank_segment(rank), 1);
    struct emu_call call = {
        .kind = EMU_ALL_REDUCE, .dtype = EMU_F64, .count = 2000, .input = x, .output = x};
    x[1999] = 2;
    RANKS_EXPECT(emu_start(rank, &call, &request) == EMU_OK);
    /* a rank that makes calls would carry this one on meanwhile */
    for (int i = 0; me == 0 && i < 5000 && !atomic_load(through); i++)
        emu_clock_sleep(1000000);
    RANKS_EXPECT(me != 0 || atomic_load(through));
    RANKS_EXPECT(emu_wait(rank, request) == EMU_OK);
    if (me == 1)
        atomic_store(through, 1);
    RANKS_EXPECT(x[1999] == 2 * WORLD);
    return 0;
}

Test(lent_checks, no_round_is_left_empty_where_there_are_no_arenas, .timeout = 60)
{
    struct ranks ranks;
    struct emu_segment_params params = {.record_bytes = 64, .checksums = true, .ways = &lending};
    cr_assert(ranks_open_as(&ranks, "dp=3", NULL, params));
    ranks_fork(&ranks, start_and_stay_away, NULL);
    ranks_reap(&ranks, 20);
    for (uint32_t i = 0; i < WORLD; i++)
        cr_expect_eq(ranks.codes[i], 0, "rank %u: %d", i, ranks.codes[i]);
    ranks_close(&ranks);
}

static void assert_cut(const struct shm_collective *own, bool checksums)
{
    struct shm_cut cut = shm_cut_of(own);
    unsigned long payload = own->payload_max, ledger = own->ledger_bytes;
    cr_expect(cut.unit > 0 && cut.unit % EMU_LINE == 0, "%lu", payload);
    cr_expect(cut.ledger_unit > 0 && cut.ledger_unit % EMU_LINE == 0, "%lu", ledger);
    cr_expect(cut.block > 0 && cut.block <= 4096 && cut.block % EMU_LINE == 0, "%lu", payload);
    cr_expect_eq(cut.sum_block > 0, checksums);
    if (!checksums)
        return;
    cr_expect_eq(cut.sum_block % cut.block, 0, "%lu, %lu", payload, ledger);
    cr_expect_eq(cut.unit % cut.sum_block, 0, "%lu, %lu", payload, ledger);
    cr_expect_eq(cut.ledger_unit % cut.sum_block, 0, "%lu, %lu", payload, ledger);
    cr_expect_eq(cut.sums, (payload + cut.sum_block - 1) / cut.sum_block);
    cr_expect_eq(cut.ledger_sums, (ledger + cut.sum_block - 1) / cut.sum_block);
    cr_expect_leq((cut.sums + cut.ledger_sums) * 8, own->group->ring.chunk_bytes);
}

/* Whatever is asked for, to 2^60 bytes. */
Test(lent_checks, units_are_whole_blocks_and_their_sums_fit_into_a_chunk, .timeout = 30)
{
    uint64_t random = 3;
    for (int i = 0; i < 200000; i++) {
        struct emu_segment segment = {.checksums = i % 4 != 0};
        segment.ways.unit_bytes = 64 * (1 + exact_random(&random) % (UINT64_C(1) << i % 15));
        struct shm_group group = {.leader_count = 1 + (uint32_t)(exact_random(&random) % 64)};
        group.ring.segment = &segment;
        group.ring.chunk_bytes = UINT64_C(256) << exact_random(&random) % 9;
        struct shm_collective own = {.group = &group};
        own.payload_max = exact_random(&random) >> (4 + exact_random(&random) % 60);
        own.ledger_bytes = 8 * (uint64_t)(uint32_t)(exact_random(&random) >> (33 + i % 31));
        assert_cut(&own, segment.checksums);
    }
}
