/* Coefficients that travel with a call: summed or copied exactly beside the payload, whatever its
 * kind, dtype and size, and the payload is the same with and without them. */
#include "trial.h"

#include <criterion/criterion.h>
#include <criterion/parameterized.h>

#define PRIME ((UINT64_C(1) << 61) - 1)
#define BYTES_OF(n) ((uint64_t)(n) * sizeof(uint64_t))
#define FENCE 8 /* words behind the coefficients that nobody may touch */

struct travel {
    enum emu_kind kind;
    enum emu_dtype dtype;
    enum emu_op op;
    uint64_t count;        /* elements of the payload */
    uint32_t coefficients; /* in the ledger */
    uint32_t root;
};

/* Coefficient i of a member: canonical, often close to the prime, so that sums wrap. */
static uint64_t coefficient(uint64_t member, uint64_t i)
{
    uint64_t spread =
        (member + 3) * UINT64_C(0x9e3779b97f4a7c15) + i * UINT64_C(0xbf58476d1ce4e5b9);
    return i % 3 ? spread % PRIME : PRIME - 1 - member;
}

/* a + b modulo the prime, both canonical. */
static uint64_t plus(uint64_t a, uint64_t b)
{
    return a >= PRIME - b ? a - (PRIME - b) : a + b;
}

static uint64_t times(uint64_t a, uint32_t n)
{
    uint64_t product = 0;
    for (uint32_t i = 0; i < n; i++)
        product = plus(product, a);
    return product;
}

/* What coefficient i must be at member me: for an average, what it gives when multiplied again. */
static bool is_right(const struct travel *t, uint32_t me, uint32_t size, uint64_t i, uint64_t got)
{
    uint64_t sum = 0;
    for (uint32_t m = 0; m < size; m++)
        sum = plus(sum, coefficient(m, i));
    bool reduces = t->kind == EMU_ALL_REDUCE || t->kind == EMU_REDUCE_SCATTER ||
                   (t->kind == EMU_REDUCE && me == t->root);
    if (got >= PRIME)
        return false;
    if (reduces)
        return t->op == EMU_AVG ? times(got, size) == sum : got == sum;
    return got == coefficient(t->kind == EMU_BROADCAST ? t->root : me, i);
}

struct buffers {
    unsigned char *input, *bare, *with; /* payload without and with coefficients beside it */
    uint64_t *ledger;
    uint64_t bytes;
};

static bool open_buffers(struct buffers *b, const struct travel *t, uint32_t me, uint32_t size)
{
    b->bytes = (t->count * size + GUARD) * 8;
    b->input = malloc(b->bytes);
    b->bare = malloc(b->bytes);
    b->with = malloc(b->bytes);
    b->ledger = malloc(BYTES_OF(t->coefficients + FENCE));
    if (!b->input || !b->bare || !b->with || !b->ledger)
        return false;
    memset(b->input, 0, b->bytes);
    memset(b->bare, 0xee, b->bytes);
    memset(b->with, 0xee, b->bytes);
    for (uint64_t i = 0; i < t->count; i++)
        put(t->dtype, b->input, i, value_of(me, i));
    for (uint64_t i = 0; i < t->coefficients + FENCE; i++)
        b->ledger[i] = i < t->coefficients ? coefficient(me, i) : UINT64_MAX;
    return true;
}

static void close_buffers(struct buffers *b)
{
    free(b->input);
    free(b->bare);
    free(b->with);
    free(b->ledger);
}

static struct emu_call call_of(const struct travel *t, uint32_t group, const struct buffers *b)
{
    return (struct emu_call){.kind = t->kind,
                             .group = group,
                             .count = t->count,
                             .dtype = t->dtype,
                             .op = t->op,
                             .root = t->root,
                             .input = b->input,
                             .output = b->bare,
                             .label = "travel"};
}

/* The call without coefficients and with them: same payload, right coefficients, no byte more. */
static int travel_once(struct emu_rank *rank, uint32_t group, const struct travel *t)
{
    uint32_t size = emu_rank_group_size(rank, group);
    uint32_t me = (uint32_t)emu_rank_group_index(rank, group);
    struct buffers b = {0};
    RANKS_EXPECT(open_buffers(&b, t, me, size));
    struct emu_call call = call_of(t, group, &b);
    RANKS_EXPECT(emu_run_call(rank, &call) == EMU_OK);
    call.output = b.with;
    call.ledger = b.ledger;
    call.ledger_count = t->coefficients;
    RANKS_EXPECT(emu_run_call(rank, &call) == EMU_OK);
    RANKS_EXPECT(memcmp(b.bare, b.with, b.bytes) == 0);
    for (uint64_t i = 0; i < t->coefficients; i++)
        RANKS_EXPECT(is_right(t, me, size, i, b.ledger[i]));
    for (uint64_t i = 0; i < FENCE; i++)
        RANKS_EXPECT(b.ledger[t->coefficients + i] == UINT64_MAX);
    close_buffers(&b);
    return 0;
}

