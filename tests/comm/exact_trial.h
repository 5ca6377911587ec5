/* One collective with data whose result depends on the order of the fold, and the bits it must
 * give: the definitions of the kinds written out with plain loops, not with the code under test.
 *
 * Data: f64 and f32 over 80 binary orders of magnitude, with NaN, -0 and infinities between; whole
 * numbers with all bits. In sums all NaNs have the same payload: which of two survives an addition
 * is the compiler's choice.
 */
#ifndef TESTS_COMM_EXACT_TRIAL_H
#define TESTS_COMM_EXACT_TRIAL_H

#include "ranks.h"

#include <math.h>

#define EXACT_MEMBERS 16
#define EXACT_BYTES (UINT64_C(180000)) /* of the largest input: three rounds of 64 KiB */
#define EXACT_SHIFTS 7                 /* elements by which the data of calls are shifted */
#define EXACT_ROOM (EXACT_BYTES + 64)
#define EXACT_GUARD 128
#define EXACT_COEFFICIENTS 700 /* at most */
#define EXACT_FENCE 8          /* words behind them that nobody may touch */
#define EXACT_PRIME ((UINT64_C(1) << 61) - 1)

enum exact_place { EXACT_ARENA, EXACT_HEAP, EXACT_MIXED, EXACT_PLACES };
enum exact_in { EXACT_APART, EXACT_SAME, EXACT_OWN_PLACE, EXACT_INS };

struct exact_trial {
    enum emu_kind kind;
    enum emu_dtype dtype;
    enum emu_op op;
    enum emu_layout layout;
    uint64_t count;
    uint32_t root;
    enum exact_in in;
    enum exact_place place;
    uint32_t number; /* shifts data and buffers */
    uint32_t coefficients;
};

/* Inputs of all members, for each dtype; filled once before the ranks are forked. */
static unsigned char exact_data[EMU_U8 + 1][EXACT_MEMBERS][EXACT_ROOM];

