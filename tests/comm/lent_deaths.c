/* Workers that die in the middle of a unit: where they verify, read, fold or write, of data or of
 * coefficients. A page of a member is out of reach for all others, so whoever comes to it dies
 * there. The call is broken for all who live, as its unit is nobody's; or whole, where the member
 * itself did it. */
#include "exact_trial.h"

#include <criterion/criterion.h>
#include <criterion/parameterized.h>

#define WORLD 4
#define PAGE UINT64_C(4096)
#define INPUT (16 * PAGE)
#define COEFFICIENTS 1024 /* two pages */

/* A member's arena. */
struct arena {
    unsigned char input[INPUT], output[INPUT];
    uint64_t coefficients[COEFFICIENTS];
    unsigned char told[PAGE]; /* 1 + status of the call */
};

enum where { NOWHERE, IN_INPUT, IN_OUTPUT, IN_COEFFICIENTS };

struct death {
    enum where where;
    enum emu_kind kind;
    uint32_t owner; /* of the page */
    uint32_t page;
    bool checksums;
    uint32_t cores;
};

static void *page_of(const struct emu_segment *segment, const struct death *d)
{
    struct arena *arena = (void *)emu_segment_arena(segment, d->owner);
    switch (d->where) {
    case IN_INPUT:
        return arena->input + d->page * PAGE;
    case IN_OUTPUT:
        return arena->output + d->page * PAGE;
    case IN_COEFFICIENTS:
        return (unsigned char *)arena->coefficients + d->page % 2 * PAGE;
    default:
        return NULL;
    }
}

static int call_beside_a_hole(struct emu_rank *rank, void *user)
{
    const struct death *d = user;
    const struct emu_segment *segment = emu_rank_segment(rank);
    struct arena *arena = emu_rank_alloc(rank, sizeof *arena);
    uint32_t me = emu_rank_id(rank);
    RANKS_EXPECT(arena);
    signal(SIGSEGV, SIG_DFL);
    if (d->where != NOWHERE && me != d->owner)
        RANKS_EXPECT(mprotect(page_of(segment, d), PAGE, PROT_NONE) == 0);
    for (uint64_t i = 0; i < COEFFICIENTS; i++)
        arena->coefficients[i] = i;
    struct emu_call call = {.kind = d->kind,
                            .dtype = EMU_F64,
                            .count = INPUT / sizeof(double),
                            .layout = EMU_LAYOUT_CHUNKS,
                            .root = d->owner,
                            .input = arena->input,
                            .output = arena->output,
                            .ledger = arena->coefficients,
                            .ledger_count = COEFFICIENTS};
    enum emu_status status = emu_run_call(rank, &call);
    arena->told[0] = (unsigned char)(1 + status);
    return 0;
}

/* How the call ended for all who live; the dead are counted. */
static unsigned char outcome(const struct ranks *ranks, uint32_t *dead)
{
    unsigned char told = 0;
    *dead = 0;
    for (uint32_t i = 0; i < WORLD; i++) {
        const struct arena *arena = (const void *)emu_segment_arena(&ranks->segment, i);
        if (ranks->codes[i] == RANKS_SIGNAL + SIGSEGV) {
            ++*dead;
            continue;
        }
        cr_expect_eq(ranks->codes[i], 0, "rank %u: %d", i, ranks->codes[i]);
        cr_expect(told == 0 || told == arena->told[0], "rank %u was told %d, others %d", i,
                  arena->told[0] - 1, told - 1);
        told = arena->told[0];
    }
    return told;
}

/* Returns how many died. */
static uint32_t die(struct death *d)
{
    struct emu_ways ways = {d->cores, 0, 0, 8192, UINT64_MAX};
    struct emu_segment_params params = {
        .arena_bytes = sizeof(struct arena), .checksums = d->checksums, .ways = &ways};
    struct ranks ranks;
    uint32_t dead;
    cr_assert(ranks_open_as(&ranks, "dp=4", NULL, params));
    ranks_run(&ranks, call_beside_a_hole, d, 20);
    unsigned char told = outcome(&ranks, &dead);
    cr_expect_eq(told, 1 + (dead ? EMU_EPEER : EMU_OK), "%u dead, and the others were told %d",
                 dead, told - 1);
    ranks_close(&ranks);
    return dead;
}

static const enum emu_kind kinds[] = {EMU_ALL_REDUCE, EMU_REDUCE_SCATTER, EMU_BROADCAST,
                                      EMU_ALL_GATHER};

ParameterizedTestParameters(lent_deaths, break_the_call_for_all_wherever_they_happen)
{
    static enum where places[] = {NOWHERE, IN_INPUT, IN_OUTPUT, IN_COEFFICIENTS};
    return cr_make_param_array(enum where, places, sizeof places / sizeof places[0]);
}

ParameterizedTest(enum where *where, lent_deaths, break_the_call_for_all_wherever_they_happen,
                  .timeout = 120)
{
    uint32_t dead = 0;
    struct death d = {.where = *where};
    for (int i = 0; i < 64; i++) {
        d.kind = kinds[i % 4];
        d.checksums = i / 4 % 2;
        d.cores = i / 8 % 2 ? 1 : 2;
        d.owner = (uint32_t)i / 16 % WORLD;
        d.page = (uint32_t)(i * 5 % 4);
        dead += die(&d);
    }
    cr_expect_eq(dead > 0, *where != NOWHERE, "%u died", dead);
}
