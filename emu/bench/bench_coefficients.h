/* Which exact coefficients go along with a call, and are they right after it?
 *
 * Member m puts c(m, p) = a(m) + b(p) modulo 2^61-1 at place p, a and b being hashes over the whole
 * field, drawn with the salt of the call. What must be there after it, by comm.h:
 *   a kind that reduces   where there is output: sum of a + n * b(p), avg: by n
 *   broadcast             c(root, p)
 *   others                what was there before
 * As with the data, that is computed from these formulas alone.
 */
#ifndef EMU_BENCH_BENCH_COEFFICIENTS_H
#define EMU_BENCH_BENCH_COEFFICIENTS_H

#include "bench/bench_data.h"

/* Write this member's coefficients. data: of the same call. */
void emu_bench_coefficients_fill(const struct emu_bench_data *data, uint64_t *coefficients,
                                 uint32_t count);

/* How many are wrong; *first is set if any is. */
uint64_t emu_bench_coefficients_verify(const struct emu_bench_data *data,
                                       const uint64_t *coefficients, uint32_t count,
                                       struct emu_bench_complaint *first);

#endif
