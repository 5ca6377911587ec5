/* Which random number belongs to element e of tensor t? Counter-based, so that any sharding draws
 * the same logical tensor and no order of drawing matters.
 *
 * Philox4x32-10: J. Salmon, M. Moraes, R. Dror, D. Shaw, "Parallel random numbers: as easy as
 * 1, 2, 3", SC 2011. Known answers are in the tests (Random123).
 */
#ifndef EMU_BASE_PHILOX_H
#define EMU_BASE_PHILOX_H

#include <stdint.h>

struct emu_philox_block {
    uint32_t word[4];
};

struct emu_philox_block emu_philox(const uint32_t counter[4], const uint32_t key[2]);

/* 64 random bits of (seed, stream, element): stream is a number that the caller gives each tensor.
 */
uint64_t emu_random_bits(uint64_t seed, uint64_t stream, uint64_t element);

/* Uniform in [-1, 1): a multiple of 2^-52, exact in f64. */
double emu_random_symmetric(uint64_t seed, uint64_t stream, uint64_t element);

/* One of -1, 0, 1 with equal chance (exact arithmetic mode). */
double emu_random_ternary(uint64_t seed, uint64_t stream, uint64_t element);

#endif
