/* How many numbers does the processor take at once, and how are they written down portably?
 *
 * LANES(type) is a vector of `type` as wide as a register of the variant that is being compiled
 * (base/cpu_variant.h); gcc and clang have operators for it on every processor. An operation on
 * lanes is the operation on each of them, so lanes change no bit: they are never added up.
 */
#ifndef EMU_NN_LANES_H
#define EMU_NN_LANES_H

#if defined(LANE_OF_ONE) /* of a type that has no vectors: REAL itself */
#define LANE_BYTES ((unsigned)sizeof(REAL))
#elif defined(__AVX512F__)
#define LANE_BYTES 64u
#elif defined(__AVX2__)
#define LANE_BYTES 32u
#else
#define LANE_BYTES 16u
#endif

#ifdef LANE_OF_ONE
#define LANES(type) type
#else
#define LANES(type) type __attribute__((vector_size(LANE_BYTES)))
#endif

/* Registers for the sums of a block of a product: enough that no addition waits for another, and
 * few enough that factors fit beside them (16 registers, 32 with AVX-512). */
#define LANE_SUMS 8u

#define EMU_INLINE static inline __attribute__((always_inline))

#endif