static const enum emu_kind kinds[] = {EMU_ALL_REDUCE, EMU_REDUCE, EMU_REDUCE_SCATTER,
                                      EMU_BROADCAST};
static const enum emu_dtype dtypes[] = {EMU_F64, EMU_F32, EMU_I64, EMU_I32, EMU_U8, EMU_FIELD61};
#define KINDS (sizeof kinds / sizeof kinds[0])
#define DTYPES (sizeof dtypes / sizeof dtypes[0])

static enum emu_op op_of(enum emu_dtype dtype, bool avg)
{
    return avg && dtype != EMU_FIELD61 ? EMU_AVG : EMU_SUM;
}

/* Sizes in one round: payloads that end at no multiple of eight bytes, ledgers of none or a few. */
static int small_over(struct emu_rank *rank, uint32_t group)
{
    static const uint64_t counts[] = {0, 1, 3, 13};
    static const uint32_t ledgers[] = {0, 1, 7};
    uint32_t size = emu_rank_group_size(rank, group);
    int code = 0;
    for (size_t k = 0; k < KINDS && !code; k++)
        for (size_t d = 0; d < DTYPES && !code; d++)
            for (uint32_t i = 0; i < 24 && !code; i++) {
                struct travel t = {kinds[k],      dtypes[d],          op_of(dtypes[d], i % 2),
                                   counts[i % 4], ledgers[i / 4 % 3], i % size};
                code = travel_once(rank, group, &t);
            }
    return code;
}

static int small_body(struct emu_rank *rank, void *user)
{
    (void)user;
    int code = small_over(rank, 0);
    return code ? code : small_over(rank, EMU_GROUP_SELF);
}

/* Many rounds: thousands of coefficients behind nothing, behind a few bytes, behind a large payload
 * that ends in the middle of a round. */
static int large_body(struct emu_rank *rank, void *user)
{
    (void)user;
    static const struct {
        uint64_t count;
        uint32_t coefficients;
    } sizes[] = {{0, 40000}, {13, 30011}, {70001, 3}, {70001, 20000}};
    static const enum emu_dtype wide[] = {EMU_F64, EMU_U8};
    int code = 0;
    for (size_t k = 0; k < KINDS && !code; k++)
        for (size_t d = 0; d < 2 && !code; d++)
            for (uint32_t i = 0; i < 4 && !code; i++) {
                struct travel t = {kinds[k],
                                   wide[d],
                                   op_of(wide[d], i % 2),
                                   sizes[i].count,
                                   sizes[i].coefficients,
                                   i % emu_rank_world(rank)};
                code = travel_once(rank, 0, &t);
            }
    return code;
}

ParameterizedTestParameters(ledger_travel, goes_along_with_every_payload)
{
    static unsigned sizes[] = {1, 2, 3, 5};
    return cr_make_param_array(unsigned, sizes, sizeof sizes / sizeof sizes[0]);
}

ParameterizedTest(unsigned *size, ledger_travel, goes_along_with_every_payload, .timeout = 120)
{
    char axes[16];
    snprintf(axes, sizeof axes, "dp=%u", *size);
    cr_expect_eq(ranks_once(axes, NULL, small_body, NULL, 60), 0, "%u ranks", *size);
    cr_expect_eq(ranks_once(axes, NULL, large_body, NULL, 60), 0, "%u ranks, large", *size);
}

/* The same bodies on the backend without a segment. */
Test(ledger_travel, goes_along_in_a_world_of_one, .timeout = 60)
{
    struct emu_mesh mesh;
    struct emu_mesh_error error;
    struct emu_roster roster;
    struct emu_rank *rank;
    static _Alignas(64) unsigned char memory[4096];
    cr_assert_eq(emu_mesh_parse("dp=1", &mesh, &error), EMU_OK);
    emu_roster_init(&roster, &mesh);
    cr_assert_eq(emu_rank_create_self(&roster, memory, sizeof memory, &rank), EMU_OK);
    cr_expect_eq(small_body(rank, NULL), 0);
    cr_expect_eq(large_body(rank, NULL), 0);
    emu_rank_destroy(rank);
    emu_roster_finish(&roster);
    emu_mesh_finish(&mesh);
}

/* Each axis of a mesh has its own members; coefficients stay within them. */
static int axes_body(struct emu_rank *rank, void *user)
{
    (void)user;
    static const char *const over[] = {"dp", "tp", "dp,tp", "tp,dp"};
    for (size_t i = 0; i < sizeof over / sizeof over[0]; i++) {
        uint32_t group;
        RANKS_EXPECT(emu_rank_group(rank, over[i], &group) == EMU_OK);
        int code = small_over(rank, group);
        if (code)
            return code;
    }
    return 0;
}

