/* One collective with known inputs, and what it must give: the definitions of the kinds written out
 * element by element, not with the code under test. Inputs are small integers, so that every dtype
 * is exact. */
#ifndef TESTS_COMM_TRIAL_H
#define TESTS_COMM_TRIAL_H

#include "ranks.h"

/* Value of element i of member m's input: small, different for members and places. */
static inline int64_t value_of(uint64_t member, uint64_t i)
{
    return (int64_t)((member * 3 + i * 5 + i / 7) % 5) + 1;
}

static inline void put(enum emu_dtype dtype, void *buffer, uint64_t i, int64_t value)
{
    switch (dtype) {
    case EMU_F64:
        ((double *)buffer)[i] = (double)value;
        break;
    case EMU_F32:
        ((float *)buffer)[i] = (float)value;
        break;
    case EMU_I32:
        ((int32_t *)buffer)[i] = (int32_t)value;
        break;
    case EMU_U8:
        ((uint8_t *)buffer)[i] = (uint8_t)value;
        break;
    default:
        ((int64_t *)buffer)[i] = value;
    }
}

/* The element, in thousandths: averages of small integers need them. */
static inline int64_t get(enum emu_dtype dtype, const void *buffer, uint64_t i)
{
    switch (dtype) {
    case EMU_F64:
        return (int64_t)(((const double *)buffer)[i] * 1000 + 0.5);
    case EMU_F32:
        return (int64_t)((double)((const float *)buffer)[i] * 1000 + 0.5);
    case EMU_I32:
        return ((const int32_t *)buffer)[i] * INT64_C(1000);
    case EMU_U8:
        return ((const uint8_t *)buffer)[i] * INT64_C(1000);
    default:
        return ((const int64_t *)buffer)[i] * 1000;
    }
}

static inline int64_t folded(enum emu_dtype dtype, enum emu_op op, uint32_t size, uint64_t i)
{
    int64_t result = value_of(0, i);
    for (uint32_t m = 1; m < size; m++) {
        int64_t next = value_of(m, i);
        switch (op) {
        case EMU_MIN:
            result = next < result ? next : result;
            break;
        case EMU_MAX:
            result = next > result ? next : result;
            break;
        case EMU_PROD:
            result = dtype == EMU_U8 ? (uint8_t)(result * next) : result * next;
            break;
        default:
            result += next;
        }
    }
    if (op != EMU_AVG)
        return result * 1000;
    bool whole = dtype != EMU_F64 && dtype != EMU_F32;
    return whole ? result / size * 1000 : (int64_t)((double)result / size * 1000 + 0.5);
}

/* One call to check: what the parameters of a run have in common. */
struct trial {
    enum emu_kind kind;
    enum emu_dtype dtype;
    enum emu_op op;
    enum emu_layout layout;
    uint64_t count;
    uint32_t root;
    bool in_place;
};

static inline uint64_t part_count(const struct trial *t, uint32_t m, uint32_t size)
{
    return t->layout == EMU_LAYOUT_CHUNKS ? emu_slice_chunk(t->count, size, m).count : t->count;
}

/* Elements of the result at member me, and element i of it in thousandths. */
static inline uint64_t result_count(const struct trial *t, uint32_t me, uint32_t size)
{
    uint64_t chunk = emu_slice_chunk(t->count, size, me).count;
    switch (t->kind) {
    case EMU_BROADCAST:
    case EMU_ALL_REDUCE:
        return t->count;
    case EMU_REDUCE:
        return me == t->root ? t->count : 0;
    case EMU_REDUCE_SCATTER:
    case EMU_SCATTER:
        return chunk;
    case EMU_ALL_TO_ALL:
        return chunk * size;
    case EMU_GATHER:
        if (me != t->root)
            return 0;
        return t->layout == EMU_LAYOUT_CHUNKS ? t->count : t->count * size;
    case EMU_ALL_GATHER:
        return t->layout == EMU_LAYOUT_CHUNKS ? t->count : t->count * size;
    default:
        return 0;
    }
}

static inline int64_t result_at(const struct trial *t, uint32_t me, uint32_t size, uint64_t i)
{
    struct emu_slice chunk = emu_slice_chunk(t->count, size, me);
    uint32_t from = 0;
    switch (t->kind) {
    case EMU_BROADCAST:
        return value_of(t->root, i) * 1000;
    case EMU_REDUCE_SCATTER:
        return folded(t->dtype, t->op, size, chunk.start + i);
    case EMU_SCATTER:
        return value_of(t->root, chunk.start + i) * 1000;
    case EMU_ALL_TO_ALL:
        return value_of(i / chunk.count, chunk.start + i % chunk.count) * 1000;
    case EMU_GATHER:
    case EMU_ALL_GATHER:
        while (i >= part_count(t, from, size))
            i -= part_count(t, from++, size);
        return value_of(from, i) * 1000;
    default:
        return folded(t->dtype, t->op, size, i);
    }
}

#define GUARD 16

/* Make the call of the trial on a group and compare all that must and must not be written. */
static inline int run_trial(struct emu_rank *rank, uint32_t group, const struct trial *t)
{
    uint32_t size = emu_rank_group_size(rank, group);
    uint32_t me = (uint32_t)emu_rank_group_index(rank, group);
    uint64_t wanted = result_count(t, me, size);
    size_t bytes = (t->count * size + GUARD) * 8;
    unsigned char *input = malloc(bytes), *output = malloc(bytes);
    RANKS_EXPECT(input && output);
    memset(input, 0xee, bytes);
    memset(output, 0xee, bytes);
    for (uint64_t i = 0; i < t->count; i++)
        put(t->dtype, input, i, value_of(me, i));
    struct emu_call call = {.kind = t->kind,
                            .group = group,
                            .count = t->count,
                            .dtype = t->dtype,
                            .op = t->op,
                            .root = t->root,
                            .layout = t->layout,
                            .input = input,
                            .output = t->in_place ? input : output,
                            .label = "trial"};
    RANKS_EXPECT(emu_run_call(rank, &call) == EMU_OK);
    bool gives_only = t->kind == EMU_BROADCAST && me == t->root;
    for (uint64_t i = 0; i < wanted && !gives_only; i++)
        RANKS_EXPECT(get(t->dtype, call.output, i) == result_at(t, me, size, i));
    if (!t->in_place)
        for (uint64_t i = (gives_only ? 0 : wanted) * emu_dtype_bytes(t->dtype); i < bytes; i++)
            RANKS_EXPECT(output[i] == 0xee);
    free(input);
    free(output);
    return 0;
}

#endif
