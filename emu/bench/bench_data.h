/* Which numbers go into a collective, so that its result can be checked element by element?
 *
 * Whole numbers, small enough that every sum over up to 2^16 members is exact in every dtype (u8
 * wraps, as its sum does), drawn from the member, the place and a salt that differs from call to
 * call: a value that is missing, counted twice, moved or left from another call shows.
 *   moved data   a hash of (source, place, salt): 8 bits in u8, else 16
 *   sum, avg     a(member) + b(place), a in 1..7 and b in 0..15 hashes; the sum over n members is
 *                sum of a + n * b(place), the mean that divided once, as comm/fold.h says
 *   min, max     likewise: min or max of a, + b(place)
 *   prod         one member, (place + salt) mod n, holds 2 + b mod 7, all others 1
 * What is right is computed from these formulas alone, never by the code that is measured.
 */
#ifndef EMU_BENCH_BENCH_DATA_H
#define EMU_BENCH_BENCH_DATA_H

#include "bench/bench_op.h"

/* One call as one member sees it. Fill in the first block, then emu_bench_data_init. */
struct emu_bench_data {
    enum emu_kind op;
    enum emu_dtype dtype;
    enum emu_op reduce;
    uint32_t me, size, root; /* group ranks */
    uint64_t salt;
    struct emu_bench_shape shape;

    uint64_t sum, least, most; /* of a(member) over all members */
};

/* The first element that is wrong. */
struct emu_bench_complaint {
    uint64_t position; /* element of the output, or coefficient */
    double expected, got;
    bool is_coefficient;
};

/* The hash of three numbers with which all values are drawn. */
uint64_t emu_bench_draw(uint64_t source, uint64_t place, uint64_t salt);

void emu_bench_data_init(struct emu_bench_data *data);

/* Write this member's input: shape.input elements. */
void emu_bench_data_fill(const struct emu_bench_data *data, void *input);

/* Compare shape.output elements, bit by bit. Returns how many are wrong; *first is set if any is.
 */
uint64_t emu_bench_data_verify(const struct emu_bench_data *data, const void *output,
                               struct emu_bench_complaint *first);

#endif