static inline uint64_t exact_random(uint64_t *state)
{
    *state += UINT64_C(0x9e3779b97f4a7c15);
    uint64_t z = *state;
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static inline double exact_real(uint64_t random)
{
    double sign = random & 1 ? -1 : 1;
    switch (random >> 1 & 63) {
    case 0:
        return (double)NAN;
    case 1:
        return sign * 0.0;
    case 2:
        return sign * (double)INFINITY;
    default:
        return sign * ldexp((double)(random >> 20), (int)(random >> 7 & 63) - 70);
    }
}

static inline void exact_fill(void)
{
    uint64_t state = 7;
    for (int m = 0; m < EXACT_MEMBERS; m++)
        for (uint64_t at = 0; at < EXACT_ROOM; at += 8) {
            double real = exact_real(exact_random(&state));
            float reals[2] = {(float)exact_real(exact_random(&state)),
                              (float)exact_real(exact_random(&state))};
            uint64_t whole = exact_random(&state);
            memcpy(&exact_data[EMU_F64][m][at], &real, 8);
            memcpy(&exact_data[EMU_F32][m][at], reals, 8);
            memcpy(&exact_data[EMU_I64][m][at], &whole, 8);
            memcpy(&exact_data[EMU_I32][m][at], &whole, 8);
            memcpy(&exact_data[EMU_U8][m][at], &whole, 8);
        }
}

/* Element i of a member's input. */
static inline const void *exact_at(const struct exact_trial *t, uint32_t member, uint64_t i)
{
    return exact_data[t->dtype][member] +
           (i + t->number % EXACT_SHIFTS) * emu_dtype_bytes(t->dtype);
}

#define EXACT_FOLD(type, wide, isnan_a, isnan_b)                                                   \
    do {                                                                                           \
        type a, b;                                                                                 \
        memcpy(&a, exact_at(t, 0, i), sizeof a);                                                   \
        for (uint32_t m = 1; m < size; m++) {                                                      \
            memcpy(&b, exact_at(t, m, i), sizeof b);                                               \
            if (t->op == EMU_MIN)                                                                  \
                a = isnan_a ? a : isnan_b ? b : b < a ? b : a;                                     \
            else if (t->op == EMU_MAX)                                                             \
                a = isnan_a ? a : isnan_b ? b : b > a ? b : a;                                     \
            else                                                                                   \
                a = (type)(t->op == EMU_PROD ? (wide)a * (wide)b : (wide)a + (wide)b);             \
        }                                                                                          \
        if (t->op == EMU_AVG)                                                                      \
            a = (type)(a / (type)size);                                                            \
        memcpy(to, &a, sizeof a);                                                                  \
    } while (0)

/* Element i folded over all members, in their order. */
static inline void exact_fold(const struct exact_trial *t, uint32_t size, uint64_t i, void *to)
{
    switch (t->dtype) {
    case EMU_F64:
        EXACT_FOLD(double, double, isnan(a), isnan(b));
        break;
    case EMU_F32:
        EXACT_FOLD(float, float, isnan(a), isnan(b));
        break;
    case EMU_I64:
        EXACT_FOLD(int64_t, uint64_t, false, false);
        break;
    case EMU_I32:
        EXACT_FOLD(int32_t, uint32_t, false, false);
        break;
    default:
        EXACT_FOLD(uint8_t, uint32_t, false, false);
    }
}

static inline struct emu_slice exact_part(const struct exact_trial *t, uint32_t size, uint32_t m)
{
    if (t->layout == EMU_LAYOUT_CHUNKS)
        return emu_slice_chunk(t->count, size, m);
    return (struct emu_slice){m * t->count, t->count};
}

static inline bool exact_gathers(const struct exact_trial *t)
{
    return t->kind == EMU_ALL_GATHER || t->kind == EMU_GATHER;
}

/* Elements that member me puts in. */
static inline uint64_t exact_input(const struct exact_trial *t, uint32_t me, uint32_t size)
{
    return exact_gathers(t) ? exact_part(t, size, me).count : t->count;
}

/* Write what member me must get; returns its elements. */
static inline uint64_t exact_result(const struct exact_trial *t, uint32_t me, uint32_t size,
                                    unsigned char *to)
{
    uint64_t element = emu_dtype_bytes(t->dtype);
    struct emu_slice own = emu_slice_chunk(t->count, size, me);
    bool root = me == t->root;
    switch (t->kind) {
    case EMU_BROADCAST:
        if (!root)
            memcpy(to, exact_at(t, t->root, 0), t->count * element);
        return root ? 0 : t->count;
    case EMU_SCATTER:
        memcpy(to, exact_at(t, t->root, own.start), own.count * element);
        return own.count;
    case EMU_ALL_TO_ALL:
        for (uint32_t m = 0; m < size; m++, to += own.count * element)
            memcpy(to, exact_at(t, m, own.start), own.count * element);
        return own.count * size;
    case EMU_GATHER:
    case EMU_ALL_GATHER:
        if (t->kind == EMU_GATHER && !root)
            return 0;
        for (uint32_t m = 0; m < size; m++)
            memcpy(to + exact_part(t, size, m).start * element, exact_at(t, m, 0),
                   exact_part(t, size, m).count * element);
        return t->layout == EMU_LAYOUT_CHUNKS ? t->count : t->count * size;
    default:
        if (t->kind == EMU_REDUCE && !root)
            return 0;
        if (t->kind != EMU_REDUCE_SCATTER)
            own = (struct emu_slice){0, t->count};
        for (uint64_t i = 0; i < own.count; i++, to += element)
            exact_fold(t, size, own.start + i, to);
        return own.count;
    }
}

/* Coefficient i of a member: often close to the prime, so that sums wrap. */
static inline uint64_t exact_coefficient(const struct exact_trial *t, uint32_t member, uint64_t i)
{
    uint64_t state = (t->number * UINT64_C(64) + member) * 1000 + i;
    return i % 3 ? exact_random(&state) % EXACT_PRIME : EXACT_PRIME - 1 - member;
}

/* Is this what member me must have at place i? A mean is what gives the sum when it is multiplied.
 */
static inline bool exact_has_coefficient(const struct exact_trial *t, uint32_t me, uint32_t size,
                                         uint64_t i, uint64_t got)
{
    bool folds = t->kind == EMU_ALL_REDUCE || t->kind == EMU_REDUCE_SCATTER ||
                 (t->kind == EMU_REDUCE && me == t->root);
    uint64_t sum = 0, product = 0;
    if (!folds)
        return got == exact_coefficient(t, t->kind == EMU_BROADCAST ? t->root : me, i);
    for (uint32_t m = 0; m < size; m++) {
        sum = (sum + exact_coefficient(t, m, i)) % EXACT_PRIME;
        product = (product + got % EXACT_PRIME) % EXACT_PRIME;
    }
    return got < EXACT_PRIME && (t->op == EMU_AVG ? product == sum : got == sum);
}

/* Two buffers in the arena, two outside, one for what must be there: for inputs of at most
 * `largest` bytes. */
struct exact_buffers {
    uint64_t bytes; /* of each */
    unsigned char *arena[2], *heap[2], *wanted;
    uint64_t *coefficients[2]; /* in the arena, outside */
};

static inline bool exact_buffers_make(struct emu_rank *rank, uint64_t largest,
                                      struct exact_buffers *b)
{
    b->bytes = largest * emu_rank_world(rank) + EXACT_GUARD;
    for (int i = 0; i < 2; i++) {
        b->arena[i] = emu_rank_alloc(rank, b->bytes);
        b->heap[i] = malloc(b->bytes);
        if (!b->arena[i] || !b->heap[i])
            return false;
    }
    uint64_t words = EXACT_COEFFICIENTS + EXACT_FENCE;
    b->coefficients[0] = emu_rank_alloc(rank, words * sizeof(uint64_t));
    b->coefficients[1] = malloc(words * sizeof(uint64_t));
    b->wanted = malloc(b->bytes);
    return b->wanted && b->coefficients[0] && b->coefficients[1];
}

static inline void exact_buffers_free(struct exact_buffers *b)
{
    free(b->heap[0]);
    free(b->heap[1]);
    free(b->wanted);
    free(b->coefficients[1]);
}

/* A started trial: what must not be written is compared too, up to a guard behind all of it. */
struct exact_run {
    struct emu_call call;
    unsigned char *buffers[2]; /* what holds the input, what takes the output */
    uint64_t extent;           /* bytes of each that are looked at */
    uint64_t input_at;         /* bytes: where the input lies in its buffer */
};

static inline struct exact_run exact_prepare(struct emu_rank *rank, uint32_t group,
                                             const struct exact_trial *t,
                                             const struct exact_buffers *b)
{
    uint32_t size = emu_rank_group_size(rank, group);
    uint32_t me = (uint32_t)emu_rank_group_index(rank, group);
    uint64_t element = emu_dtype_bytes(t->dtype);
    bool outside = t->place == EXACT_HEAP || (t->place == EXACT_MIXED && (me + t->number) % 2 == 0);
    unsigned char *const *from = outside ? b->heap : b->arena;
    struct exact_run run = {.extent = (t->count * size + 2) * element + 64};
    uint64_t shift = t->number % 3 * element; /* not only whole lines */
    run.buffers[0] = from[0];
    run.buffers[1] = t->in == EXACT_APART ? from[1] : from[0];
    if (t->in == EXACT_OWN_PLACE)
        run.input_at = exact_part(t, size, me).start * element;
    run.input_at += shift;
    memset(run.buffers[0], 0xee, run.extent);
    memset(run.buffers[1], 0xee, run.extent);
    memcpy(run.buffers[0] + run.input_at, exact_at(t, me, 0), exact_input(t, me, size) * element);
    run.call = (struct emu_call){.kind = t->kind,
                                 .group = group,
                                 .count = t->count,
                                 .dtype = t->dtype,
                                 .op = t->op,
                                 .root = t->root,
                                 .layout = t->layout,
                                 .input = run.buffers[0] + run.input_at,
                                 .output = run.buffers[1] + shift,
                                 .ledger = t->coefficients ? b->coefficients[outside] : NULL,
                                 .ledger_count = t->coefficients,
                                 .label = "exact"};
    for (uint64_t i = 0; t->coefficients && i < t->coefficients + EXACT_FENCE; i++)
        run.call.ledger[i] = i < t->coefficients ? exact_coefficient(t, me, i) : UINT64_MAX;
    return run;
}

/* Compare all bytes; 0, or the line. */
static inline int exact_verify(struct emu_rank *rank, uint32_t group, const struct exact_trial *t,
                               const struct exact_run *run, unsigned char *wanted)
{
    uint32_t size = emu_rank_group_size(rank, group);
    uint32_t me = (uint32_t)emu_rank_group_index(rank, group);
    uint64_t shift = (uint64_t)((unsigned char *)run->call.output - run->buffers[1]);
    uint64_t input_bytes = exact_input(t, me, size) * emu_dtype_bytes(t->dtype);
    memset(wanted, 0xee, run->extent);
    memcpy(wanted + run->input_at, exact_at(t, me, 0), input_bytes);
    if (run->buffers[0] != run->buffers[1]) {
        RANKS_EXPECT(memcmp(run->buffers[0], wanted, run->extent) == 0);
        memset(wanted, 0xee, run->extent);
    }
    exact_result(t, me, size, wanted + shift);
    RANKS_EXPECT(memcmp(run->buffers[1], wanted, run->extent) == 0);
    for (uint64_t i = 0; i < t->coefficients; i++)
        RANKS_EXPECT(exact_has_coefficient(t, me, size, i, run->call.ledger[i]));
    for (uint64_t i = 0; t->coefficients && i < EXACT_FENCE; i++)
        RANKS_EXPECT(run->call.ledger[t->coefficients + i] == UINT64_MAX);
    return 0;
}

#endif
