/* What do the reduce operations compute, element by element?
 *
 * A fold starts with the first member's elements, takes in the others' in the order of group ranks
 * and is finished once: the same bits on every member, for any arrival order and any number of
 * rounds, because each element is folded alone.
 *
 *   sum, prod   f64, f32: IEEE, rounded to the dtype after every step
 *               i64, i32, u8: modulo 2^64, 2^32, 2^8 (two's complement)
 *   avg         the sum, then one division by the number of members; integers: of the wrapped sum,
 *               truncated towards zero as in C
 *   min, max    NaN wins: the first NaN in group order is the result. Of equal values (-0 and +0)
 *               the first stays.
 *   field61     sum modulo 2^61-1 only; other ops are refused before they come here
 */
#ifndef EMU_COMM_FOLD_H
#define EMU_COMM_FOLD_H

#include <meshemu/comm.h>

#include <stdbool.h>

/* Does the dtype know this op (in a group of more than one)? */
bool emu_fold_knows(enum emu_dtype dtype, enum emu_op op);

/* result[i] = result[i] op next[i]. The two do not overlap; any alignment. */
void emu_fold(enum emu_dtype dtype, enum emu_op op, void *result, const void *next, uint64_t count);

/* result[i] = a[i] op b[i]. The three do not overlap; any alignment. */
void emu_fold_two(enum emu_dtype dtype, enum emu_op op, void *result, const void *a, const void *b,
                  uint64_t count);

/* After the last member: avg divides by `members`; the other ops do nothing. */
void emu_fold_finish(enum emu_dtype dtype, enum emu_op op, void *result, uint64_t count,
                     uint32_t members);

#endif