Test(ledger_travel, stays_within_the_group, .timeout = 60)
{
    static const char *const groups[] = {"dp,tp", "tp,dp", NULL};
    cr_assert_eq(ranks_once("dp=2,tp=3", groups, axes_body, NULL, 50), 0);
}

/* Kinds that neither reduce nor broadcast leave the coefficients alone. */
static int other_kinds_body(struct emu_rank *rank, void *user)
{
    (void)user;
    static const enum emu_kind others[] = {EMU_BARRIER, EMU_ALL_GATHER, EMU_ALL_TO_ALL, EMU_GATHER,
                                           EMU_SCATTER};
    int code = 0;
    for (size_t k = 0; k < sizeof others / sizeof others[0] && !code; k++) {
        struct travel t = {others[k], EMU_I32, EMU_SUM, others[k] == EMU_BARRIER ? 0 : 12, 500, 1};
        code = travel_once(rank, 0, &t);
    }
    return code;
}

Test(ledger_travel, is_left_alone_by_kinds_that_only_move, .timeout = 60)
{
    cr_assert_eq(ranks_once("dp=3", NULL, other_kinds_body, NULL, 50), 0);
}

/* Started together, waited for the other way round: each call keeps its own coefficients. */
static int open_calls_body(struct emu_rank *rank, void *user)
{
    (void)user;
    enum { CALLS = 6, LANES = 9000 };
    struct emu_request *requests[CALLS];
    double sum[CALLS];
    uint32_t size = emu_rank_world(rank), me = emu_rank_id(rank);
    uint64_t *ledger = malloc(BYTES_OF(CALLS * LANES));
    RANKS_EXPECT(ledger);
    for (uint64_t i = 0; i < CALLS * LANES; i++)
        ledger[i] = coefficient(me, i);
    for (int c = 0; c < CALLS; c++) {
        sum[c] = c;
        struct emu_call call = {.kind = EMU_ALL_REDUCE,
                                .count = 1,
                                .dtype = EMU_F64,
                                .input = &sum[c],
                                .output = &sum[c],
                                .ledger = ledger + c * LANES,
                                .ledger_count = LANES};
        RANKS_EXPECT(emu_start(rank, &call, &requests[c]) == EMU_OK);
    }
    for (int c = CALLS - 1; c >= 0; c--)
        RANKS_EXPECT(emu_wait(rank, requests[c]) == EMU_OK && sum[c] == c * (double)size);
    struct travel t = {.kind = EMU_ALL_REDUCE};
    for (uint64_t i = 0; i < CALLS * LANES; i++)
        RANKS_EXPECT(is_right(&t, me, size, i, ledger[i]));
    free(ledger);
    return 0;
}

Test(ledger_travel, of_calls_open_together_stays_apart, .timeout = 60)
{
    cr_assert_eq(ranks_once("dp=3", NULL, open_calls_body, NULL, 50), 0);
}

/* One member brings another number of coefficients. */
struct differing {
    struct travel travel;
    uint32_t odd_count; /* what the odd member says; 0: it brings none at all */
    uint32_t odd;
};

static int differing_body(struct emu_rank *rank, void *user)
{
    const struct differing *d = user;
    struct travel t = d->travel;
    uint32_t me = emu_rank_id(rank);
    if (me == d->odd)
        t.coefficients = d->odd_count;
    struct buffers b = {0};
    RANKS_EXPECT(open_buffers(&b, &t, me, emu_rank_world(rank)));
    struct emu_call call = call_of(&t, 0, &b);
    call.ledger = t.coefficients ? b.ledger : NULL;
    call.ledger_count = t.coefficients;
    RANKS_EXPECT(emu_run_call(rank, &call) == EMU_EMISMATCH);
    for (uint64_t i = 0; i < b.bytes; i++)
        RANKS_EXPECT(b.bare[i] == 0xee);
    for (uint64_t i = 0; i < t.coefficients; i++)
        RANKS_EXPECT(b.ledger[i] == coefficient(me, i));
    close_buffers(&b);
    return 0;
}

ParameterizedTestParameters(ledger_travel, of_another_length_breaks_the_call)
{
    static struct differing rows[48];
    static const uint32_t lengths[][2] = {{5, 4}, {5, 6}, {5, 0}, {30000, 29999}};
    size_t n = 0;
    for (size_t k = 0; k < KINDS; k++)
        for (size_t i = 0; i < 4; i++)
            for (uint32_t odd = 0; odd < 3; odd++)
                rows[n++] = (struct differing){
                    {kinds[k], EMU_U8, EMU_SUM, 13, lengths[i][0], 1}, lengths[i][1], odd};
    return cr_make_param_array(struct differing, rows, n);
}

ParameterizedTest(struct differing *d, ledger_travel, of_another_length_breaks_the_call,
                  .timeout = 30)
{
    cr_assert_eq(ranks_once("dp=3", NULL, differing_body, d, 20), 0);
}
