/* Which elements does each member put in, and where does each member want whose elements?
 *
 * Every collective moves parts of the members' inputs to places in outputs. With count n, size k
 * and the chunk rule c(i) = part i of n, for 4 members A B C D:
 *
 *   kind            member i puts in     member m takes from each source i      result at m
 *   broadcast       root: n              root alone: all of it                  n   (not the root)
 *   reduce          n                    root: all of it, folded                n   (root)
 *   all_reduce      n                    all of it, folded                      n
 *   reduce_scatter  n                    c(m) of it, folded                     c(m)
 *   all_gather      its part p(i)        all of it, at the sum of parts before  sum of p
 *   gather          its part p(i)        root: likewise                         sum of p (root)
 *   all_to_all      n                    c(m) of it, at i * |c(m)|              k * |c(m)|
 *   scatter         root: n              root alone: c(m) of it                 c(m)
 *
 *   after all_to_all of A0 A1 A2 A3 .. D3:  A: A0 B0 C0 D0  B: A1 B1 C1 D1  ...
 *
 * p(i) is n (EMU_LAYOUT_EQUAL) or c(i) (EMU_LAYOUT_CHUNKS). Elements, never bytes.
 */
#ifndef EMU_COMM_PARTS_H
#define EMU_COMM_PARTS_H

#include "seg/kinds.h"

#include <meshemu/comm.h>

#include <stdbool.h>

/* Elements that member `index` of `size` puts in. */
uint64_t emu_part_input(const struct emu_call *call, uint32_t index, uint32_t size);

/* The largest of all members' inputs: what decides the number of rounds. */
uint64_t emu_part_input_max(const struct emu_call *call, uint32_t size);

/* Elements of the output of member `index`; 0 where it gets none. The product may not fit:
 * false then. */
bool emu_part_output(const struct emu_call *call, uint32_t index, uint32_t size, uint64_t *count);

/* What member `index` takes from the input of `source`, and where it goes in its output. */
struct emu_part {
    struct emu_slice take; /* of the source's input */
    uint64_t at;           /* in the output */
};
struct emu_part emu_part_taken(const struct emu_call *call, uint32_t index, uint32_t size,
                               uint32_t source);

/* Is there something for this member to take at all? */
bool emu_part_receives(const struct emu_call *call, uint32_t index);

#endif
