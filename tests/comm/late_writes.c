/* Ranks die while others work on buffers that are lent: each call is whole or broken for all who
 * live, and nobody writes to a buffer whose owner has had its answer. */
#include "ranks.h"
#include "ways_table.h"

#include <criterion/criterion.h>

#define WORLD 4
#define BYTES UINT64_C(98304) /* of each buffer */
#define BUFFERS 4
#define CALLS_LOGGED 65536          /* a second of calls and more: who kills may be late */
#define COEFFICIENTS UINT64_C(1500) /* of a call that has some */

/* A member's arena. */
struct arena {
    unsigned char log[CALLS_LOGGED]; /* 1 + status of each call */
    unsigned char bytes[BUFFERS][BYTES];
    uint64_t coefficients[2][COEFFICIENTS];
};

static unsigned char pattern_of(uint32_t rank, uint64_t i)
{
    return (unsigned char)(0xa5 + rank * 17 + i * 31 + i / 256);
}

/* What the owner writes there once the call has broken. */
static uint64_t late_coefficient(uint32_t rank, uint64_t i)
{
    return UINT64_MAX - rank - i * 7;
}

/* Where ranks lend: all, all but the odd ones (the group goes in rounds), nobody. */
enum lenders { ALL_LEND, EVEN_LEND };

struct plan {
    enum lenders lenders;
    uint64_t random;
};

static uint64_t next_random(uint64_t *random)
{
    *random = *random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *random >> 33;
}

/* The k-th call of the loop: output `which` of two that are open. */
static struct emu_call call_of(uint64_t k, const double *in, double *out)
{
    static const enum emu_kind kinds[] = {EMU_ALL_REDUCE, EMU_ALL_GATHER, EMU_BROADCAST,
                                          EMU_REDUCE_SCATTER};
    struct emu_call call = {.kind = kinds[k % 4],
                            .dtype = EMU_F64,
                            .count = BYTES / sizeof(double),
                            .root = (uint32_t)(k / 4 % WORLD),
                            .layout = EMU_LAYOUT_CHUNKS,
                            .input = in,
                            .output = out};
    if (call.kind == EMU_BROADCAST)
        call.input = out;
    return call;
}

/* Make calls, two of them open, until the group breaks; then write the pattern over everything. */
static int until_broken(struct emu_rank *rank, void *user)
{
    const struct plan *plan = user;
    struct arena *arena = emu_rank_alloc(rank, sizeof *arena);
    uint32_t me = emu_rank_id(rank);
    RANKS_EXPECT(arena);
    double *buffers[BUFFERS];
    for (int i = 0; i < BUFFERS; i++)
        buffers[i] =
            plan->lenders == EVEN_LEND && me % 2 ? calloc(1, BYTES) : (void *)arena->bytes[i];
    enum emu_status status = EMU_OK;
    for (uint32_t k = 0; !status && k + 2 <= CALLS_LOGGED; k += 2) {
        struct emu_request *requests[2];
        for (uint32_t i = 0; i < 2; i++) {
            buffers[i][0] = buffers[i][5] = 1;
            struct emu_call call = call_of(k + i, buffers[i], buffers[2 + i]);
            call.ledger = arena->coefficients[i];
            call.ledger_count = k % 3 ? COEFFICIENTS : 0;
            arena->coefficients[i][9] = 1;
            RANKS_EXPECT(emu_start(rank, &call, &requests[i]) == EMU_OK);
        }
        for (uint32_t i = 0; i < 2; i++) {
            enum emu_status ended = emu_wait(rank, requests[i]);
            arena->log[k + i] = (unsigned char)(1 + ended);
            status = ended ? ended : status;
            bool all_reduced = !ended && (k + i) % 4 == 0;
            RANKS_EXPECT(!all_reduced || buffers[2 + i][5] == WORLD);
            RANKS_EXPECT(!all_reduced || arena->coefficients[i][9] == (k % 3 ? WORLD : 1));
        }
    }
    RANKS_EXPECT(status == EMU_EPEER);
    for (int i = 0; i < BUFFERS; i++)
        for (uint64_t at = 0; at < BYTES; at++)
            arena->bytes[i][at] = pattern_of(me, at);
    for (uint64_t at = 0; at < 2 * COEFFICIENTS; at++)
        arena->coefficients[at % 2][at / 2] = late_coefficient(me, at);
    return 0;
}

