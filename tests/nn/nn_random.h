/* Repeatable numbers for the tests of this folder (splitmix64). */
#ifndef TEST_NN_RANDOM_H
#define TEST_NN_RANDOM_H

#include <stdint.h>

static inline uint64_t draw_bits(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static inline uint64_t draw_below(uint64_t *state, uint64_t limit)
{
    return draw_bits(state) % limit;
}

/* In [-1, 1). */
static inline double draw_real(uint64_t *state)
{
    return (double)(int64_t)draw_bits(state) * 0x1p-63;
}

/* A random order of 0..n-1. */
static inline void draw_order(uint64_t *state, uint64_t *order, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++)
        order[i] = i;
    for (uint64_t i = n; i > 1; i--) {
        const uint64_t j = draw_below(state, i), kept = order[i - 1];
        order[i - 1] = order[j];
        order[j] = kept;
    }
}

#endif
