/* Random choices that a seed repeats: splitmix64 (S. Vigna's constants). */
#ifndef TESTS_PROPERTY_DRAW_H
#define TESTS_PROPERTY_DRAW_H

#include <stdbool.h>
#include <stdint.h>

struct draw {
    uint64_t state;
};

static inline uint64_t draw_bits(struct draw *draw)
{
    uint64_t z = draw->state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

/* Case `index` of a seed has numbers of its own. */
static inline struct draw draw_begin(uint64_t seed, uint64_t index)
{
    struct draw draw = {seed * UINT64_C(0x2545f4914f6cdd1d) + index};
    draw.state = draw_bits(&draw);
    return draw;
}

/* 0 .. n-1 */
static inline uint32_t draw_below(struct draw *draw, uint32_t n)
{
    return (uint32_t)(draw_bits(draw) % n);
}

static inline bool draw_percent(struct draw *draw, uint32_t percent)
{
    return draw_below(draw, 100) < percent;
}

#endif