static bool pattern_stands(const struct ranks *ranks, uint32_t rank)
{
    const struct arena *arena = (const void *)emu_segment_arena(&ranks->segment, rank);
    for (int i = 0; i < BUFFERS; i++)
        for (uint64_t at = 0; at < BYTES; at++)
            if (arena->bytes[i][at] != pattern_of(rank, at))
                return false;
    for (uint64_t at = 0; at < 2 * COEFFICIENTS; at++)
        if (arena->coefficients[at % 2][at / 2] != late_coefficient(rank, at))
            return false;
    return true;
}

struct victims {
    uint32_t first, second, stopped; /* WORLD: none */
};

/* Kill one or two of four at a random moment, with another one stopped meanwhile, or not. */
static struct victims strike(struct ranks *ranks, uint64_t *random)
{
    struct victims v = {(uint32_t)(next_random(random) % WORLD), WORLD, WORLD};
    uint32_t other = (v.first + 1 + (uint32_t)(next_random(random) % (WORLD - 1))) % WORLD;
    uint64_t how = next_random(random) % 4;
    emu_clock_sleep(next_random(random) % 5000000);
    if (how >= 2) {
        v.stopped = other;
        kill(ranks->pids[other], SIGSTOP);
    }
    if (how == 1)
        v.second = other;
    emu_clock_sleep(next_random(random) % 300000);
    kill(ranks->pids[v.first], SIGKILL);
    if (v.second < WORLD)
        kill(ranks->pids[v.second], SIGKILL);
    while (!ranks_reap_one(ranks, v.first, true)) {
    }
    if (v.stopped < WORLD) {
        emu_clock_sleep(1000000 + next_random(random) % 2000000); /* the others have their answer */
        kill(ranks->pids[v.stopped], SIGCONT);
    }
    ranks_reap(ranks, 20);
    return v;
}

static void strike_once(const struct way *way, struct plan *plan, int run)
{
    struct ranks ranks;
    struct emu_segment_params params = {
        .arena_bytes = sizeof(struct arena), .checksums = way->checksums, .ways = &way->table};
    cr_assert(ranks_open_as(&ranks, "dp=4", NULL, params));
    ranks_fork(&ranks, until_broken, plan);
    struct victims v = strike(&ranks, &plan->random);
    const unsigned char *first = NULL;
    for (uint32_t i = 0; i < WORLD; i++) {
        bool killed = i == v.first || i == v.second;
        const struct arena *arena = (const void *)emu_segment_arena(&ranks.segment, i);
        cr_expect_eq(ranks.codes[i], killed ? RANKS_SIGNAL + SIGKILL : 0, "%s run %d rank %u: %d",
                     way->name, run, i, ranks.codes[i]);
        if (killed || ranks.codes[i])
            continue;
        if (!first)
            first = arena->log;
        cr_expect_eq(memcmp(arena->log, first, CALLS_LOGGED), 0,
                     "%s run %d: rank %u was told something else", way->name, run, i);
        cr_expect(pattern_stands(&ranks, i), "%s run %d: somebody wrote to rank %u's buffers",
                  way->name, run, i);
    }
    ranks_close(&ranks);
}

/* A process under AddressSanitizer takes the kernel many times longer to copy and to end. */
#if defined(__SANITIZE_ADDRESS__)
#define KILLS 10
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define KILLS 10
#endif
#endif
#ifndef KILLS
#define KILLS 100
#endif

Test(loans, of_the_dead_are_whole_or_broken_for_all_and_written_by_nobody_late, .timeout = 240)
{
    struct plan plan = {ALL_LEND, 2024};
    for (size_t w = 0; w < WAYS; w++)
        for (int run = 0; run < KILLS && ways[w].lends; run++)
            strike_once(&ways[w], &plan, run);
}

/* Who lends does not know whether all will: the dead may owe rounds after all. */
Test(rounds, of_the_dead_who_would_have_lent_break_for_all, .timeout = 240)
{
    struct plan plan = {EVEN_LEND, 77};
    for (size_t w = 0; w < WAYS; w++)
        for (int run = 0; run < KILLS / 2 && ways[w].lends; run++)
            strike_once(&ways[w], &plan, run);
}
